/* What the preloaded counter of allocations (heap.c) tells. In the worker both functions are weak:
 * null where it was not preloaded. */
#ifndef KEXBENCH_HEAP_H
#define KEXBENCH_HEAP_H

#include <stdint.h>

struct heap_counts {
    uint64_t allocations, frees;
    uint64_t live_bytes, peak_bytes;
};

void kexbench_heap_read(struct heap_counts *out);
void kexbench_heap_reset_peak(void);

#endif
