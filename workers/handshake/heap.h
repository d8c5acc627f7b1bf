/* Counts of the heap, from the shared object heap.so where it is preloaded. Without it the functions are
 * null:
 *
 *     if (kexbench_heap_read != NULL)
 *         kexbench_heap_read(&counts);
 */
#ifndef KEXBENCH_HEAP_H
#define KEXBENCH_HEAP_H

#include <stdint.h>

/* Since the process began. A block that realloc moves or resizes is one that was handed out and one that was
 * given back, so `allocations - frees` blocks are alive. Bytes are what the allocator set aside, not what was
 * asked for. */
struct heap_counts {
    uint64_t allocations;
    uint64_t frees;
    uint64_t live_bytes;
    uint64_t peak_bytes; /* most live bytes since the last reset */
};

__attribute__((weak)) void kexbench_heap_read(struct heap_counts *out);
__attribute__((weak)) void kexbench_heap_reset_peak(void);

#endif
