/* A request and its answer, each byte compared. */
#include "talk.h"

#include <string.h>

enum { ANSWER_CHUNK = RECORD_MAX };

enum outcome talk_failed(struct shore *s, enum outcome outcome, const char *what) {
    static const char *const stages[] = {[CROSSING_CONNECTS] = "connecting",
                                         [CROSSING_SHAKES_HANDS] = "the handshake",
                                         [CROSSING_TALKS] = "the request and its answer"};
    fault_set(&s->crossing->fault, FAULT_ERROR, "the %s's connection %s during %s", role_name(s->role), what,
              stages[s->stage]);
    return outcome;
}

uint64_t talk_age_ns(const struct crossing *c) {
    return real_clock.wall_ns() - c->begun_ns;
}

/* The bytes of an answer, wherever in it they begin: a prime is their period, so no two records are alike. */
static const unsigned char *content(size_t at) {
    enum { PERIOD = 251 };
    static unsigned char bytes[PERIOD + ANSWER_CHUNK];
    if (bytes[1] == 0) {
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (unsigned char)(i % PERIOD);
    }
    return bytes + at % PERIOD;
}

/* Both return whether the library went along; `moved` goes on as far as there are bytes, or room for them. */
static bool send_some(struct shore *s, size_t *moved, size_t all) {
    long sent = 1;
    while (sent > 0 && *moved < all && pipe_pending(&s->out) == 0) { /* else the rest waits for the socket */
        size_t left = all - *moved;
        sent = s->crossing->journey->backend->send(
            s->side, content(*moved), left < ANSWER_CHUNK ? left : ANSWER_CHUNK, &s->crossing->fault);
        *moved += sent > 0 ? (size_t)sent : 0;
    }
    return sent >= 0;
}

static bool receive_some(struct shore *s, size_t *moved, size_t all) {
    unsigned char bytes[ANSWER_CHUNK];
    struct fault *fault = &s->crossing->fault;
    while (*moved < all) { /* ends: each round takes bytes out of the pipe or the library, or finds none */
        size_t left = all - *moved, before = pipe_pending(&s->in);
        long got = s->crossing->journey->backend->receive(s->side, bytes,
                                                          left < sizeof bytes ? left : sizeof bytes, fault);
        if (got < 0)
            return false;
        if (got == 0 && pipe_pending(&s->in) == before)
            return true;
        if (memcmp(bytes, content(*moved), (size_t)got) != 0) /* of nothing, where it was a ticket */
            return fault_set(fault, FAULT_MISMATCH, "transfer: the %s did not receive what was sent",
                             role_name(s->role));
        *moved += (size_t)got;
    }
    return true;
}

static enum outcome not_moved(const struct shore *s) {
    return s->crossing->fault.kind == FAULT_MISMATCH ? OUTCOME_FATAL : OUTCOME_TLS;
}

/* Early data is the request where there is some. */
enum outcome talk_ask(struct shore *s) {
    struct crossing *c = s->crossing;
    if (c->journey->tls_case.early_data_bytes > 0)
        return OUTCOME_UNDER_WAY;
    c->request_ns = talk_age_ns(c);
    long sent = c->journey->backend->send(s->side, content(0), CROSSING_REQUEST_BYTES, &c->fault);
    return sent == CROSSING_REQUEST_BYTES ? OUTCOME_UNDER_WAY
           : sent < 0                     ? not_moved(s)
                                          : talk_failed(s, OUTCOME_TLS, "took no whole request");
}

enum outcome talk_take_answer(struct shore *s) {
    struct crossing *c = s->crossing;
    if (!receive_some(s, &s->answered, c->journey->plan.answer_bytes))
        return not_moved(s);
    if (s->answered > 0 && c->first_byte_ns == 0)
        c->first_byte_ns = talk_age_ns(c);
    if (s->answered < c->journey->plan.answer_bytes)
        return OUTCOME_UNDER_WAY;
    c->last_byte_ns = talk_age_ns(c);
    return c->proven[ROLE_SERVER] ? OUTCOME_DONE
                                  : talk_failed(s, OUTCOME_FATAL, "had an answer of an unproven server");
}

enum outcome talk_answer(struct shore *s) {
    const struct journey *j = s->crossing->journey;
    size_t request = j->tls_case.early_data_bytes > 0 ? 0 : CROSSING_REQUEST_BYTES;
    if (!receive_some(s, &s->asked, request))
        return not_moved(s);
    return s->asked < request || send_some(s, &s->answered, j->plan.answer_bytes) ? OUTCOME_UNDER_WAY
                                                                                  : not_moved(s);
}
