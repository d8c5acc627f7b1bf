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
        pair->sent[role].wire = &pair->wires[role];
    }
    return pair;
}

void pair_free(struct pair *pair) {
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

bool pair_open(struct pair *pair, bool resume, struct fault *fault) {
    for (enum role role = ROLE_CLIENT; role <= ROLE_SERVER; role++) {
        struct pipe_end end = {.in = &pair->sent[1 - role], .out = &pair->sent[role]};
        pipe_reset(&pair->sent[role]);
        enter(pair, role, PHASE_OPEN);
        pair->sides[role] = pair->backend->open(pair->context, role, end, resume, fault);
        leave(pair, role, PHASE_OPEN);
        if (pair->sides[role] == NULL) {
            pair_close(pair);
            return false;
        }
    }
    return true;
}

void pair_close(struct pair *pair) {
    for (enum role role = ROLE_CLIENT; role <= ROLE_SERVER; role++) {
        if (pair->sides[role] == NULL)
            continue;
        enter(pair, role, PHASE_CLOSE);
        pair->backend->close(pair->sides[role]);
        leave(pair, role, PHASE_CLOSE);
        pair->sides[role] = NULL;
    }
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
        enum progress progress = b->step(pair->sides[role], fault);
        leave(pair, role, PHASE_STEP);
        if (timed) {
            uint64_t after = b->clock->ticks();
            spans->ticks[role] += after - before;
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
    }
    return true;
}

/* TLS 1.2: the server has no other way to resume than the one that the client asks for. Its session id it
 * echoes in both (RFC 5077, section 3.4). */
static bool prove_session(const struct client_hello *client, const struct server_hello *server, bool ticket,
                          struct fault *fault) {
    const struct session_id *asked = &client->session_id, *echoed = &server->session_id;
    if (client->ticket != ticket)
        return fault_set(fault, FAULT_MISMATCH, "resumption: wanted %s, the ClientHello has %s",
                         ticket ? "ticket" : "session-id", client->ticket ? "a ticket" : "no ticket");
    if (asked->length == 0 || asked->length != echoed->length ||
        memcmp(asked->bytes, echoed->bytes, asked->length) != 0)
        return fault_set(fault, FAULT_MISMATCH,
                         "resumed: wanted true, the ServerHello has not the ClientHello's session id");
    return true;
}

static bool prove_psk(const struct server_hello *server, bool key_share, struct fault *fault) {
    if (!server->pre_shared_key)
        return fault_set(fault, FAULT_MISMATCH,
                         "resumed: wanted true, the ServerHello takes no pre-shared key");
    if (server->key_share != key_share)
        return fault_set(fault, FAULT_MISMATCH, "key_share: wanted %s, the ServerHello has %s",
                         key_share ? "one" : "none", server->key_share ? "one" : "none");
    return true;
}

/* What the bytes prove (wire.h). */
static bool prove_wire(const struct evidence *evidence, const struct tls_case *c,
                       const struct negotiated *wanted, struct negotiated *out, struct fault *fault) {
    struct client_hello client;
    struct server_hello server;
    if (!wire_client_hello(&evidence->wires[ROLE_CLIENT], &client))
        return fault_set(fault, FAULT_ERROR, "the client's first message is no ClientHello");
    if (!wire_server_hello(&evidence->wires[ROLE_SERVER], &server))
        return fault_set(fault, FAULT_ERROR, "the server's first message is no ServerHello");
    out->hello_retry = server.hello_retry;
    out->key_shares = (int)client.key_shares;
    if (out->protocol != NULL && strcmp(out->protocol, protocol_name(TLS_1_3)) == 0)
        out->tickets = evidence->tickets;
    if (!wanted->resumed)
        return true;
    if (c->protocol == TLS_1_2)
        return prove_session(&client, &server, c->resumption == RESUME_TICKET, fault);
    return prove_psk(&server, c->resumption == RESUME_PSK_DHE, fault);
}

bool prove_side(const struct backend *backend, struct side *side, enum role role, struct evidence evidence,
                const struct tls_case *tls_case, const struct negotiated *wanted, struct negotiated *out,
                struct fault *fault) {
    *out = (struct negotiated){
        .extended_master_secret = -1, .chain_length = -1, .ocsp_bytes = -1, .early_data_bytes = -1};
    if (!backend->inspect(side, out, fault))
        return false;
    out->hello_retry = out->key_shares = out->tickets = -1; /* the wire's word alone */
    if (!prove_wire(&evidence, tls_case, wanted, out, fault))
        return false;
    if (role == ROLE_CLIENT &&
        (out->protocol == NULL || out->cipher == NULL || out->group == NULL || out->signature == NULL))
        return fault_set(fault, FAULT_ERROR, "the client can't tell what it negotiated");
    return negotiated_matches(wanted, out, role_name(role), fault);
}

/* What one side can't tell is the other's to tell. */
static struct negotiated merged(struct negotiated client, const struct negotiated *server) {
    if (client.peer_key == NULL) {
        client.peer_key = server->peer_key;
        client.peer_key_bits = server->peer_key_bits;
    }
    if (server->client_key != NULL)
        client.client_key = server->client_key;
    if (server->client_signature != NULL)
        client.client_signature = server->client_signature;
    if (client.early_data_bytes < 0)
        client.early_data_bytes = server->early_data_bytes;
    return client;
}

/* Both views are compared with the case, so a field that one side can't tell is still proven by the other. */
bool pair_prove(struct pair *pair, const struct negotiated *wanted, struct negotiated *seen,
                struct fault *fault) {
    struct negotiated views[ROLES];
    struct evidence evidence = {pair->wires, pair->tickets};
    for (enum role role = ROLE_CLIENT; role <= ROLE_SERVER; role++) {
        if (!prove_side(pair->backend, pair->sides[role], role, evidence, pair->tls_case, wanted,
                        &views[role], fault))
            return false;
    }
    if (seen != NULL)
        *seen = merged(views[ROLE_CLIENT], &views[ROLE_SERVER]);
    return true;
}

bool pair_handshake(struct pair *pair, const struct negotiated *wanted, bool timed, struct spans *spans,
                    struct negotiated *seen, struct fault *fault) {
    if (!pair_open(pair, wanted->resumed, fault))
        return false;
    bool proven = pair_turns(pair, timed, spans, fault) && pair_prove(pair, wanted, seen, fault);
    /* With anti-replay a session is used once: the next handshake needs the ticket that came with this one.
     */
    if (proven && pair->tls_case->anti_replay)
        proven = pair->backend->keep(pair->sides[ROLE_CLIENT], fault);
    pair_close(pair);
    return proven;
}
