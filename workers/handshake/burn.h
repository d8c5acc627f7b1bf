/* A planted slowdown, to prove what a comparison can detect: every turn costs a known share more. */
#ifndef KEXBENCH_BURN_H
#define KEXBENCH_BURN_H

#include "backend.h"

/* The backend with `ppm` parts per million of each turn's time burnt behind it. Once a process. */
const struct backend *burning(const struct backend *backend, unsigned ppm);

#endif
