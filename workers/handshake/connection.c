/* A connection's stages. Each turn ends where the next bytes have to come from the server. */
#include "connection.h"

#include "loopback.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static enum outcome failed(struct connection *c, enum outcome outcome, const char *what) {
    static const char *const stages[] = {[STAGE_CONNECT] = "connecting",
                                         [STAGE_HANDSHAKE] = "the handshake",
                                         [STAGE_ANSWER] = "an answer",
                                         [STAGE_FINISH] = "closing"};
    fault_set(&c->fault, FAULT_ERROR, "%s during %s", what, stages[c->stage]);
    return outcome;
}

static uint64_t since_begin(const struct connection *c) {
    return real_clock.wall_ns() - c->begun_ns;
}

/* --- The beginning. --- */

static enum outcome not_connected(struct connection *c, int error) {
    if (error == ECONNREFUSED)
        return failed(c, OUTCOME_REFUSED, "the server refused");
    if (error == ETIMEDOUT)
        return failed(c, OUTCOME_TIMEOUT, "the server did not answer");
    if (error == ECONNRESET)
        return failed(c, OUTCOME_RESET, "the server reset the connection");
    fault_set(&c->fault, FAULT_ERROR, "can't connect: %s", strerror(error)); /* this machine's own fault */
    return OUTCOME_FATAL;
}

/* The side is made first: a latency begins when the connection does. */
enum outcome connection_begin(struct connection *c, const struct visit *visit, bool resumes,
                              uint64_t number) {
    struct pipe_end end = {.in = &c->sent[ROLE_SERVER], .out = &c->sent[ROLE_CLIENT]};
    c->visit = visit;
    c->socket = -1;
    c->stage = STAGE_CONNECT;
    c->resumes = resumes;
    c->proven = c->resumed = false;
    c->requests_left = visit->plan.requests;
    c->handshake_ns = c->response_ns = 0;
    for (enum role role = ROLE_CLIENT; role <= ROLE_SERVER; role++) {
        c->bytes[role] = 0;
        c->sent[role].wire = &c->wires[role];
        pipe_reset(&c->sent[role]);
    }
    c->side = visit->backend->open(visit->context, ROLE_CLIENT, end, resumes, &c->fault);
    c->begun_ns = real_clock.wall_ns();
    if (c->side == NULL)
        return OUTCOME_FATAL;
    c->socket = loopback_connect(visit->plan.address, visit->plan.port, number);
    return c->socket < 0 ? not_connected(c, errno) : OUTCOME_UNDER_WAY;
}

/* --- The turns. --- */

/* The server's tickets are no part of the proof: they may come later, with its answer. */
static bool prove(struct connection *c) {
    const struct visit *v = c->visit;
    struct negotiated seen;
    struct evidence evidence = {c->wires, true, -1};
    c->proven = prove_side(v->backend, c->side, ROLE_CLIENT, evidence, &v->tls_case, &v->wanted[c->resumes],
                           &seen, &c->fault);
    c->resumed = c->proven && seen.resumed;
    return c->proven;
}

static enum outcome ask(struct connection *c) {
    char request[HTTP_REQUEST_MAX];
    size_t length = http_request(request, c->visit->plan.path, --c->requests_left == 0), sent = 0;
    answer_begin(&c->answer, c->visit->plan.response_bytes);
    while (sent < length) {
        long taken = c->visit->backend->send(c->side, request + sent, length - sent, &c->fault);
        if (taken <= 0)
            return taken < 0 ? OUTCOME_TLS : failed(c, OUTCOME_TLS, "the library took no request");
        sent += (size_t)taken;
    }
    c->stage = STAGE_ANSWER;
    return OUTCOME_UNDER_WAY;
}

static enum outcome take_handshake_turn(struct connection *c) {
    enum progress progress = c->visit->backend->step(c->side, &c->fault);
    if (progress == PROGRESS_FAILED)
        return OUTCOME_TLS;
    if (progress == PROGRESS_WAIT)
        return OUTCOME_UNDER_WAY;
    c->handshake_ns = since_begin(c);
    return prove(c) ? ask(c) : OUTCOME_FATAL;
}

/* `keep` reads on for a ticket. A ticket that came has been read with the answer before which it was sent,
 * and behind the answer lies the server's close_notify, which `keep` would take for the end of a session: it
 * is held back meanwhile. A resumption that brings no new session leaves the one that it resumed. */
static bool keep(struct connection *c) {
    struct pipe *in = &c->sent[ROLE_SERVER];
    size_t start = in->start, end = in->end;
    in->start = in->end = 0;
    bool kept = c->visit->backend->keep(c->side, &c->fault);
    in->start = start;
    in->end = end;
    return kept || c->resumes;
}

static enum outcome take_answer(struct connection *c) {
    const struct pipe *in = &c->sent[ROLE_SERVER];
    unsigned char bytes[RECORD_MAX];
    enum answer_state state = ANSWER_MORE;
    while (state != ANSWER_WHOLE) { /* ends: each round takes bytes out of the pipe, or finds none */
        size_t before = pipe_pending(in);
        long got = c->visit->backend->receive(c->side, bytes, sizeof bytes, &c->fault);
        if (got < 0)
            return OUTCOME_TLS;
        if (got == 0 && pipe_pending(in) == before)
            return OUTCOME_UNDER_WAY;
        state =
            answer_feed(&c->answer, bytes, (size_t)got, &c->fault); /* of nothing, where it was a ticket */
        if (state == ANSWER_WRONG)
            return OUTCOME_HTTP;
    }
    if (c->requests_left > 0)
        return ask(c);
    c->response_ns = since_begin(c);
    c->stage = STAGE_FINISH;
    return !c->visit->keeps || keep(c) ? OUTCOME_UNDER_WAY : OUTCOME_FATAL;
}

/* As HTTP clients do: say close_notify, and leave once the server did, or closed without a word. */
static enum outcome take_leave(struct connection *c) {
    enum progress progress = c->visit->backend->finish(c->side, &c->fault);
    return progress == PROGRESS_FAILED ? OUTCOME_TLS
           : progress == PROGRESS_DONE ? OUTCOME_DONE
                                       : OUTCOME_UNDER_WAY;
}

static enum outcome take_turn(struct connection *c) {
    enum outcome outcome = OUTCOME_UNDER_WAY;
    if (c->stage == STAGE_HANDSHAKE)
        outcome = take_handshake_turn(c);
    else if (c->stage == STAGE_ANSWER)
        outcome = take_answer(c);
    if (outcome == OUTCOME_UNDER_WAY && c->stage == STAGE_FINISH)
        outcome = take_leave(c);
    return outcome;
}

/* Whatever the server does once its last answer is whole, the connection was what it should be. */
static enum outcome broken(struct connection *c, enum moved how) {
    if (c->stage == STAGE_FINISH)
        return OUTCOME_DONE;
    if (how == MOVED_FULL)
        return failed(c, OUTCOME_TLS, "the server sent more than there is room for");
    return how == MOVED_END ? failed(c, OUTCOME_CLOSED, "the server closed the connection")
                            : failed(c, OUTCOME_RESET, "the server reset the connection");
}

enum outcome connection_go_on(struct connection *c) {
    enum moved in = MOVED_SOME;
    if (c->stage == STAGE_CONNECT) {
        int error = loopback_connected(c->socket);
        if (error != 0)
            return not_connected(c, error);
        c->stage = STAGE_HANDSHAKE;
    } else {
        in = loopback_receive(c->socket, &c->sent[ROLE_SERVER], &c->bytes[ROLE_SERVER]);
        if (in != MOVED_SOME && in != MOVED_NOTHING)
            return broken(c, in);
    }
    enum outcome outcome = in == MOVED_SOME ? take_turn(c) : OUTCOME_UNDER_WAY;
    enum moved out =
        loopback_send(c->socket, &c->sent[ROLE_CLIENT], &c->bytes[ROLE_CLIENT]); /* an alert, too */
    return outcome == OUTCOME_UNDER_WAY && out == MOVED_BROKEN ? broken(c, out) : outcome;
}

enum outcome connection_time_out(struct connection *c) {
    return failed(c, OUTCOME_TIMEOUT, "timed out");
}

bool connection_writes(const struct connection *c) {
    return c->stage == STAGE_CONNECT || pipe_pending(&c->sent[ROLE_CLIENT]) > 0;
}

void connection_end(struct connection *c) {
    if (c->side != NULL)
        c->visit->backend->close(c->side);
    if (c->socket >= 0)
        close(c->socket);
    c->side = NULL;
    c->socket = -1;
}
