/* A connection's stages. Each turn ends where the next bytes have to come from the other side. */
#include "crossing.h"

#include "loopback.h"
#include "tun.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ANSWER_CHUNK = RECORD_MAX };

static enum outcome failed(struct shore *s, enum outcome outcome, const char *what) {
    static const char *const stages[] = {[CROSSING_CONNECTS] = "connecting",
                                         [CROSSING_SHAKES_HANDS] = "the handshake",
                                         [CROSSING_TALKS] = "the request and its answer"};
    fault_set(&s->crossing->fault, FAULT_ERROR, "the %s's connection %s during %s", role_name(s->role), what,
              stages[s->stage]);
    return outcome;
}

static uint64_t since_begin(const struct crossing *c) {
    return real_clock.wall_ns() - c->begun_ns;
}

/* --- The beginning and the end. --- */

/* Nearly all of it are pipes, of which few pages are ever touched: they are not cleared. */
struct crossing *crossing_new(void) {
    struct crossing *c = malloc(sizeof *c);
    if (c == NULL)
        return NULL;
    for (enum role role = ROLE_CLIENT; role <= ROLE_SERVER; role++) {
        struct shore *s = &c->shores[role];
        s->crossing = c;
        s->role = role;
        s->socket = -1;
        s->side = NULL;
        s->in.wire = NULL;
        s->out.wire = &c->wires[role];
        c->wires[role].counts_records = false;
        c->retransmissions[role] = 0;
    }
    return c;
}

static bool open_side(struct crossing *c, enum role role) {
    const struct journey *j = c->journey;
    struct shore *s = &c->shores[role];
    struct pipe_end end = {.in = &s->in, .out = &s->out};
    pipe_reset(&s->in);
    pipe_reset(&s->out);
    s->stage = role == ROLE_CLIENT ? CROSSING_CONNECTS : CROSSING_SHAKES_HANDS;
    s->stepped = false;
    s->asked = s->answered = 0;
    s->side = j->backend->open(j->context, role, end, j->wanted.resumed, &c->fault);
    return s->side != NULL;
}

/* The client's side is made first: waiting begins when the connection does. */
enum outcome crossing_begin(struct crossing *c, const struct journey *journey, unsigned number, int socket) {
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_addr = tun_server(), .sin_port = htons(TUN_SERVER_PORT)};
    c->journey = journey;
    c->number = number;
    c->proven[ROLE_CLIENT] = c->proven[ROLE_SERVER] = false;
    c->fault = (struct fault){.kind = FAULT_ERROR};
    c->flights = 0;
    c->connect_ns = c->handshake_ns = c->request_ns = c->first_byte_ns = c->last_byte_ns = 0;
    c->shores[ROLE_CLIENT].socket = socket;
    if (!open_side(c, ROLE_CLIENT))
        return OUTCOME_FATAL;
    c->begun_ns = real_clock.wall_ns();
    if (connect(socket, (const struct sockaddr *)&to, sizeof to) == 0 || errno == EINPROGRESS)
        return OUTCOME_UNDER_WAY;
    fault_set(&c->fault, FAULT_ERROR, "can't connect: %s", strerror(errno)); /* this machine's own fault */
    return OUTCOME_FATAL;
}

enum outcome crossing_accept(struct crossing *c, int socket) {
    c->shores[ROLE_SERVER].socket = socket;
    return open_side(c, ROLE_SERVER) ? OUTCOME_UNDER_WAY : OUTCOME_FATAL;
}

static uint32_t retransmissions(int socket) {
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    return getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 ? info.tcpi_total_retrans : 0;
}

void crossing_end(struct crossing *c) {
    for (enum role role = ROLE_CLIENT; role <= ROLE_SERVER; role++) {
        struct shore *s = &c->shores[role];
        if (s->side != NULL)
            c->journey->backend->close(s->side);
        if (s->socket >= 0) {
            c->retransmissions[role] = retransmissions(s->socket);
            close(s->socket);
        }
        s->side = NULL;
        s->socket = -1;
    }
}

enum outcome crossing_time_out(struct crossing *c) {
    return failed(&c->shores[ROLE_CLIENT], OUTCOME_TIMEOUT, "timed out");
}

/* --- The turns. --- */

/* Tickets are no part of the proof: they may come later. */
static bool prove(struct shore *s) {
    const struct journey *j = s->crossing->journey;
    struct negotiated seen;
    struct evidence evidence = {s->crossing->wires, false, -1};
    bool good = prove_side(j->backend, s->side, s->role, evidence, &j->tls_case, &j->wanted, &seen,
                           &s->crossing->fault);
    s->crossing->proven[s->role] = good;
    return good;
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
static enum outcome ask(struct shore *s) {
    struct crossing *c = s->crossing;
    if (c->journey->tls_case.early_data_bytes > 0)
        return OUTCOME_UNDER_WAY;
    c->request_ns = since_begin(c);
    long sent = c->journey->backend->send(s->side, content(0), CROSSING_REQUEST_BYTES, &c->fault);
    return sent == CROSSING_REQUEST_BYTES ? OUTCOME_UNDER_WAY
           : sent < 0                     ? not_moved(s)
                                          : failed(s, OUTCOME_TLS, "took no whole request");
}

static void note_flight(struct shore *s, uint64_t bytes) {
    struct crossing *c = s->crossing;
    bool same = c->flights > 0 && (c->flights - 1) % ROLES == s->role;
    if (bytes == 0 || c->proven[ROLE_CLIENT] || (!same && c->flights == CROSSING_FLIGHTS_MAX))
        return;
    if (!same)
        c->flight_bytes[c->flights++] = 0;
    c->flight_bytes[c->flights - 1] += bytes;
}

static enum outcome shake_hands(struct shore *s) {
    struct crossing *c = s->crossing;
    uint64_t before = s->out.written;
    bool first = !s->stepped;
    s->stepped = true;
    enum progress progress = s->role == ROLE_CLIENT ? client_turn(c->journey->backend, s->side, &c->fault)
                                                    : server_turn(c->journey->backend, s->side, &c->fault);
    note_flight(s, s->out.written - before);
    if (first && s->role == ROLE_CLIENT && c->journey->tls_case.early_data_bytes > 0)
        c->request_ns = since_begin(c);
    if (progress != PROGRESS_DONE)
        return progress == PROGRESS_FAILED ? OUTCOME_TLS : OUTCOME_UNDER_WAY;
    if (s->role == ROLE_CLIENT)
        c->handshake_ns = since_begin(c);
    s->stage = CROSSING_TALKS;
    if (!prove(s))
        return OUTCOME_FATAL;
    return s->role == ROLE_CLIENT ? ask(s) : OUTCOME_UNDER_WAY;
}

static enum outcome take_answer(struct shore *s) {
    struct crossing *c = s->crossing;
    if (!receive_some(s, &s->answered, c->journey->plan.answer_bytes))
        return not_moved(s);
    if (s->answered > 0 && c->first_byte_ns == 0)
        c->first_byte_ns = since_begin(c);
    if (s->answered < c->journey->plan.answer_bytes)
        return OUTCOME_UNDER_WAY;
    c->last_byte_ns = since_begin(c);
    return c->proven[ROLE_SERVER] ? OUTCOME_DONE
                                  : failed(s, OUTCOME_FATAL, "had an answer of an unproven server");
}

static enum outcome answer(struct shore *s) {
    const struct journey *j = s->crossing->journey;
    size_t request = j->tls_case.early_data_bytes > 0 ? 0 : CROSSING_REQUEST_BYTES;
    if (!receive_some(s, &s->asked, request))
        return not_moved(s);
    return s->asked < request || send_some(s, &s->answered, j->plan.answer_bytes) ? OUTCOME_UNDER_WAY
                                                                                  : not_moved(s);
}

static enum outcome take_turn(struct shore *s) {
    enum outcome outcome = OUTCOME_UNDER_WAY;
    if (s->stage == CROSSING_SHAKES_HANDS)
        outcome = shake_hands(s);
    if (outcome == OUTCOME_UNDER_WAY && s->stage == CROSSING_TALKS)
        outcome = s->role == ROLE_CLIENT ? take_answer(s) : answer(s);
    return outcome;
}

/* --- Sockets. --- */

static enum outcome broken(struct shore *s, enum moved how) {
    if (how == MOVED_FULL)
        return failed(s, OUTCOME_TLS, "got more than there is room for");
    return how == MOVED_END ? failed(s, OUTCOME_CLOSED, "was closed") : failed(s, OUTCOME_RESET, "was reset");
}

/* 0, or an errno; EINPROGRESS: not yet. */
static int connected(int socket) {
    struct sockaddr_in peer;
    socklen_t size = sizeof peer;
    int error = loopback_connected(socket);
    if (error != 0)
        return error;
    return getpeername(socket, (struct sockaddr *)&peer, &size) == 0 ? 0 : EINPROGRESS;
}

static enum outcome not_connected(struct shore *s, int error) {
    if (error == EINPROGRESS)
        return OUTCOME_UNDER_WAY;
    if (error == ETIMEDOUT)
        return failed(s, OUTCOME_TIMEOUT, "timed out");
    return error == ECONNREFUSED ? failed(s, OUTCOME_REFUSED, "was refused") : broken(s, MOVED_BROKEN);
}

/* A socket tells only once that it is ready: all that lies there is taken. */
enum outcome crossing_go_on(struct shore *s) {
    struct crossing *c = s->crossing;
    uint64_t bytes = 0;
    enum outcome outcome = OUTCOME_UNDER_WAY;
    enum moved in = MOVED_SOME, out = MOVED_SOME;
    if (s->stage == CROSSING_CONNECTS) {
        int error = connected(s->socket);
        if (error != 0)
            return not_connected(s, error);
        c->connect_ns = since_begin(c);
        s->stage = CROSSING_SHAKES_HANDS;
        outcome = take_turn(s);
    }
    while (outcome == OUTCOME_UNDER_WAY && in == MOVED_SOME) {
        in = loopback_receive(s->socket, &s->in, &bytes);
        if (in == MOVED_SOME)
            outcome = take_turn(s);
    }
    /* What is left of an answer goes out as far as there is room. */
    do {
        out = loopback_send(s->socket, &s->out, &bytes); /* an alert, too */
        if (outcome == OUTCOME_UNDER_WAY && out == MOVED_SOME && s->role == ROLE_SERVER &&
            s->stage == CROSSING_TALKS)
            outcome = answer(s);
    } while (outcome == OUTCOME_UNDER_WAY && out == MOVED_SOME && pipe_pending(&s->out) > 0);
    if (outcome != OUTCOME_UNDER_WAY || (in != MOVED_END && in != MOVED_FULL && in != MOVED_BROKEN))
        return outcome == OUTCOME_UNDER_WAY && out == MOVED_BROKEN ? broken(s, out) : outcome;
    return broken(s, in);
}
