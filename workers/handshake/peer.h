/* Handshakes between two worker processes, each linked to its own library: one side lives here, the
 * other behind a socket that keeps messages apart (SOCK_SEQPACKET), so that bytes of two handshakes
 * never mix. An empty message says that the other side gave up. */
#ifndef KEXBENCH_PEER_H
#define KEXBENCH_PEER_H

#include "measure.h"

/* Always false, so that a refusal can end with it. */
bool peer_gives_up(int peer);

bool peer_probe(struct prepared *prepared, struct negotiated *seen, struct fault *fault);

/* As `measure`: exactly `max_handshakes`, since both processes have to agree on the number. The CPU clock is
 * read around every turn, since ticks run on while this side waits. */
bool peer_measure(struct prepared *prepared, const struct limits *limits, struct batch *out,
                  struct fault *fault);

#endif
