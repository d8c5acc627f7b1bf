/* Allocations of connections, by the stack that makes them. */
#ifndef KEXBENCH_ALLOCATIONS_H
#define KEXBENCH_ALLOCATIONS_H

#include "profile.h"

/* Adds to `out`, with bytes as amounts, in the parts
 *
 *     client, server                     what the side's turns ask for
 *     objects                            what making and freeing both sides asks for
 *     client_held, server_held           what is alive of each of so many connections that are open and idle
 *     kept                               what is alive of each of so many connections after it was freed, and
 * after as many others came and went
 *
 * False and a fault: FAULT_UNSUPPORTED without heap.so, and of a library whose memory is not malloc's. */
bool allocations_count(struct prepared *prepared, uint64_t handshakes, struct stacks *out,
                       struct fault *fault);

#endif
