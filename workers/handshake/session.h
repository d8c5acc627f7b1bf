/* One conversation: requests in, records out, until `stop` or the end of input. */
#ifndef KEXBENCH_SESSION_H
#define KEXBENCH_SESSION_H

#include "backend.h"

#include <stdio.h>

void session(const struct backend *backend, const char *material, int in, FILE *out);

#endif
