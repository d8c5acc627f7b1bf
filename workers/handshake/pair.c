/* The turns of a pair, and the proof that they made the handshake which the case asks for. */
#include "pair.h"

#include <stdlib.h>
#include <string.h>

const char *role_name(enum role role) {
    return role == ROLE_CLIENT ? "client" : "server";
}

struct pair *pair_new(const struct backend *backend, struct context *context, const struct tls_case *tls_case,
                      bool counts_records) {
    struct pair *pair = calloc(1, sizeof *pair);
    if (pair == NULL)
        return NULL;
    pair->backend = backend;
    pair->context = context;
    pair->tls_case = tls_case;
    for (enum role role = ROLE_CLIENT; role <= ROLE_SERVER; role++) {
        pair->wires[role].counts_records = counts_records;
        pair->wires[role].reads_dtls = case_is_dtls(tls_case);
        pair->sent[role].wire = &pair->wires[role];
    }
    if (tls_case->transfer_bytes == 0)
        return pair;
    pair->content = malloc(TRANSFER_TURN_BYTES);
    pair->received = malloc(TRANSFER_TURN_BYTES);
    if (pair->content == NULL || pair->received == NULL) {
        pair_free(pair);
        return NULL;
    }
    for (size_t i = 0; i < TRANSFER_TURN_BYTES; i++)
        pair->content[i] = (unsigned char)(i % 251); /* a prime: no two records of a turn are alike */
    return pair;
}

void pair_free(struct pair *pair) {
    if (pair == NULL)
        return;
    free(pair->content);
    free(pair->received);
    free(pair);
}

static void enter(struct pair *pair, enum role role, enum phase phase) {
    if (pair->observer != NULL)
        pair->observer->enter(pair->observer, role, phase);
}

static void leave(struct pair *pair, enum role role, enum phase phase) {
    if (pair->observer != NULL)
        pair->observer->leave(pair->observer, role, phase);
}

static uint64_t ticks(const struct pair *pair, bool timed) {
    return timed ? pair->backend->clock->ticks() : 0;
}

/* Functions below which a profiler counts. The asm statements keep the compiler from merging them, and from
 * leaving them before the library returns. */
__attribute__((noinline)) enum progress client_turn(const struct backend *backend, struct side *client,
                                                    struct fault *fault) {
    enum progress progress = backend->step(client, fault);
    __asm__ volatile("# client");
    return progress;
}

__attribute__((noinline)) enum progress server_turn(const struct backend *backend, struct side *server,
                                                    struct fault *fault) {
    enum progress progress = backend->step(server, fault);
    __asm__ volatile("# server");
    return progress;
}

__attribute__((noinline)) struct side *make_objects(const struct pair *pair, enum role role,
                                                    struct pipe_end pipes, bool resume, struct fault *fault) {
    const unsigned every = role == ROLE_SERVER ? pair->tls_case->reload_every : 0;
    bool due = every != 0 && pair->opened > 0 && pair->opened % every == 0;
    bool good = !due || pair->backend->reload(pair->context, fault);
    struct side *side = good ? pair->backend->open(pair->context, role, pipes, resume, fault) : NULL;
    bool asks = side != NULL && role == ROLE_CLIENT && pair->asked[0] != '\0';
    if (asks && !pair->backend->ask(side, pair->asked, fault)) {
        pair->backend->close(side);
        side = NULL;
    }
    __asm__ volatile("# make");
    return side;
}

__attribute__((noinline)) void free_objects(const struct backend *backend, struct side *side) {
    backend->close(side);
    __asm__ volatile("# free");
}

bool pair_open(struct pair *pair, bool resume, bool timed, struct spans *spans, struct fault *fault) {
    const unsigned names = pair->tls_case->server_names;
    if (names > 1)
        server_name_write(server_name_asked(pair->opened, names), pair->asked);
    for (enum role role = ROLE_CLIENT; role <= ROLE_SERVER; role++) {
        struct pipe_end end = {.in = &pair->sent[1 - role], .out = &pair->sent[role]};
        pipe_reset(&pair->sent[role]);
        enter(pair, role, PHASE_OPEN);
        uint64_t before = ticks(pair, timed);
        pair->sides[role] = make_objects(pair, role, end, resume, fault);
        spans->ticks[SPAN_OBJECTS][role] += ticks(pair, timed) - before;
        leave(pair, role, PHASE_OPEN);
        if (pair->sides[role] == NULL) {
            pair_close(pair, false, spans);
            return false;
        }
    }
    pair->opened++;
    return true;
}

void pair_close(struct pair *pair, bool timed, struct spans *spans) {
    for (enum role role = ROLE_CLIENT; role <= ROLE_SERVER; role++) {
        if (pair->sides[role] == NULL)
            continue;
        enter(pair, role, PHASE_CLOSE);
        uint64_t before = ticks(pair, timed);
        free_objects(pair->backend, pair->sides[role]);
        spans->ticks[SPAN_OBJECTS][role] += ticks(pair, timed) - before;
        leave(pair, role, PHASE_CLOSE);
        pair->sides[role] = NULL;
    }
}

/* A TLS 1.3 server's tickets lie in the pipe until the client reads, as it does first of all when it waits
 * for application data. */
static bool read_tickets(struct pair *pair, bool timed, struct spans *spans, struct fault *fault) {
    const struct pipe *from = &pair->sent[ROLE_SERVER];
    enter(pair, ROLE_CLIENT, PHASE_STEP);
    uint64_t before = ticks(pair, timed);
    long received = 0;
    for (unsigned turn = 0; turn < TURNS_MAX && received == 0 && pipe_pending(from) > 0; turn++) {
        unsigned char unexpected;
        received = pair->backend->receive(pair->sides[ROLE_CLIENT], &unexpected, 1, fault);
    }
    spans->ticks[SPAN_HANDSHAKE][ROLE_CLIENT] += ticks(pair, timed) - before;
    leave(pair, ROLE_CLIENT, PHASE_STEP);
    if (received < 0)
        return false;
    return (received == 0 && pipe_pending(from) == 0) ||
           fault_set(fault, FAULT_ERROR, "the client did not take in the server's tickets");
}

static enum progress take_turn(const struct pair *pair, enum role role, struct fault *fault) {
    if (pair->uncounted)
        return pair->backend->step(pair->sides[role], fault);
    return role == ROLE_CLIENT ? client_turn(pair->backend, pair->sides[role], fault)
                               : server_turn(pair->backend, pair->sides[role], fault);
}

bool pair_turns(struct pair *pair, bool timed, struct spans *spans, struct fault *fault) {
    const struct backend *b = pair->backend;
    bool done[ROLES] = {false, false};
    const struct wire *sent = &pair->wires[ROLE_SERVER];
    uint64_t records_before = 0;
    pair->tickets = -1;
    uint64_t before = timed ? b->clock->ticks() : 0;
    for (unsigned turn = 0; turn < TURNS_MAX && !(done[ROLE_CLIENT] && done[ROLE_SERVER]); turn++) {
        enum role role = turn % 2 == 0 ? ROLE_CLIENT : ROLE_SERVER;
        if (done[role])
            continue;
        enter(pair, role, PHASE_STEP);
        enum progress progress = take_turn(pair, role, fault);
        leave(pair, role, PHASE_STEP);
        if (timed) {
            uint64_t after = b->clock->ticks();
            spans->ticks[SPAN_HANDSHAKE][role] += after - before;
            before = after;
        }
        if (progress == PROGRESS_FAILED)
            return false;
        done[role] = progress == PROGRESS_DONE;
        if (role == ROLE_CLIENT && !done[role])
            spans->round_trips++;
        /* A TLS 1.3 client is done first: what the server has yet to send are its tickets. */
        if (done[role] && !done[1 - role])
            records_before = sent->records;
        else if (done[role] && role == ROLE_SERVER && sent->counts_records)
            pair->tickets = (int)(sent->records - records_before);
    }
    for (enum role role = ROLE_CLIENT; role <= ROLE_SERVER; role++) {
        if (!done[role])
            return fault_set(fault, FAULT_ERROR, "no progress: the %s was not done after %d turns",
                             role_name(role), TURNS_MAX);
        spans->bytes[role] += pair->sent[role].written;
        spans->records[role] += pair->wires[role].records;
    }
    return pair->tls_case->tickets != TICKETS_DEFAULT || read_tickets(pair, timed, spans, fault);
}

/* --- Application data, from the server to the client, and the end of the connection. --- */

static bool send_turn(struct pair *pair, size_t bytes, bool timed, struct spans *spans, struct fault *fault) {
    size_t sent = 0;
    enter(pair, ROLE_SERVER, PHASE_TRANSFER);
    uint64_t before = ticks(pair, timed);
    while (sent < bytes) {
        long taken = pair->backend->send(pair->sides[ROLE_SERVER], pair->content + sent, bytes - sent, fault);
        if (taken == 0)
            fault_set(fault, FAULT_ERROR, "the server could not send its data");
        if (taken <= 0)
            return false;
        sent += (size_t)taken;
    }
    spans->ticks[SPAN_TRANSFER][ROLE_SERVER] += ticks(pair, timed) - before;
    leave(pair, ROLE_SERVER, PHASE_TRANSFER);
    return true;
}

static bool receive_turn(struct pair *pair, size_t bytes, bool timed, struct spans *spans,
                         struct fault *fault) {
    size_t received = 0;
    enter(pair, ROLE_CLIENT, PHASE_TRANSFER);
    uint64_t before = ticks(pair, timed);
    /* Nothing may come where a library takes in something else than data, such as a ticket. */
    for (unsigned idle = 0; received < bytes && idle < TURNS_MAX;) {
        long given = pair->backend->receive(pair->sides[ROLE_CLIENT], pair->received + received,
                                            bytes - received, fault);
        if (given < 0)
            return false;
        idle += given == 0;
        received += (size_t)given;
    }
    spans->ticks[SPAN_TRANSFER][ROLE_CLIENT] += ticks(pair, timed) - before;
    leave(pair, ROLE_CLIENT, PHASE_TRANSFER);
    return (received == bytes && memcmp(pair->received, pair->content, bytes) == 0) ||
           fault_set(fault, FAULT_MISMATCH, "transfer: the client did not receive what the server sent");
}

static bool finish(struct pair *pair, bool timed, struct spans *spans, struct fault *fault) {
    bool done[ROLES] = {false, false};
    for (unsigned turn = 0; turn < TURNS_MAX && !(done[ROLE_CLIENT] && done[ROLE_SERVER]); turn++) {
        enum role role = turn % 2 == 0 ? ROLE_SERVER : ROLE_CLIENT; /* who sent last closes first */
        if (done[role])
            continue;
        enter(pair, role, PHASE_FINISH);
        uint64_t before = ticks(pair, timed);
        enum progress progress = pair->backend->finish(pair->sides[role], fault);
        spans->ticks[SPAN_FINISH][role] += ticks(pair, timed) - before;
        leave(pair, role, PHASE_FINISH);
        if (progress == PROGRESS_FAILED)
            return false;
        done[role] = progress == PROGRESS_DONE;
    }
    return (done[ROLE_CLIENT] && done[ROLE_SERVER]) ||
           fault_set(fault, FAULT_ERROR, "the connection was not closed after %d turns", TURNS_MAX);
}

/* So many records as the data needs, the largest of the size that the data needs; what encryption adds to
 * each is less than 256 bytes (RFC 8446, section 5.2). */
static bool prove_records(const struct pair *pair, uint64_t records, struct fault *fault) {
    const struct wire *wire = &pair->wires[ROLE_SERVER];
    size_t bytes = pair->tls_case->transfer_bytes, largest = bytes < RECORD_MAX ? bytes : RECORD_MAX;
    uint64_t wanted = (bytes + RECORD_MAX - 1) / RECORD_MAX;
    if (records != wanted)
        return fault_set(fault, FAULT_MISMATCH, "transfer_records: wanted %llu, the server sent %llu",
                         (unsigned long long)wanted, (unsigned long long)records);
    return (wire->largest_record > largest && wire->largest_record < largest + 256) ||
           fault_set(fault, FAULT_MISMATCH, "transfer_records: wanted one of %zu bytes, the largest has %zu",
                     largest, wire->largest_record);
}

bool pair_transfer(struct pair *pair, bool timed, struct spans *spans, struct negotiated *seen,
                   struct fault *fault) {
    struct wire *wire = &pair->wires[ROLE_SERVER];
    uint64_t records = wire->records;
    size_t left = pair->tls_case->transfer_bytes;
    wire->largest_record = 0;
    if (left == 0)
        return true;
    while (left > 0) {
        size_t bytes = left < TRANSFER_TURN_BYTES ? left : TRANSFER_TURN_BYTES;
        if (!send_turn(pair, bytes, timed, spans, fault) || !receive_turn(pair, bytes, timed, spans, fault))
            return false;
        left -= bytes;
    }
    records = wire->records - records;
    if (wire->counts_records && !prove_records(pair, records, fault))
        return false;
    if (seen != NULL) {
        seen->transferred_bytes = (long)pair->tls_case->transfer_bytes;
        seen->transfer_records = wire->counts_records ? (int)records : -1;
    }
    return finish(pair, timed, spans, fault);
}

/* TLS 1.2: the server has no other way to resume than the one that the client asks for. Its session id it
 * echoes in both (RFC 5077, section 3.4). With a ticket it may be empty, and then the next message tells. */
static bool prove_session(const struct client_hello *client, const struct server_hello *server, bool ticket,
                          struct fault *fault) {
    const struct session_id *asked = &client->session_id, *echoed = &server->session_id;
    if (client->ticket != ticket)
        return fault_set(fault, FAULT_MISMATCH, "resumption: wanted %s, the ClientHello has %s",
                         ticket ? "ticket" : "session-id", client->ticket ? "a ticket" : "no ticket");
    if (ticket && asked->length == 0)
        return server->resumes || fault_set(fault, FAULT_MISMATCH,
                                            "resumed: wanted true, a full handshake follows the ServerHello");
    if (asked->length == 0 || asked->length != echoed->length ||
        memcmp(asked->bytes, echoed->bytes, asked->length) != 0)
        return fault_set(fault, FAULT_MISMATCH,
                         "resumed: wanted true, the ServerHello has not the ClientHello's session id");
    return true;
}

static bool prove_psk(const struct server_hello *server, bool key_share, struct fault *fault) {
    if (!server->pre_shared_key)
        return fault_set(fault, FAULT_MISMATCH, "pre_shared_key: wanted one, the ServerHello takes none");
    if (server->key_share != key_share)
        return fault_set(fault, FAULT_MISMATCH, "key_share: wanted %s, the ServerHello has %s",
                         key_share ? "one" : "none", server->key_share ? "one" : "none");
    return true;
}

static bool is_1_2(const char *protocol) {
    return strcmp(protocol, protocol_name(TLS_1_2)) == 0 || strcmp(protocol, protocol_name(DTLS_1_2)) == 0;
}

/* An external key has a name in the clear, where a resumption has a ticket. TLS 1.2 has it in a later
 * message, which backends compare. */
static bool prove_external(const struct tls_case *c, const struct client_hello *client,
                           const struct server_hello *server, struct fault *fault) {
    const struct session_id *named = &client->psk_identity;
    if (named->length != strlen(PSK_IDENTITY) || memcmp(named->bytes, PSK_IDENTITY, named->length) != 0)
        return fault_set(fault, FAULT_MISMATCH, "psk_identity: wanted %s, the ClientHello has %s",
                         PSK_IDENTITY, named->length == 0 ? "none" : "another");
    return prove_psk(server, c->method != METHOD_PSK, fault);
}

/* What the bytes prove (wire.h). */
static bool prove_wire(const struct evidence *evidence, const struct tls_case *c,
                       const struct negotiated *wanted, struct negotiated *out, struct fault *fault) {
    struct client_hello client;
    struct server_hello server;
    if (c->protocol == BFE_0RTT)
        return true;
    if (!wire_client_hello(&evidence->wires[ROLE_CLIENT], &client))
        return fault_set(fault, FAULT_ERROR, "the client's first message is no ClientHello");
    if (!wire_server_hello(&evidence->wires[ROLE_SERVER], &server))
        return fault_set(fault, FAULT_ERROR, "the server's first message is no ServerHello");
    if (case_is_dtls(c) && !server.cookie)
        return fault_set(fault, FAULT_MISMATCH, "cookie: wanted one, the server asked for none");
    out->hello_retry = server.hello_retry;
    if (out->protocol != NULL && is_1_2(out->protocol)) {
        out->encrypt_then_mac = server.encrypt_then_mac;
        if (out->extended_master_secret < 0) /* the library does not tell; a server agrees by its hello */
            out->extended_master_secret = server.extended_master_secret;
    }
    out->key_shares = (int)client.key_shares;
    if (out->protocol != NULL && strcmp(out->protocol, protocol_name(TLS_1_3)) == 0)
        out->tickets = evidence->tickets;
    if (case_has_psk(c) && case_has_tls_1_3(c))
        return prove_external(c, &client, &server, fault);
    if (!wanted->resumed)
        return true;
    if (case_has_tls_1_2(c) && evidence->wires[ROLE_SERVER].counts_records)
        out->tickets = server.new_ticket;
    if (case_has_tls_1_2(c))
        return prove_session(&client, &server, c->resumption == RESUME_TICKET, fault);
    return prove_psk(&server, c->resumption == RESUME_PSK_DHE, fault);
}

bool prove_side(const struct backend *backend, struct side *side, enum role role, struct evidence evidence,
                const struct tls_case *tls_case, const struct negotiated *wanted, struct negotiated *out,
                struct fault *fault) {
    *out = (struct negotiated){.extended_master_secret = -1,
                               .encrypt_then_mac = -1,
                               .chain_length = -1,
                               .ocsp_bytes = -1,
                               .early_data_bytes = -1,
                               .verified_length = -1,
                               .client_verified_length = -1,
                               .transferred_bytes = 0,
                               .transfer_records = 0};
    bool default_tickets = tls_case->tickets == TICKETS_DEFAULT;
    if (!backend->inspect(side, out, fault))
        return false;
    int by_library = out->tickets, taken_in = default_tickets && role == ROLE_CLIENT ? by_library : -1;
    int issued = !default_tickets && role == ROLE_SERVER ? by_library : -1;
    out->hello_retry = out->key_shares = out->tickets = out->encrypt_then_mac =
        -1; /* the wire's word alone */
    if (!prove_wire(&evidence, tls_case, wanted, out, fault))
        return false;
    bool early_tickets = out->protocol != NULL && strcmp(out->protocol, protocol_name(TLS_1_3)) == 0 &&
                         backend->traits != NULL && backend->traits->early_tickets;
    if (out->tickets >= 0 && early_tickets)
        out->tickets = by_library;
    if (issued > 0 && out->tickets > 0) /* several may be in one record */
        out->tickets = issued;
    if (default_tickets) /* the wire can't count those that come before the client's Finished */
        out->tickets = taken_in;
    if (taken_in == 0)
        return fault_set(fault, FAULT_MISMATCH, "tickets: wanted the library's default, the client got 0");
    if (role == ROLE_CLIENT && (out->protocol == NULL || out->cipher == NULL || out->group == NULL))
        return fault_set(fault, FAULT_ERROR, "the client can't tell what it negotiated");
    if (role == ROLE_CLIENT && evidence.alone && out->signature == NULL)
        return fault_set(fault, FAULT_UNSUPPORTED, "the client alone can't tell what its server signed with");
    if (role == ROLE_SERVER && evidence.alone && wanted->client_signature != NULL &&
        out->client_signature == NULL)
        return fault_set(fault, FAULT_UNSUPPORTED, "the server alone can't tell what its client signed with");
    struct negotiated fitting = *wanted;
    if (out->resumed && early_tickets)
        fitting.tickets = -1; /* there is no setting against the one that a resumption brings */
    return negotiated_matches(&fitting, out, role_name(role), fault);
}

/* What one side can't tell is the other's to tell. */
static struct negotiated merged(struct negotiated client, const struct negotiated *server) {
    if (client.peer_key == NULL) {
        client.peer_key = server->peer_key;
        client.peer_key_bits = server->peer_key_bits;
    }
    if (client.signature == NULL)
        client.signature = server->signature;
    if (server->client_key != NULL)
        client.client_key = server->client_key;
    if (server->client_signature != NULL)
        client.client_signature = server->client_signature;
    if (client.early_data_bytes < 0)
        client.early_data_bytes = server->early_data_bytes;
    client.client_verified_length = server->client_verified_length;
    client.server_name = server->server_name;
    if (server->tickets > client.tickets)
        client.tickets = server->tickets;
    return client;
}

/* What the client asked for, by the bytes, and whose configuration the server took, by its library. */
static bool prove_name(const struct pair *pair, const char *served, struct fault *fault) {
    const char *wanted = pair->asked;
    struct client_hello hello;
    if (wanted[0] == '\0')
        return true;
    if (!wire_client_hello(&pair->wires[ROLE_CLIENT], &hello))
        return fault_set(fault, FAULT_ERROR, "the client's first message is no ClientHello");
    const struct session_id *named = &hello.server_name;
    if (named->length != strlen(wanted) || memcmp(named->bytes, wanted, named->length) != 0)
        return fault_set(fault, FAULT_MISMATCH, "server_name: wanted %s, the ClientHello has %s", wanted,
                         named->length == 0 ? "none" : "another");
    return (served != NULL && strcmp(served, wanted) == 0) ||
           fault_set(fault, FAULT_MISMATCH, "server_name: wanted %s, the server took the configuration of %s",
                     wanted, served == NULL ? "none" : served);
}

/* Both views are compared with the case, so a field that one side can't tell is still proven by the other. */
bool pair_prove(struct pair *pair, const struct negotiated *wanted, struct negotiated *seen,
                struct fault *fault) {
    struct negotiated views[ROLES];
    struct evidence evidence = {pair->wires, false, pair->tickets};
    for (enum role role = ROLE_CLIENT; role <= ROLE_SERVER; role++) {
        if (!prove_side(pair->backend, pair->sides[role], role, evidence, pair->tls_case, wanted,
                        &views[role], fault))
            return false;
    }
    struct negotiated both = merged(views[ROLE_CLIENT], &views[ROLE_SERVER]);
    if (both.signature == NULL)
        return fault_set(fault, FAULT_ERROR, "neither side can tell what the server signed with");
    if (wanted->client_signature != NULL && both.client_signature == NULL)
        return fault_set(fault, FAULT_ERROR, "neither side can tell what the client signed with");
    if (seen != NULL)
        *seen = both;
    return prove_name(pair, views[ROLE_SERVER].server_name, fault);
}

bool pair_connection(struct pair *pair, const struct negotiated *wanted, bool timed, struct spans *spans,
                     struct negotiated *seen, struct fault *fault) {
    if (!pair_open(pair, wanted->resumed, timed, spans, fault))
        return false;
    bool proven = pair_turns(pair, timed, spans, fault) && pair_prove(pair, wanted, seen, fault) &&
                  pair_transfer(pair, timed, spans, seen, fault);
    /* With anti-replay a session is used once: the next handshake needs the ticket that came with this one.
     */
    if (proven && pair->tls_case->anti_replay)
        proven = pair->backend->keep(pair->sides[ROLE_CLIENT], fault);
    pair_close(pair, timed, spans);
    return proven;
}
