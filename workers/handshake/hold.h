/* Connections that stay open after their handshake: what a server's memory is made of. */
#ifndef KEXBENCH_HOLD_H
#define KEXBENCH_HOLD_H

#include "prepared.h"

/* Opens so many, whose `pairs` are NULL before. False and a fault if one failed. */
bool hold(struct prepared *prepared, struct pair **pairs, uint64_t connections, struct observer *observer,
          struct fault *fault);
/* Closes those that were opened, in either case. */
void let_go(struct pair **pairs, uint64_t connections);

#endif
