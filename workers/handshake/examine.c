/* Counts what timing would disturb: records, hardware counters, allocations, memory held. Counters are read
 * around every turn, which costs more than the fastest turns take; nothing here is timed. */
#include "examine.h"

#include "heap.h"
#include "hold.h"

#include <stdlib.h>
#include <string.h>

/* One pass's observer: hardware counters over turns, allocations over whole lives. */
struct pass {
    struct observer observer; /* first: the observer is the pass */
    struct counters counters;
    struct examined *out;
    uint64_t counted[COUNTERS];
    struct heap_counts heap;
};

static struct heap_counts heap_now(void) {
    struct heap_counts counts = {0};
    if (kexbench_heap_read != NULL)
        kexbench_heap_read(&counts);
    return counts;
}

static void enter(struct observer *observer, enum role role, enum phase phase) {
    struct pass *pass = (struct pass *)observer;
    (void)role;
    pass->heap = heap_now();
    if (phase == PHASE_STEP)
        counters_read(&pass->counters, pass->counted);
}

static void leave(struct observer *observer, enum role role, enum phase phase) {
    struct pass *pass = (struct pass *)observer;
    uint64_t values[COUNTERS];
    if (phase == PHASE_STEP) {
        counters_read(&pass->counters, values);
        for (int i = 0; i < COUNTERS; i++)
            pass->out->counters[i][role] += values[i] - pass->counted[i];
    }
    struct heap_counts heap = heap_now();
    pass->out->allocations[role] += heap.allocations - pass->heap.allocations;
    /* Modulo 2^64: what one side frees later than it was counted is subtracted again. */
    pass->out->held_bytes[role] += heap.live_bytes - pass->heap.live_bytes;
}

static bool count_handshakes(struct prepared *p, struct pass *pass, uint64_t handshakes,
                             struct fault *fault) {
    struct pair *pair = pair_new(p->backend, p->context, &p->tls_case, true);
    struct examined *out = pass->out;
    bool good = pair != NULL || fault_set(fault, FAULT_ERROR, "out of memory");
    if (good)
        pair->observer = &pass->observer;
    while (good && out->handshakes < handshakes) {
        struct spans spans = {0};
        uint64_t before = heap_now().live_bytes;
        if (kexbench_heap_reset_peak != NULL)
            kexbench_heap_reset_peak();
        good = pair_connection(pair, &p->wanted, false, &spans, NULL, fault);
        struct heap_counts heap = heap_now();
        uint64_t peak = heap.peak_bytes > before ? heap.peak_bytes - before : 0;
        out->heap_peak_bytes = peak > out->heap_peak_bytes ? peak : out->heap_peak_bytes;
        for (enum role role = ROLE_CLIENT; role <= ROLE_SERVER; role++) {
            out->bytes[role] += spans.bytes[role];
            out->records[role] += spans.records[role];
        }
        /* Accepted early data is application data before any answer. */
        out->round_trips += p->wanted.early_data_bytes > 0 ? 0 : spans.round_trips;
        out->handshakes += good;
    }
    pair_free(pair);
    return good;
}

/* Twice as many as handshakes, so that a slow handshake is made less often here too. Without the counter
 * there is nothing to see, and one shows that it works. */
static uint64_t to_hold(const struct examined *examined) {
    if (!examined->has_heap)
        return 1;
    return examined->handshakes < HELD_MAX / 2 ? 2 * examined->handshakes : HELD_MAX;
}

static bool hold_connections(struct prepared *p, struct pass *pass, struct fault *fault) {
    struct examined scratch = {0}, *out = pass->out;
    struct pair *pairs[HELD_MAX] = {NULL};
    out->held_connections = to_hold(out);
    pass->out = &scratch;
    bool good = hold(p, pairs, out->held_connections, &pass->observer, fault);
    memcpy(out->held_bytes, scratch.held_bytes, sizeof out->held_bytes);
    let_go(pairs, out->held_connections);
    pass->out = out;
    return good;
}

bool heap_is_counted(const struct backend *backend) {
    return kexbench_heap_read != NULL && (backend->traits == NULL || !backend->traits->own_heap);
}

bool examine(struct prepared *p, uint64_t handshakes, struct examined *out, struct fault *fault) {
    memset(out, 0, sizeof *out);
    if (p->peer >= 0)
        return fault_set(fault, FAULT_ERROR, "a single role can't be examined");
    struct pass pass = {.observer = {.enter = enter, .leave = leave}, .out = out};
    counters_open(&pass.counters, p->backend->counter_events);
    for (int i = 0; i < COUNTERS; i++)
        out->has_counter[i] = pass.counters.descriptors[i] >= 0;
    strcpy(out->counters_absent, pass.counters.absent);
    out->has_heap = heap_is_counted(p->backend);
    bool good = count_handshakes(p, &pass, handshakes, fault) && hold_connections(p, &pass, fault);
    counters_close(&pass.counters);
    return good;
}
