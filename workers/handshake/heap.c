/* heap.so: a shared object to preload that counts what goes through malloc and its relatives.
 *
 * It stands before the C library's functions and calls these by the names that glibc exports for the purpose,
 * so it looks nothing up and needs no memory of its own: it works from the first allocation on, under any
 * suite's loader, but for stacks: these need the unwinder, which is linked into it. Functions that allocate
 * by calling others (strdup, reallocarray, getline) are counted in those. */
#include "heap.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unwind.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void *__libc_valloc(size_t size);
void *__libc_pvalloc(size_t size);
void __libc_free(void *block);

static _Atomic(const struct heap_watcher *) watcher;
static atomic_uint_least64_t allocations, frees, live_bytes, peak_bytes;

/* Relaxed: each count is right by itself; a reader between two of a thread's additions sees one of them. */
static uint64_t add(atomic_uint_least64_t *count, uint64_t amount) {
    return atomic_fetch_add_explicit(count, amount, memory_order_relaxed) + amount;
}

static uint64_t read_count(atomic_uint_least64_t *count) {
    return atomic_load_explicit(count, memory_order_relaxed);
}

static const struct heap_watcher *watching(void) {
    return atomic_load_explicit(&watcher, memory_order_acquire);
}

/* Where the function that says so was called. */
#define CALLER __builtin_return_address(0)

static void *handed_out(void *block, size_t bytes, const void *caller) {
    if (block == NULL)
        return NULL;
    add(&allocations, 1);
    uint64_t live = add(&live_bytes, malloc_usable_size(block)), peak = read_count(&peak_bytes);
    while (live > peak && !atomic_compare_exchange_weak_explicit(&peak_bytes, &peak, live,
                                                                 memory_order_relaxed, memory_order_relaxed))
        ;
    if (watching() != NULL)
        watching()->handed_out(block, bytes, caller);
    return block;
}

static void given_back(void *block, size_t bytes) {
    add(&frees, 1);
    add(&live_bytes, -(uint64_t)bytes);
    if (watching() != NULL)
        watching()->given_back(block);
}

void *malloc(size_t size) {
    return handed_out(__libc_malloc(size), size, CALLER);
}

void *calloc(size_t count, size_t size) {
    return handed_out(__libc_calloc(count, size), count * size, CALLER);
}

void free(void *block) {
    if (block == NULL)
        return;
    given_back(block, malloc_usable_size(block));
    __libc_free(block);
}

/* A block that could not be resized stays alive; one resized to nothing is freed and null comes back. */
void *realloc(void *block, size_t size) {
    size_t before = block == NULL ? 0 : malloc_usable_size(block);
    void *moved = __libc_realloc(block, size);
    if (block != NULL && (moved != NULL || size == 0))
        given_back(block, before);
    return handed_out(moved, size, CALLER);
}

void *memalign(size_t alignment, size_t size) {
    return handed_out(__libc_memalign(alignment, size), size, CALLER);
}

void *valloc(size_t size) {
    return handed_out(__libc_valloc(size), size, CALLER);
}

void *pvalloc(size_t size) {
    return handed_out(__libc_pvalloc(size), size, CALLER);
}

static bool power_of_two(size_t number) {
    return number != 0 && (number & (number - 1)) == 0;
}

void *aligned_alloc(size_t alignment, size_t size) {
    if (power_of_two(alignment))
        return handed_out(__libc_memalign(alignment, size), size, CALLER);
    errno = EINVAL;
    return NULL;
}

/* This one tells in its result what the others tell in errno, which it leaves alone. */
int posix_memalign(void **block, size_t alignment, size_t size) {
    if (!power_of_two(alignment) || alignment % sizeof(void *) != 0)
        return EINVAL;
    int before = errno;
    void *found = handed_out(__libc_memalign(alignment, size), size, CALLER);
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

void kexbench_heap_watch(const struct heap_watcher *new_watcher) {
    atomic_store_explicit(&watcher, new_watcher, memory_order_release);
}

struct walk {
    const void *caller;
    uintptr_t *addresses;
    unsigned depth, most;
    bool begun; /* beyond the allocator and its watcher */
};

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *data) {
    struct walk *walk = data;
    uintptr_t address = _Unwind_GetIP(context);
    walk->begun = walk->begun || address == (uintptr_t)walk->caller;
    if (walk->begun && address != 0)
        walk->addresses[walk->depth++] = address - 1; /* what it returns to may be another function's */
    return walk->depth == walk->most ? _URC_END_OF_STACK : _URC_NO_REASON;
}

unsigned kexbench_heap_stack(const void *caller, uintptr_t *addresses, unsigned most) {
    struct walk walk = {.caller = caller, .addresses = addresses, .most = most};
    _Unwind_Backtrace(step, &walk);
    return walk.depth;
}
