/* heap.so: a shared object to preload that counts what goes through malloc and its relatives.
 *
 * It stands before the C library's functions and calls these by the names that glibc exports for the purpose,
 * so it looks nothing up and needs no memory of its own: it works from the first allocation on, under any
 * suite's loader. Functions that allocate by calling others (strdup, reallocarray, getline) are counted in
 * those. */
#include "heap.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void *__libc_valloc(size_t size);
void *__libc_pvalloc(size_t size);
void __libc_free(void *block);

static atomic_uint_least64_t allocations, frees, live_bytes, peak_bytes;

/* Relaxed: each count is right by itself; a reader between two of a thread's additions sees one of them. */
static uint64_t add(atomic_uint_least64_t *count, uint64_t amount) {
    return atomic_fetch_add_explicit(count, amount, memory_order_relaxed) + amount;
}

static uint64_t read_count(atomic_uint_least64_t *count) {
    return atomic_load_explicit(count, memory_order_relaxed);
}

static void *handed_out(void *block) {
    if (block == NULL)
        return NULL;
    add(&allocations, 1);
    uint64_t live = add(&live_bytes, malloc_usable_size(block)), peak = read_count(&peak_bytes);
    while (live > peak && !atomic_compare_exchange_weak_explicit(&peak_bytes, &peak, live,
                                                                 memory_order_relaxed, memory_order_relaxed))
        ;
    return block;
}

static void given_back(size_t bytes) {
    add(&frees, 1);
    add(&live_bytes, -(uint64_t)bytes);
}

void *malloc(size_t size) {
    return handed_out(__libc_malloc(size));
}

void *calloc(size_t count, size_t size) {
    return handed_out(__libc_calloc(count, size));
}

void free(void *block) {
    if (block == NULL)
        return;
    given_back(malloc_usable_size(block));
    __libc_free(block);
}

/* A block that could not be resized stays alive; one resized to nothing is freed and null comes back. */
void *realloc(void *block, size_t size) {
    size_t before = block == NULL ? 0 : malloc_usable_size(block);
    void *moved = __libc_realloc(block, size);
    if (block != NULL && (moved != NULL || size == 0))
        given_back(before);
    return handed_out(moved);
}

void *memalign(size_t alignment, size_t size) {
    return handed_out(__libc_memalign(alignment, size));
}

void *valloc(size_t size) {
    return handed_out(__libc_valloc(size));
}

void *pvalloc(size_t size) {
    return handed_out(__libc_pvalloc(size));
}

static bool power_of_two(size_t number) {
    return number != 0 && (number & (number - 1)) == 0;
}

void *aligned_alloc(size_t alignment, size_t size) {
    if (power_of_two(alignment))
        return memalign(alignment, size);
    errno = EINVAL;
    return NULL;
}

/* This one tells in its result what the others tell in errno, which it leaves alone. */
int posix_memalign(void **block, size_t alignment, size_t size) {
    if (!power_of_two(alignment) || alignment % sizeof(void *) != 0)
        return EINVAL;
    int before = errno;
    void *found = memalign(alignment, size);
    errno = before;
    if (found == NULL)
        return ENOMEM;
    *block = found;
    return 0;
}

void kexbench_heap_read(struct heap_counts *out) {
    out->allocations = read_count(&allocations);
    out->frees = read_count(&frees);
    out->live_bytes = read_count(&live_bytes);
    out->peak_bytes = read_count(&peak_bytes);
}

void kexbench_heap_reset_peak(void) {
    atomic_store_explicit(&peak_bytes, read_count(&live_bytes), memory_order_relaxed);
}
