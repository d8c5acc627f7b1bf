/* Two threads make connections in turn, so that nothing depends on how the kernel interleaves them. What both
 * change is what threads that run at the same time would take from each other: a thread has its own part of
 * the C library's allocator, so memory of a connection is another address in each. */
#include "atomics.h"

#include "breakpoints.h"

#include <stdlib.h>

enum { WATCHERS = 2, WARM_UP = 8 };

/* A thread's connections. */
struct watcher {
    struct observer observer; /* first: the observer is the watcher */
    struct prepared *prepared;
    struct pair *pair;
    unsigned number;
    uint64_t handshakes; /* to make */
    bool good;
    struct fault *fault;
};

static void enter(struct observer *observer, enum role role, enum phase phase) {
    static const char *const turns[ROLES] = {"client", "server"};
    struct watcher *watcher = (struct watcher *)observer;
    if (phase == PHASE_OPEN || phase == PHASE_CLOSE)
        breakpoints_watch("objects", watcher->number);
    else if (phase == PHASE_STEP)
        breakpoints_watch(turns[role], watcher->number);
}

static void leave(struct observer *observer, enum role role, enum phase phase) {
    (void)observer, (void)role, (void)phase;
    breakpoints_watch(NULL, 0);
}

static void make_connections(void *argument) {
    struct watcher *watcher = argument;
    for (uint64_t i = 0; watcher->good && i < watcher->handshakes; i++) {
        struct spans unused = {0};
        watcher->good =
            pair_connection(watcher->pair, &watcher->prepared->wanted, false, &unused, NULL, watcher->fault);
    }
}

/* By address, and in the order in which they happened. `frames` grows from each to the next. */
static int by_address(const void *left, const void *right) {
    const struct operation *a = left, *b = right;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return a->frames < b->frames ? -1 : a->frames > b->frames;
}

static void add(struct stacks *out, const struct operations *operations, const struct operation *one,
                const char *part, bool shared) {
    stacks_add(out, part, operations->frames + one->frames, one->depth, 1, shared);
}

/* All operations on one address are behind each other. Among addresses with as many, that one is the busiest
 * which was changed first. */
static void share_out(struct operations *operations, struct stacks *out) {
    const struct operation *all = operations->all, *busiest = NULL;
    size_t most = 0;
    qsort(operations->all, operations->used, sizeof *operations->all, by_address);
    for (size_t from = 0, to; from < operations->used; from = to) {
        unsigned threads = 0;
        for (to = from; to < operations->used && all[to].address == all[from].address; to++)
            threads |= 1u << all[to].thread;
        bool shared = threads == (1u << WATCHERS) - 1;
        for (size_t i = from; i < to; i++)
            add(out, operations, &all[i], all[i].part, shared);
        if (shared && (to - from > most || (to - from == most && all[from].frames < busiest->frames))) {
            busiest = &all[from];
            most = to - from;
        }
    }
    for (size_t i = 0; i < most; i++)
        add(out, operations, &busiest[i], "busiest", true);
}

/* So many of each thread, one thread after the other. */
static bool take_turns(struct crew *crew, struct watcher *watchers, uint64_t turns, uint64_t handshakes) {
    bool good = true;
    for (uint64_t i = 0; good && i < turns; i++) {
        unsigned number = (unsigned)(i % WATCHERS);
        void *arguments[WATCHERS] = {NULL};
        arguments[number] = &watchers[number];
        watchers[number].handshakes = handshakes;
        crew_do(crew, make_connections, arguments);
        good = watchers[number].good;
    }
    return good;
}

static bool count(struct crew *crew, struct watcher *watchers, uint64_t handshakes, struct stacks *out,
                  struct fault *fault) {
    if (!take_turns(crew, watchers, WATCHERS, WARM_UP))
        return false;
    struct operations *operations = breakpoints_open(fault);
    if (operations == NULL)
        return false;
    for (unsigned i = 0; i < WATCHERS; i++)
        watchers[i].pair->observer = &watchers[i].observer;
    bool good = take_turns(crew, watchers, handshakes, 1);
    if (good && operations->full)
        good = fault_set(fault, FAULT_ERROR, "there are too many operations");
    if (good)
        share_out(operations, out);
    breakpoints_close(operations);
    return good;
}

bool atomics_count(struct prepared *p, uint64_t handshakes, struct stacks *out, struct fault *fault) {
    struct watcher watchers[WATCHERS] = {{.good = true}};
    if (p->backend->traits != NULL && p->backend->traits->own_threads)
        return fault_set(fault, FAULT_UNSUPPORTED,
                         "this library has threads of its own, which can't be told apart");
    if (handshakes < WATCHERS)
        return fault_set(fault, FAULT_UNSUPPORTED, "what is shared shows in two handshakes or more");
    /* Started and ended without breakpoints: a thread begins with its signals blocked. */
    struct crew *crew = crew_start(WATCHERS, fault);
    bool good = crew != NULL;
    for (unsigned i = 0; good && i < WATCHERS; i++) {
        /* Where threads have a context each. */
        struct context *context = p->tls_case.threads > 1 ? p->pairs[i]->context : p->context;
        watchers[i] = (struct watcher){.observer = {.enter = enter, .leave = leave},
                                       .prepared = p,
                                       .pair = pair_new(p->backend, context, &p->tls_case, false),
                                       .number = i,
                                       .good = true,
                                       .fault = fault};
        good = watchers[i].pair != NULL || fault_set(fault, FAULT_ERROR, "out of memory");
    }
    good = good && count(crew, watchers, handshakes, out, fault);
    crew_end(crew);
    for (unsigned i = 0; i < WATCHERS; i++)
        pair_free(watchers[i].pair);
    return good;
}
