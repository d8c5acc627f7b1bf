/* Atomic operations of handshakes, by the stack that makes them. */
#ifndef KEXBENCH_ATOMICS_H
#define KEXBENCH_ATOMICS_H

#include "profile.h"

/* Adds those of so many handshakes to `out`. False and a fault: FAULT_UNSUPPORTED where this machine can't.
 */
bool atomics_count(struct prepared *prepared, uint64_t handshakes, struct stacks *out, struct fault *fault);

#endif
