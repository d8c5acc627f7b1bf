/* Counts of the heap, from the shared object heap.so where it is preloaded. Without it the functions are
 * null:
 *
 *     if (kexbench_heap_read != NULL)
 *         kexbench_heap_read(&counts);
 */
#ifndef KEXBENCH_HEAP_H
#define KEXBENCH_HEAP_H

#include <stddef.h>
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

/* Told of each block, in the thread that asks for it or gives it back, while it is set. `bytes` are those
 * asked for, `caller` is where the allocator was called. A resized block is given back, then handed out. */
struct heap_watcher {
    void (*handed_out)(void *block, size_t bytes, const void *caller);
    void (*given_back)(void *block);
};

__attribute__((weak)) void kexbench_heap_read(struct heap_counts *out);
__attribute__((weak)) void kexbench_heap_reset_peak(void);
__attribute__((weak)) void kexbench_heap_watch(const struct heap_watcher *watcher); /* NULL: nobody */
/* For a watcher: the calls that led to `caller`, innermost first, each as an address inside the call. Returns
 * how many there are, at most `most`. */
__attribute__((weak)) unsigned kexbench_heap_stack(const void *caller, uintptr_t *addresses, unsigned most);

#endif
