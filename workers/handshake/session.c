/* The conversation: holds the one case that is set up, and answers each request with one record. */
#include "session.h"

#include "lines.h"
#include "record.h"

#include <string.h>

struct state {
    const struct backend *backend;
    const char *material;
    FILE *out;
    struct context *context; /* NULL: nothing is set up */
    struct tls_case tls_case;
    struct negotiated wanted;
};

static void forget(struct state *s) {
    if (s->context != NULL)
        s->backend->teardown(s->context);
    s->context = NULL;
}

static void setup(struct state *s, const struct tls_case *tls_case) {
    struct fault fault = {0};
    struct negotiated seen = {0};
    forget(s);
    s->tls_case = *tls_case;
    s->wanted = case_wanted(&s->tls_case);
    if (case_check(&s->tls_case, &fault))
        s->context = s->backend->setup(&s->tls_case, s->material, &fault);
    if (s->context != NULL && probe(s->backend, s->context, &s->wanted, &seen, &fault)) {
        record_ready(s->out, s->tls_case.id, &seen);
        return;
    }
    forget(s);
    record_refused(s->out, s->tls_case.id, &fault);
}

static void run(struct state *s, const char *id, const struct limits *limits) {
    if (s->context == NULL || strcmp(id, s->tls_case.id) != 0) {
        char reason[REASON_MAX];
        snprintf(reason, sizeof reason, "the case %s is not set up", id);
        record_error(s->out, reason);
        return;
    }
    struct fault fault = {0};
    struct batch batch;
    if (measure(s->backend, s->context, &s->wanted, limits, &batch, &fault))
        record_batch(s->out, id, &batch);
    else
        record_failed(s->out, id, batch.handshakes, &fault);
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
    case VERB_STOP:
        record_bye(s->out);
        return false;
    }
    return false;
}

void session(const struct backend *backend, const char *material, int in, FILE *out) {
    struct state state = {.backend = backend, .material = material, .out = out};
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
            talking = answer(&state, &request);
        }
    }
    forget(&state);
}
