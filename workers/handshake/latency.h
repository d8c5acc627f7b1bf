/* Percentiles of times, from all of them. */
#ifndef KEXBENCH_LATENCY_H
#define KEXBENCH_LATENCY_H

#include <stdint.h>

struct latency {
    uint64_t p50_ns, p90_ns, p99_ns, max_ns;
};

/* Sorts the values. The percentile P is the least of the values which P percent of all don't exceed (nearest
 * rank), so it is a value that was measured. `count` is at least 1. */
struct latency latency_of(uint64_t *values, uint64_t count);

#endif
