/* The measured loop: only the turns are timed. The expensive per-thread CPU clock is read
 * once before and once after a batch, a cheap tick counter around every turn, and the
 * CPU time is shared out in proportion (PROTOCOL.md, "What is timed"). */
#include "measure.h"

#include <string.h>

struct spans {
    uint64_t client_ticks, server_ticks;
    uint64_t client_bytes, server_bytes;
};

struct instant {
    uint64_t ticks, cpu_ns, wall_ns;
};

/* a * b / c without losing the high bits: nanoseconds times ticks pass 2^64 within seconds. */
static uint64_t scale(uint64_t a, uint64_t b, uint64_t c) {
    return c == 0 ? 0 : (uint64_t)(((unsigned __int128)a * b + c / 2) / c);
}

static struct instant now(const struct clock *clock) {
    struct instant instant;
    instant.wall_ns = clock->wall_ns();
    instant.cpu_ns = clock->thread_cpu_ns();
    instant.ticks = clock->ticks();
    return instant;
}

static bool take_turns(const struct backend *b, struct context *context, struct spans *spans,
                       struct fault *fault) {
    bool client_done = false, server_done = false;
    uint64_t before = b->clock->ticks();
    for (unsigned turn = 0; turn < TURNS_MAX && !(client_done && server_done); turn++) {
        bool clients = turn % 2 == 0;
        bool *done = clients ? &client_done : &server_done;
        if (*done)
            continue;
        enum progress progress = clients ? b->client_step(context, fault) : b->server_step(context, fault);
        uint64_t after = b->clock->ticks();
        *(clients ? &spans->client_ticks : &spans->server_ticks) += after - before;
        before = after;
        if (progress == PROGRESS_FAILED)
            return false;
        *done = progress == PROGRESS_DONE;
    }
    if (!client_done || !server_done)
        return fault_set(fault, FAULT_ERROR, "no progress: the %s was not done after %d turns",
                         client_done ? "server" : "client", TURNS_MAX);
    return true;
}

/* Both views are compared with the case, so a field that one side can't tell is still proven by the other. */
static bool prove(const struct backend *b, struct context *context, const struct negotiated *wanted,
                  struct negotiated *seen, struct fault *fault) {
    struct negotiated client = {0}, server = {0};
    if (!b->inspect(context, &client, &server, fault))
        return false;
    if (client.protocol == NULL || client.cipher == NULL || client.group == NULL ||
        client.signature == NULL || client.peer_key == NULL)
        return fault_set(fault, FAULT_ERROR, "the client can't tell what it negotiated");
    if (!negotiated_matches(wanted, &client, "client", fault) ||
        !negotiated_matches(wanted, &server, "server", fault))
        return false;
    if (seen != NULL)
        *seen = client;
    return true;
}

static bool handshake(const struct backend *b, struct context *context, const struct negotiated *wanted,
                      struct spans *spans, struct negotiated *seen, struct fault *fault) {
    if (!b->open(context, fault))
        return false;
    bool proven = take_turns(b, context, spans, fault) && prove(b, context, wanted, seen, fault);
    uint64_t client_bytes = 0, server_bytes = 0;
    b->bytes_sent(context, &client_bytes, &server_bytes);
    spans->client_bytes += client_bytes;
    spans->server_bytes += server_bytes;
    b->close(context);
    return proven;
}

bool probe(const struct backend *b, struct context *context, const struct negotiated *wanted,
           struct negotiated *seen, struct fault *fault) {
    struct spans unused = {0};
    return handshake(b, context, wanted, &unused, seen, fault);
}

bool measure(const struct backend *b, struct context *context, const struct negotiated *wanted,
             const struct limits *limits, struct batch *out, struct fault *fault) {
    const struct clock *clock = b->clock;
    struct spans first = {0}, counted = {0};
    memset(out, 0, sizeof *out);

    struct instant token = now(clock);
    if (!handshake(b, context, wanted, &first, NULL, fault))
        return false;
    uint64_t switches = clock->involuntary_switches();
    struct instant start = now(clock);
    uint64_t wall = start.wall_ns;
    while (out->handshakes < limits->max_handshakes &&
           (out->handshakes < limits->min_handshakes || out->handshakes == 0 ||
            wall - start.wall_ns < limits->min_ns)) {
        if (!handshake(b, context, wanted, &counted, NULL, fault))
            return false;
        out->handshakes++;
        wall = clock->wall_ns();
    }
    struct instant end = now(clock);
    out->involuntary_switches = clock->involuntary_switches() - switches;

    uint64_t ticks = end.ticks - start.ticks;
    uint64_t cpu_ns = end.cpu_ns - start.cpu_ns;
    out->client_cpu_ns = scale(cpu_ns, counted.client_ticks, ticks);
    out->server_cpu_ns = scale(cpu_ns, counted.server_ticks, ticks);
    out->wall_ns = scale(end.wall_ns - start.wall_ns, counted.client_ticks + counted.server_ticks, ticks);
    uint64_t first_ticks = start.ticks - token.ticks;
    uint64_t first_cpu_ns = start.cpu_ns - token.cpu_ns;
    out->first_client_ns = scale(first_cpu_ns, first.client_ticks, first_ticks);
    out->first_server_ns = scale(first_cpu_ns, first.server_ticks, first_ticks);
    out->client_bytes = counted.client_bytes;
    out->server_bytes = counted.server_bytes;
    return true;
}
