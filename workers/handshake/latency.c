/* Sorting, and taking the ranks. */
#include "latency.h"

#include <stdlib.h>

static int by_size(const void *a, const void *b) {
    uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;
    return (first > second) - (first < second);
}

struct latency latency_of(uint64_t *values, uint64_t count) {
    qsort(values, count, sizeof *values, by_size);
#define PERCENTILE(p) values[(count * (p) + 99) / 100 - 1]
    return (struct latency){PERCENTILE(50), PERCENTILE(90), PERCENTILE(99), values[count - 1]};
#undef PERCENTILE
}
