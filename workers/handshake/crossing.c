/* A connection's stages. Each turn ends where the next bytes have to come from the other side. */
#include "crossing.h"

#include "datagram.h"
#include "talk.h"
#include "tun.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* When what a socket had no room for is sent. */
static const uint64_t SEND_AGAIN_NS = 100000;
static const uint64_t GATHER_NS = 100000, GATHER_SHARE = 400; /* the latter of a round trip */

static bool is_of_datagrams(const struct crossing *c) {
    return c->journey->backend->datagrams != NULL;
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
        s->out.wire = &c->wires[role];
        c->wires[role].counts_records = c->wires[role].reads_dtls = false;
        c->retransmissions[role] = 0;
    }
    return c;
}

static bool open_side(struct crossing *c, enum role role) {
    const struct journey *j = c->journey;
    struct shore *s = &c->shores[role];
    struct pipe_end end = {.in = &s->in, .out = &s->out, .over_path = true};
    /* Who gets a hello of QUIC can read it; one of TLS is in the clear. */
    s->in.wire = is_of_datagrams(c) ? &c->wires[1 - role] : NULL;
    pipe_reset(&s->in);
    pipe_reset(&s->out);
    s->stage = role == ROLE_CLIENT ? CROSSING_CONNECTS : CROSSING_SHAKES_HANDS;
    s->stepped = false;
    s->due_ns = 0;
    s->asked = s->answered = 0;
    s->side = j->backend->open(j->context, role, end, j->wanted.resumed, &c->fault);
    return s->side != NULL;
}

/* --- Computing: what a turn takes, system calls too. A connection's turns don't overlap. --- */

static void begin_turn(struct crossing *c) {
    c->turn_ns = talk_age_ns(c);
}

static void end_turn(struct crossing *c) {
    if (c->handshake_ns == 0)
        c->computing_ns += talk_age_ns(c) - c->turn_ns;
}

static void end_handshake(struct crossing *c) {
    uint64_t now_ns = talk_age_ns(c);
    c->computing_ns += now_ns - c->turn_ns;
    c->handshake_ns = now_ns;
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
    c->turn_ns = c->computing_ns = 0;
    c->connect_ns = c->handshake_ns = c->request_ns = c->first_byte_ns = c->last_byte_ns = 0;
    c->shores[ROLE_CLIENT].socket = socket;
    if (!open_side(c, ROLE_CLIENT))
        return OUTCOME_FATAL;
    c->begun_ns = real_clock.wall_ns();
    if (connect(socket, (const struct sockaddr *)&to, sizeof to) == 0 || errno == EINPROGRESS) {
        end_turn(c);
        return OUTCOME_UNDER_WAY;
    }
    fault_set(&c->fault, FAULT_ERROR, "can't connect: %s", strerror(errno)); /* this machine's own fault */
    return OUTCOME_FATAL;
}

enum outcome crossing_accept(struct crossing *c, int socket) {
    c->shores[ROLE_SERVER].socket = socket;
    begin_turn(c);
    bool good = open_side(c, ROLE_SERVER);
    end_turn(c);
    return good ? OUTCOME_UNDER_WAY : OUTCOME_FATAL;
}

static uint32_t retransmissions(const struct shore *s) {
    const struct datagrams *datagrams = s->crossing->journey->backend->datagrams;
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    if (datagrams != NULL)
        return s->side == NULL ? 0 : datagrams->sent_again(s->side);
    return getsockopt(s->socket, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 ? info.tcpi_total_retrans : 0;
}

void crossing_end(struct crossing *c) {
    for (enum role role = ROLE_CLIENT; role <= ROLE_SERVER; role++) {
        struct shore *s = &c->shores[role];
        if (s->socket >= 0)
            c->retransmissions[role] = retransmissions(s);
        if (s->side != NULL)
            c->journey->backend->close(s->side);
        if (s->socket >= 0 && !(role == ROLE_SERVER && is_of_datagrams(c)))
            close(s->socket);
        s->side = NULL;
        s->socket = -1;
    }
}

enum outcome crossing_time_out(struct crossing *c) {
    return talk_failed(&c->shores[ROLE_CLIENT], OUTCOME_TIMEOUT, "timed out");
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
        c->request_ns = talk_age_ns(c);
    if (progress != PROGRESS_DONE)
        return progress == PROGRESS_FAILED ? OUTCOME_TLS : OUTCOME_UNDER_WAY;
    if (s->role == ROLE_CLIENT)
        end_handshake(c);
    s->stage = CROSSING_TALKS;
    if (!prove(s))
        return OUTCOME_FATAL;
    return s->role == ROLE_CLIENT ? talk_ask(s) : OUTCOME_UNDER_WAY;
}

static enum outcome take_turn(struct shore *s) {
    const struct backend *b = s->crossing->journey->backend;
    enum outcome outcome = OUTCOME_UNDER_WAY;
    if (s->stage == CROSSING_SHAKES_HANDS)
        outcome = shake_hands(s);
    else if (b->datagrams != NULL && b->step(s->side, &s->crossing->fault) == PROGRESS_FAILED)
        outcome = OUTCOME_TLS;
    if (outcome == OUTCOME_UNDER_WAY && s->stage == CROSSING_TALKS)
        outcome = s->role == ROLE_CLIENT ? talk_take_answer(s) : talk_answer(s);
    return outcome;
}

/* --- Streams and datagrams. --- */

static enum outcome broken(struct shore *s, enum moved how) {
    if (how == MOVED_FULL)
        return talk_failed(s, OUTCOME_TLS, "got more than there is room for");
    return how == MOVED_END ? talk_failed(s, OUTCOME_CLOSED, "was closed")
                            : talk_failed(s, OUTCOME_RESET, "was reset");
}

static enum moved send_written(struct shore *s) {
    struct sockaddr_in client = {.sin_family = AF_INET,
                                 .sin_addr = tun_client((uint16_t)s->crossing->number),
                                 .sin_port = htons(TUN_CLIENT_PORT)};
    uint64_t bytes = 0;
    if (is_of_datagrams(s->crossing))
        return datagram_send(s->socket, &s->out, s->role == ROLE_SERVER ? &client : NULL);
    return loopback_send(s->socket, &s->out, &bytes);
}

/* What was written, an alert too, and of an answer as much as there is room for. */
static enum moved send_all(struct shore *s, enum outcome *outcome) {
    enum moved out;
    do {
        out = send_written(s);
        if (*outcome == OUTCOME_UNDER_WAY && out == MOVED_SOME && s->role == ROLE_SERVER &&
            s->stage == CROSSING_TALKS)
            *outcome = talk_answer(s);
    } while (*outcome == OUTCOME_UNDER_WAY && out == MOVED_SOME && pipe_pending(&s->out) > 0);
    return out;
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
        return talk_failed(s, OUTCOME_TIMEOUT, "timed out");
    return error == ECONNREFUSED ? talk_failed(s, OUTCOME_REFUSED, "was refused") : broken(s, MOVED_BROKEN);
}

/* A socket tells only once that it is ready: all that lies there is taken. */
static enum outcome go_on_stream(struct shore *s) {
    uint64_t bytes = 0;
    enum outcome outcome = OUTCOME_UNDER_WAY;
    enum moved in = MOVED_SOME;
    if (s->stage == CROSSING_CONNECTS) {
        int error = connected(s->socket);
        if (error != 0)
            return not_connected(s, error);
        s->crossing->connect_ns = talk_age_ns(s->crossing);
        s->stage = CROSSING_SHAKES_HANDS;
        outcome = take_turn(s);
    }
    while (outcome == OUTCOME_UNDER_WAY && in == MOVED_SOME) {
        in = loopback_receive(s->socket, &s->in, &bytes);
        if (in == MOVED_SOME)
            outcome = take_turn(s);
    }
    enum moved out = send_all(s, &outcome);
    if (outcome != OUTCOME_UNDER_WAY || (in != MOVED_END && in != MOVED_FULL && in != MOVED_BROKEN))
        return outcome == OUTCOME_UNDER_WAY && out == MOVED_BROKEN ? broken(s, out) : outcome;
    return broken(s, in);
}

/* The datagrams of a flight come within some microseconds, so that a side which took its turn at the first
 * one would acknowledge now one of them and now two. Network cards wait about as long before they interrupt.
 */
static uint64_t gathering_ns(const struct path *path) {
    uint64_t share_ns = path->round_trip_ns / GATHER_SHARE;
    return share_ns < GATHER_NS ? share_ns : GATHER_NS;
}

void crossing_take(struct shore *s, const unsigned char *datagram, uint16_t length) {
    uint64_t soon = real_clock.wall_ns() + gathering_ns(&s->crossing->journey->plan.path);
    pipe_write_datagram(&s->in, datagram, length); /* without room it is lost, as at any socket */
    s->due_ns = soon < s->due_ns ? soon : s->due_ns;
}

/* The server's come otherwise, since they all have one socket. */
static enum outcome take_datagrams(struct shore *s) {
    unsigned char datagram[DATAGRAM_MOST];
    uint16_t length;
    enum moved in;
    while ((in = datagram_receive(s->socket, datagram, &length, NULL)) == MOVED_SOME)
        crossing_take(s, datagram, length);
    return in == MOVED_BROKEN ? broken(s, in) : OUTCOME_UNDER_WAY;
}

enum outcome crossing_go_on(struct shore *s) {
    begin_turn(s->crossing);
    enum outcome outcome = is_of_datagrams(s->crossing) ? take_datagrams(s) : go_on_stream(s);
    end_turn(s->crossing);
    return outcome;
}

enum outcome crossing_turn(struct shore *s) {
    begin_turn(s->crossing);
    if (s->stage == CROSSING_CONNECTS)
        s->stage = CROSSING_SHAKES_HANDS;
    enum outcome outcome = take_turn(s);
    enum moved out = send_all(s, &outcome);
    s->due_ns = out == MOVED_NOTHING ? real_clock.wall_ns() + SEND_AGAIN_NS
                                     : s->crossing->journey->backend->datagrams->due_ns(s->side);
    end_turn(s->crossing);
    return outcome == OUTCOME_UNDER_WAY && out == MOVED_BROKEN ? broken(s, out) : outcome;
}
