/* Between two points nothing is read but ticks and the wall clock, as in a batch. All memory of the results
 * is taken before the first connection, so what lives more at a later point is the library's. */
#include "age.h"

#include "examine.h"
#include "heap.h"
#include "measure.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ARRAYS = 7 };

/* Of one block, so that it is either there or not. */
static bool take_memory(struct aged *out, unsigned points) {
    uint64_t **arrays[ARRAYS] = {&out->connections, &out->thread_cpu_ns, &out->cpu_ns,        &out->others_ns,
                                 &out->heap_bytes,  &out->heap_blocks,   &out->resident_bytes};
    uint64_t *block = calloc((size_t)ARRAYS * points, sizeof *block);
    for (unsigned i = 0; block != NULL && i < ARRAYS; i++)
        *arrays[i] = block + (size_t)i * points;
    return block != NULL;
}

void aged_free(struct aged *aged) {
    free(aged->connections);
    *aged = (struct aged){0};
}

/* What lives of the library, and of what the worker keeps for it: not the results, nor the pipes of the pair.
 */
static void note_heap(const struct pair *pair, struct aged *out, uint64_t at) {
    void *const own[] = {out->connections, (void *)pair, pair->content, pair->received};
    struct heap_counts heap;
    kexbench_heap_read(&heap);
    out->heap_bytes[at] = heap.live_bytes;
    out->heap_blocks[at] = heap.allocations - heap.frees;
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        out->heap_bytes[at] -= malloc_usable_size(own[i]);
        out->heap_blocks[at] -= own[i] != NULL;
    }
}

/* Its second number counts pages. */
static uint64_t resident_bytes(void) {
    char text[128];
    unsigned long long size, resident;
    int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? 0 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    text[length < 0 ? 0 : length] = '\0';
    return sscanf(text, "%llu %llu", &size, &resident) == 2 ? resident * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

static void note(const struct pair *pair, struct aged *out, uint64_t connections, const struct spans *spans,
                 const struct stay *stay, uint64_t ticks) {
    uint64_t parts = 0, at = out->points++;
    for (enum span span = SPAN_HANDSHAKE; span < SPANS; span++)
        parts += spans->ticks[span][ROLE_CLIENT] + spans->ticks[span][ROLE_SERVER];
    out->connections[at] = connections;
    out->thread_cpu_ns[at] = stay->cpu_ns;
    out->cpu_ns[at] = scale(stay->cpu_ns, parts, ticks);
    out->others_ns[at] = others_ns(stay, 1, 1);
    if (out->has_heap)
        note_heap(pair, out, at);
    if (out->has_resident)
        out->resident_bytes[at] = resident_bytes();
}

/* False: a connection failed. Out of time is no failure. */
static bool reach(struct prepared *p, uint64_t until, uint64_t end_ns, struct aged *out,
                  struct fault *fault) {
    const struct clock *clock = p->backend->clock;
    struct spans spans = {0};
    struct instant start = instant_begin(clock);
    while (out->proven < until) {
        if (!pair_connection(p->pairs[0], &p->wanted, true, &spans, NULL, fault))
            return false;
        out->proven++;
        if (out->proven < until && clock->wall_ns() >= end_ns)
            return true;
    }
    struct instant end = instant_end(clock);
    struct stay stay = stay_between(&start, &end);
    note(p->pairs[0], out, until, &spans, &stay, end.ticks - start.ticks);
    return true;
}

bool age(struct prepared *p, const struct age_plan *plan, struct aged *out, struct fault *fault) {
    *out = (struct aged){0};
    if (p->peer >= 0 || p->tls_case.threads > 1)
        return fault_set(fault, FAULT_ERROR, "a case with threads or a single role can't age");
    if (!take_memory(out, plan->points))
        return fault_set(fault, FAULT_ERROR, "out of memory");
    out->has_heap = heap_is_counted(p->backend);
    out->has_resident = p->backend->counter_events != NULL;
    uint64_t end_ns = p->backend->clock->wall_ns() + plan->max_ns;
    for (unsigned point = 1; point <= plan->points; point++) {
        if (!reach(p, (uint64_t)plan->connections * point / plan->points, end_ns, out, fault))
            return false;
        if (out->points < point || p->backend->clock->wall_ns() >= end_ns)
            break;
    }
    return out->points > 0 ||
           fault_set(fault, FAULT_ERROR, "the time was up before the first point, after %llu connections",
                     (unsigned long long)out->proven);
}
