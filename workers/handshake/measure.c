/* The measured loop: only the turns are timed. The expensive per-thread CPU clock is read
 * once before and once after a batch, a cheap tick counter around every turn, and the
 * CPU time is shared out in proportion (PROTOCOL.md, "What is timed"). */
#include "measure.h"

#include "peer.h"

#include <pthread.h>
#include <string.h>

/* One thread's part of a batch. */
struct lane {
    struct prepared *prepared;
    struct pair *pair;
    const struct limits *limits;
    pthread_barrier_t *gate; /* where the threads wait for each other; NULL for one that works alone */
    struct instant start, end;
    struct spans counted;
    uint64_t first_ns[ROLES];
    uint64_t whole_cpu_ns; /* with the first handshake */
    uint64_t handshakes;
    bool good;
    struct fault fault;
};

uint64_t scale(uint64_t a, uint64_t b, uint64_t c) {
    return c == 0 ? 0 : (uint64_t)(((unsigned __int128)a * b + c / 2) / c);
}

static bool connection(struct lane *lane, struct spans *spans) {
    return pair_connection(lane->pair, &lane->prepared->wanted, lane->limits->split, spans, NULL,
                           &lane->fault);
}

static bool counted_handshakes(struct lane *lane) {
    const struct clock *clock = lane->prepared->backend->clock;
    const struct limits *limits = lane->limits;
    lane->start = instant_begin(clock);
    uint64_t wall = lane->start.wall_ns;
    while (lane->handshakes < limits->max_handshakes &&
           (lane->handshakes < limits->min_handshakes || lane->handshakes == 0 ||
            wall - lane->start.wall_ns < limits->min_ns)) {
        if (!connection(lane, &lane->counted))
            return false;
        lane->handshakes++;
        wall = clock->wall_ns();
    }
    lane->end = instant_end(clock);
    return true;
}

/* The first handshake after the token is kept apart. A thread whose first one failed still meets the others.
 */
static void run_lane(void *argument) {
    struct lane *lane = argument;
    const struct clock *clock = lane->prepared->backend->clock;
    struct spans first = {0};
    struct instant token = instant_begin(clock);
    lane->good = connection(lane, &first);
    struct instant after = instant_end(clock);
    for (enum role role = ROLE_CLIENT; role <= ROLE_SERVER; role++)
        lane->first_ns[role] =
            scale(after.cpu_ns - token.cpu_ns, first.ticks[SPAN_HANDSHAKE][role], after.ticks - token.ticks);
    if (lane->gate != NULL)
        pthread_barrier_wait(lane->gate);
    lane->good = lane->good && counted_handshakes(lane);
    lane->whole_cpu_ns = clock->thread_cpu_ns() - token.cpu_ns;
}

static void add(const struct lane *lane, struct batch *out) {
    uint64_t ticks = lane->end.ticks - lane->start.ticks, cpu_ns = lane->end.cpu_ns - lane->start.cpu_ns;
    uint64_t turns =
        lane->counted.ticks[SPAN_HANDSHAKE][ROLE_CLIENT] + lane->counted.ticks[SPAN_HANDSHAKE][ROLE_SERVER];
    out->handshakes += lane->handshakes;
    out->thread_cpu_ns += cpu_ns;
    out->wall_ns += scale(lane->end.wall_ns - lane->start.wall_ns, turns, ticks);
    out->involuntary_switches += lane->end.waiting.involuntary - lane->start.waiting.involuntary;
    for (enum role role = ROLE_CLIENT; role <= ROLE_SERVER; role++) {
        for (enum span span = SPAN_HANDSHAKE; span < SPANS; span++)
            out->cpu_ns[span][role] += scale(cpu_ns, lane->counted.ticks[span][role], ticks);
        out->first_ns[role] += lane->first_ns[role];
        out->bytes[role] += lane->counted.bytes[role];
    }
}

/* Threads start together and end each with its own last handshake, so rates are added, not times. */
static void combine(const struct lane *lanes, unsigned count, unsigned cpus, bool split, struct batch *out) {
    struct stay stays[THREADS_MAX];
    double rate = 0;
    for (unsigned i = 0; i < count; i++) {
        stays[i] = stay_between(&lanes[i].start, &lanes[i].end);
        add(&lanes[i], out);
        rate += stays[i].wall_ns == 0 ? 0 : (double)lanes[i].handshakes / (double)stays[i].wall_ns;
    }
    out->others_ns = others_ns(stays, count, cpus);
    out->elapsed_ns = rate > 0 ? (uint64_t)((double)out->handshakes / rate + 0.5) : 0;
    for (enum role role = ROLE_CLIENT; role <= ROLE_SERVER; role++) {
        out->first_ns[role] /= count;
        out->has[role] = split;
    }
}

/* What no thread that makes handshakes spent, such as a library's own threads. It is read while no lane
 * works, so the lanes' first handshakes are in it, whose share is taken out. */
static uint64_t background_ns(uint64_t process_ns, uint64_t own_ns, const struct lane *lanes,
                              unsigned count) {
    uint64_t measuring_ns = own_ns, handshakes = 0;
    for (unsigned i = 0; i < count; i++) {
        measuring_ns += count > 1 ? lanes[i].whole_cpu_ns : 0; /* a single lane is this thread's */
        handshakes += lanes[i].handshakes;
    }
    return process_ns < measuring_ns ? 0 : scale(process_ns - measuring_ns, handshakes, handshakes + count);
}

/* The threads of the case together. */
static void run_crew(struct prepared *prepared, struct lane *lanes, unsigned count) {
    void *arguments[THREADS_MAX];
    pthread_barrier_t gate;
    pthread_barrier_init(&gate, NULL, count);
    for (unsigned i = 0; i < count; i++) {
        lanes[i].gate = &gate;
        arguments[i] = &lanes[i];
    }
    crew_do(prepared->crew, run_lane, arguments);
    pthread_barrier_destroy(&gate);
}

/* What one thread does while the others sleep is the measure of what all of them could do. It is each one's
 * turn in order, since CPUs differ in speed. */
static bool run_alone(struct prepared *prepared, const struct limits *limits, struct batch *out,
                      struct fault *fault) {
    void *arguments[THREADS_MAX] = {NULL};
    unsigned number = prepared->next_alone++ % prepared->tls_case.threads;
    struct lane lane = {.prepared = prepared, .pair = prepared->pairs[number], .limits = limits};
    arguments[number] = &lane;
    crew_do(prepared->crew, run_lane, arguments);
    if (!lane.good) {
        *fault = lane.fault;
        *out = (struct batch){.handshakes = out->handshakes + lane.handshakes};
        return false;
    }
    out->alone_handshakes = lane.handshakes;
    struct stay stay = stay_between(&lane.start, &lane.end);
    out->alone_elapsed_ns = stay.wall_ns;
    out->alone_others_ns = others_ns(&stay, 1, 1);
    return true;
}

bool measure(struct prepared *prepared, const struct limits *limits, struct batch *out, struct fault *fault) {
    memset(out, 0, sizeof *out);
    if (prepared->peer >= 0)
        return peer_measure(prepared, limits, out, fault);
    struct lane lanes[THREADS_MAX];
    unsigned count = prepared->tls_case.threads;
    for (unsigned i = 0; i < count; i++)
        lanes[i] = (struct lane){.prepared = prepared, .pair = prepared->pairs[i], .limits = limits};
    const struct clock *clock = prepared->backend->clock;
    uint64_t process_ns = clock->process_cpu_ns(), own_ns = clock->thread_cpu_ns();
    if (count == 1)
        run_lane(&lanes[0]);
    else
        run_crew(prepared, lanes, count);
    own_ns = clock->thread_cpu_ns() - own_ns;
    process_ns = clock->process_cpu_ns() - process_ns;
    uint64_t proven = 0;
    bool good = true;
    for (unsigned i = 0; i < count; i++) {
        proven += lanes[i].handshakes;
        if (!lanes[i].good && good)
            *fault = lanes[i].fault;
        good = good && lanes[i].good;
    }
    if (!good) {
        out->handshakes = proven;
        return false;
    }
    combine(lanes, count, count == 1 ? 1 : crew_cpus(prepared->crew), limits->split, out);
    out->background_cpu_ns = background_ns(process_ns, own_ns, lanes, count);
    out->has_objects = limits->split;
    out->has_transfer = limits->split && prepared->tls_case.transfer_bytes > 0;
    return count == 1 || run_alone(prepared, limits, out, fault);
}
