/* The heap counter, preloaded as in a kit: known patterns of allocations give exactly their counts. With the
 * argument `absent` it is not preloaded, and its functions must be null. */
#include "heap.h"

#include "check.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 4, ROUNDS = 20000 };

static struct heap_counts counts(void) {
    struct heap_counts found;
    kexbench_heap_read(&found);
    return found;
}

/* Nothing may be printed between the two readings: standard output has a buffer on the heap. */
#define CHECK_COUNTED(before, after, wanted_allocations, wanted_frees)                                       \
    do {                                                                                                     \
        CHECK_NUMBER((after).allocations - (before).allocations, wanted_allocations);                        \
        CHECK_NUMBER((after).frees - (before).frees, wanted_frees);                                          \
    } while (0)

static void pairs(void) {
    struct heap_counts before = counts();
    for (size_t size = 1; size <= 1000; size++)
        free(malloc(size));
    free(calloc(10, 10));
    free(NULL);
    struct heap_counts after = counts();
    CHECK_COUNTED(before, after, 1001, 1001);
    CHECK_NUMBER(after.live_bytes - before.live_bytes, 0);
}

static void bytes(void) {
    struct heap_counts before = counts();
    void *small = malloc(10), *large = calloc(1, 1 << 20);
    struct heap_counts during = counts();
    size_t usable = malloc_usable_size(small) + malloc_usable_size(large);
    free(small);
    free(large);
    struct heap_counts after = counts();
    CHECK_NUMBER(during.live_bytes - before.live_bytes, usable);
    CHECK_NUMBER(after.live_bytes, before.live_bytes);
}

static void resizing(void) {
    struct heap_counts before = counts();
    void *block = realloc(NULL, 10);
    block = realloc(block, 100000);
    block = reallocarray(block, 20, 10);
    struct heap_counts during = counts();
    size_t usable = malloc_usable_size(block);
    free(block);
    struct heap_counts after = counts();
    CHECK_COUNTED(before, during, 3, 2);
    CHECK_NUMBER(during.live_bytes - before.live_bytes, usable);
    CHECK_COUNTED(before, after, 3, 3);
}

static void resizing_to_nothing(void) {
    void *block = malloc(10);
    struct heap_counts before = counts();
    void *gone = realloc(block, 0);
    struct heap_counts after = counts();
    CHECK(gone == NULL);
    CHECK_COUNTED(before, after, 0, 1);
}

static void failing(void) {
    volatile size_t too_much = PTRDIFF_MAX, odd = 3, none = 0; /* compilers refuse them where they see them */
    void *block = malloc(10), *aligned = NULL;
    struct heap_counts before = counts();
    int refused = malloc(too_much) == NULL && calloc(too_much, 4) == NULL && realloc(block, too_much) == NULL;
    refused = refused && posix_memalign(&aligned, 64, too_much) == ENOMEM;
    refused = refused && posix_memalign(&aligned, odd, 64) == EINVAL && aligned_alloc(none, 64) == NULL;
    struct heap_counts after = counts();
    free(block);
    CHECK(refused);
    CHECK_COUNTED(before, after, 0, 0);
    CHECK_NUMBER(after.live_bytes - before.live_bytes, 0);
}

static void aligned(void) {
    void *blocks[5] = {NULL};
    errno = EDOM;
    struct heap_counts before = counts();
    int result = posix_memalign(&blocks[0], 256, 100);
    blocks[1] = aligned_alloc(256, 512);
    blocks[2] = memalign(256, 100);
    blocks[3] = valloc(100);
    blocks[4] = pvalloc(100);
    struct heap_counts during = counts();
    int right = result == 0 && errno == EDOM;
    for (int i = 0; i < 5; i++) {
        right = right && blocks[i] != NULL && (uintptr_t)blocks[i] % 256 == 0;
        free(blocks[i]);
    }
    struct heap_counts after = counts();
    CHECK(right);
    CHECK_COUNTED(before, during, 5, 0);
    CHECK_COUNTED(during, after, 0, 5);
    CHECK_NUMBER(after.live_bytes, before.live_bytes);
}

static void through_others(void) {
    struct heap_counts before = counts();
    free(strdup("text"));
    struct heap_counts after = counts();
    CHECK_COUNTED(before, after, 1, 1);
}

static void peak(void) {
    kexbench_heap_reset_peak();
    struct heap_counts before = counts();
    void *first = malloc(1 << 20);
    size_t usable = malloc_usable_size(first);
    free(first);
    free(malloc(1000));
    struct heap_counts after = counts();
    kexbench_heap_reset_peak();
    struct heap_counts reset = counts();
    CHECK_NUMBER(before.peak_bytes, before.live_bytes);
    CHECK_NUMBER(after.peak_bytes - before.peak_bytes, usable);
    CHECK_NUMBER(reset.peak_bytes, reset.live_bytes);
}

static pthread_barrier_t started, done, over;

static void *allocate(void *unused) {
    (void)unused;
    pthread_barrier_wait(&started);
    for (size_t i = 0; i < ROUNDS; i++)
        free(realloc(malloc(1 + i % 300), 1 + i % 700));
    pthread_barrier_wait(&done);
    pthread_barrier_wait(&over);
    return NULL;
}

/* Threads allocate for themselves when they begin and end, so they are alive at both readings. */
static void threads(void) {
    pthread_t made[THREADS];
    pthread_barrier_init(&started, NULL, THREADS + 1);
    pthread_barrier_init(&done, NULL, THREADS + 1);
    pthread_barrier_init(&over, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&made[i], NULL, allocate, NULL) == 0);
    struct heap_counts before = counts();
    pthread_barrier_wait(&started);
    pthread_barrier_wait(&done);
    struct heap_counts after = counts();
    pthread_barrier_wait(&over);
    for (int i = 0; i < THREADS; i++)
        pthread_join(made[i], NULL);
    CHECK_COUNTED(before, after, 2 * THREADS * ROUNDS, 2 * THREADS * ROUNDS);
    CHECK_NUMBER(after.live_bytes - before.live_bytes, 0);
}

static void absent(void) {
    CHECK(kexbench_heap_read == NULL && kexbench_heap_reset_peak == NULL);
}

static void present(void) {
    CHECK(kexbench_heap_read != NULL && kexbench_heap_reset_peak != NULL);
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "absent") == 0) {
        sentence("without the heap counter its functions are null", absent);
        return check_failures != 0;
    }
    sentence("the heap counter is preloaded", present);
    if (check_failures != 0)
        return 1;
    sentence("every block that is handed out and given back is counted", pairs);
    sentence("live bytes are what the allocator set aside", bytes);
    sentence("a resized block is one given back and one handed out", resizing);
    sentence("a block resized to nothing is given back", resizing_to_nothing);
    sentence("what is refused is not counted", failing);
    sentence("aligned blocks are counted like others", aligned);
    sentence("blocks that the C library hands out for itself are counted once", through_others);
    sentence("the peak is kept until it is reset", peak);
    sentence("threads lose no count", threads);
    return check_failures != 0;
}
