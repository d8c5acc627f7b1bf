/* How a context ages: what a connection costs and what memory lives, from the first connection to the last.
 */
#ifndef KEXBENCH_AGE_H
#define KEXBENCH_AGE_H

#include "prepared.h"

enum { AGE_CONNECTIONS_MAX = 10000000, AGE_POINTS_MIN = 2, AGE_POINTS_MAX = 1000 };

struct age_plan {
    unsigned connections; /* at least as many as points */
    unsigned points;      /* equally spaced, the last one after the last connection */
    uint64_t max_ns;      /* of wall time: what was not reached by then is no point */
};

/* Each array has a number for each point that was reached. */
struct aged {
    uint64_t proven; /* connections, beyond the last point as well */
    uint64_t points;
    uint64_t *connections;                        /* since set-up's, up to this point */
    uint64_t *thread_cpu_ns, *cpu_ns, *others_ns; /* since the point before: of everything, of the
                                                   * connections' parts, taken by other programs */
    bool has_heap;                                /* the counter of allocations was preloaded */
    uint64_t *heap_bytes, *heap_blocks;           /* that live at this point, when no connection is
                                                   * open, without the worker's pair and these arrays */
    bool has_resident;                            /* false in virtual time */
    uint64_t *resident_bytes;                     /* of the process */
};

/* Connections one after the other, on one thread. False: `fault` says why, and of `out` only `proven` is
 * meaningful. aged_free is called in any case. */
bool age(struct prepared *prepared, const struct age_plan *plan, struct aged *out, struct fault *fault);
void aged_free(struct aged *aged);

#endif
