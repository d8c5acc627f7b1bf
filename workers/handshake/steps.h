/* The steps of a process's start and what each took. Backends say where one begins; in a process whose start
 * is not timed that does nothing. One thread starts, so there is no lock. */
#ifndef KEXBENCH_STEPS_H
#define KEXBENCH_STEPS_H

#include "clock.h"

#include <stdbool.h>

enum step {
    STEP_LOAD,    /* from execve to main */
    STEP_LIBRARY, /* the library's own start, with the self-tests of a FIPS provider */
    STEP_SETUP,   /* the rest of a set-up, or all of one that no backend divides into the next three */
    STEP_CONTEXT,
    STEP_KEYS,
    STEP_TRUST,
    STEP_HANDSHAKE,
    STEPS,
    STEP_NONE = STEPS /* what passes is no part of the start */
};

struct step_times {
    uint64_t cpu_ns[STEPS], wall_ns[STEPS];
    bool begun[STEPS];
};

/* Whether this process's start is timed. Then set-up leaves to `expect` what an application does not do. */
extern bool start_is_timed;

/* Sets `start_is_timed`; times go to `out`. */
void steps_open(const struct clock *clock, struct step_times *out);
void step_begin(enum step step);

#endif
