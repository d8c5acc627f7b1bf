/* One conversation: requests in, records out, until `stop` or the end of input. */
#ifndef KEXBENCH_SESSION_H
#define KEXBENCH_SESSION_H

#include "backend.h"

#include <stdio.h>

/* `peer`: the socket to a worker with the other role, or -1. */
void session(const struct backend *backend, const char *material, int peer, int in, FILE *out);

#endif
