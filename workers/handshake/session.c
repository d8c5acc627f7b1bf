/* The conversation: holds the one case that is set up, and answers each request with one record. */
#include "session.h"

#include "lines.h"
#include "record.h"
#include "start.h"

#include <string.h>

struct state {
    const struct backend *backend;
    const char *material;
    int peer;
    FILE *out;
    struct prepared prepared;
    char setup_line[LINE_MAX_BYTES + 1]; /* of the last one */
};

static void setup(struct state *s, const struct tls_case *tls_case) {
    struct fault fault = {0};
    struct negotiated seen = {0};
    release(&s->prepared);
    if (prepare(&s->prepared, s->backend, tls_case, s->material, s->peer, &seen, &fault))
        record_ready(s->out, tls_case->id, &seen);
    else
        record_refused(s->out, tls_case->id, &fault);
}

static bool is_set_up(struct state *s, const char *id) {
    if (s->prepared.context != NULL && strcmp(id, s->prepared.tls_case.id) == 0)
        return true;
    char reason[REASON_MAX];
    snprintf(reason, sizeof reason, "the case %s is not set up", id);
    record_error(s->out, reason);
    return false;
}

static void run(struct state *s, const char *id, const struct limits *limits) {
    struct fault fault = {0};
    struct batch batch;
    if (!is_set_up(s, id))
        return;
    if (measure(&s->prepared, limits, &batch, &fault))
        record_batch(s->out, id, &batch);
    else
        record_failed(s->out, id, batch.handshakes, &fault);
}

static void look(struct state *s, const char *id, uint64_t handshakes) {
    struct fault fault = {0};
    struct examined examined;
    if (!is_set_up(s, id))
        return;
    if (examine(&s->prepared, handshakes, &examined, &fault))
        record_examined(s->out, id, &examined);
    else
        record_failed(s->out, id, examined.handshakes, &fault);
}

static void put_load(struct state *s, const char *id, const struct load_plan *plan) {
    struct fault fault = {0};
    struct load out;
    if (!is_set_up(s, id))
        return;
    if (load(&s->prepared, plan, &out, &fault))
        record_load(s->out, id, &out);
    else
        record_failed(s->out, id, out.proven, &fault);
}

static void cross(struct state *s, const char *id, const struct path_plan *plan) {
    struct fault fault = {0};
    struct path_result out;
    if (!is_set_up(s, id))
        return;
    if (path(&s->prepared, plan, &out, &fault))
        record_path(s->out, id, &out);
    else
        record_failed(s->out, id, out.proven, &fault);
    path_free(&out);
}

static void begin_processes(struct state *s, const char *id, uint64_t processes) {
    struct fault fault = {0};
    struct start out;
    if (!is_set_up(s, id))
        return;
    if (start_processes(&s->prepared, s->setup_line, processes, &out, &fault))
        record_start(s->out, id, &out);
    else
        record_failed(s->out, id, out.processes, &fault);
    start_free(&out);
}

static void grow_old(struct state *s, const char *id, const struct age_plan *plan) {
    struct fault fault = {0};
    struct aged out;
    if (!is_set_up(s, id))
        return;
    if (age(&s->prepared, plan, &out, &fault))
        record_age(s->out, id, &out);
    else
        record_failed(s->out, id, out.proven, &fault);
    aged_free(&out);
}

static void tell_apart(struct state *s, const char *id, enum profiled of, uint64_t handshakes) {
    struct fault fault = {0};
    struct profile out;
    if (!is_set_up(s, id))
        return;
    if (profile(&s->prepared, of, handshakes, &out, &fault))
        record_profile(s->out, id, &out);
    else
        record_failed(s->out, id, 0, &fault);
    profile_free(&out);
}

/* False ends the session. */
static bool answer(struct state *s, const struct request *request) {
    switch (request->verb) {
    case VERB_SETUP:
        setup(s, &request->tls_case);
        return true;
    case VERB_RUN:
        run(s, request->tls_case.id, &request->limits);
        return true;
    case VERB_EXAMINE:
        look(s, request->tls_case.id, request->handshakes);
        return true;
    case VERB_LOAD:
        put_load(s, request->tls_case.id, &request->load_plan);
        return true;
    case VERB_PATH:
        cross(s, request->tls_case.id, &request->path_plan);
        return true;
    case VERB_START:
        begin_processes(s, request->tls_case.id, request->processes);
        return true;
    case VERB_AGE:
        grow_old(s, request->tls_case.id, &request->age_plan);
        return true;
    case VERB_PROFILE:
        tell_apart(s, request->tls_case.id, request->of, request->handshakes);
        return true;
    case VERB_STOP:
        record_bye(s->out);
        return false;
    }
    return false;
}

void session(const struct backend *backend, const char *material, int peer, int in, FILE *out) {
    struct state state = {.backend = backend, .material = material, .peer = peer, .out = out};
    struct line_reader reader = {.fd = in};
    bool talking = true;
    while (talking && !ferror(out)) {
        const char *line;
        size_t length;
        struct request request;
        char reason[REASON_MAX];
        enum line got = next_line(&reader, &line, &length);
        if (got == LINE_END)
            break;
        if (got == LINE_TOO_LONG) {
            snprintf(reason, sizeof reason, "a line has at most %d bytes", LINE_MAX_BYTES);
            record_error(out, reason);
        } else if (!request_parse(line, length, &request, reason)) {
            record_error(out, reason);
        } else {
            if (request.verb == VERB_SETUP) {
                memcpy(state.setup_line, line, length);
                state.setup_line[length] = '\0';
            }
            talking = answer(&state, &request);
        }
    }
    release(&state.prepared);
}
