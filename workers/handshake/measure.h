/* The one measured loop. It knows no library and no protocol. */
#ifndef KEXBENCH_MEASURE_H
#define KEXBENCH_MEASURE_H

#include "prepared.h"

struct limits {
    uint64_t min_handshakes; /* each thread's */
    uint64_t min_ns;
    uint64_t max_handshakes; /* each thread's, at least 1 */
    bool split;              /* false: no ticks are read, so nothing is known of the sides */
};

struct batch {
    uint64_t handshakes;
    uint64_t thread_cpu_ns;        /* of everything, proofs included */
    uint64_t background_cpu_ns;    /* of the process's threads that make no handshakes */
    uint64_t cpu_ns[SPANS][ROLES]; /* of each part of the connections */
    uint64_t wall_ns;              /* of the handshakes */
    uint64_t elapsed_ns; /* of everything: `handshakes` in this time is the rate of all threads together */
    uint64_t first_ns[ROLES];
    uint64_t bytes[ROLES];
    uint64_t involuntary_switches;
    uint64_t others_ns; /* of CPU time that other programs took from the threads (others.h) */
    /* Of one of several threads alone, in turn, right after all of them together; 0 with a single thread. */
    uint64_t alone_handshakes, alone_elapsed_ns, alone_others_ns;
    bool has[ROLES];                /* which sides are known */
    bool has_objects, has_transfer; /* which parts beside the handshake */
};

/* True: every handshake was proven and all of `out` is meaningful.
 * False: `fault` says why, `out->handshakes` is how many were proven before, and nothing else of `out` is
 * set. */
bool measure(struct prepared *prepared, const struct limits *limits, struct batch *out, struct fault *fault);

/* a * b / c without losing the high bits: nanoseconds times ticks pass 2^64 within seconds. 0 where c is. */
uint64_t scale(uint64_t a, uint64_t b, uint64_t c);

#endif
