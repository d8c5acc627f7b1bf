/* The turns of a pair, and the proof that they made the handshake which the case asks for. */
#include "pair.h"

#include <stdlib.h>

const char *role_name(enum role role) {
    return role == ROLE_CLIENT ? "client" : "server";
}

/* Only these need the bytes as a witness; reading along costs a copy in the timed turns. */
static bool wire_is_evidence(const struct tls_case *c) {
    return c->hello_retry || c->resumption == RESUME_PSK || c->resumption == RESUME_PSK_DHE;
}

struct pair *pair_new(const struct backend *backend, struct context *context, const struct tls_case *tls_case,
                      bool reads_along) {
    struct pair *pair = calloc(1, sizeof *pair);
    if (pair == NULL)
        return NULL;
    pair->backend = backend;
    pair->context = context;
    pair->tls_case = tls_case;
    if (reads_along)
        pair->sent[ROLE_CLIENT].wire = &pair->wires[ROLE_CLIENT];
    if (reads_along || wire_is_evidence(tls_case))
        pair->sent[ROLE_SERVER].wire = &pair->wires[ROLE_SERVER];
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
    }
    for (enum role role = ROLE_CLIENT; role <= ROLE_SERVER; role++) {
        if (!done[role])
            return fault_set(fault, FAULT_ERROR, "no progress: the %s was not done after %d turns",
                             role_name(role), TURNS_MAX);
        spans->bytes[role] += pair->sent[role].written;
    }
    return true;
}

/* The wire's two facts (wire.h). What a ServerHello does not show in this version of TLS proves nothing. */
static bool prove_wire(const struct wire *wire, const struct tls_case *c, const struct negotiated *wanted,
                       struct negotiated *out, struct fault *fault) {
    struct server_hello hello;
    if (wire == NULL || wire->head_length == 0)
        return true;
    if (!wire_server_hello(wire, &hello))
        return fault_set(fault, FAULT_ERROR, "the server's first message is no ServerHello");
    out->hello_retry = hello.hello_retry;
    if (!wanted->resumed || (c->resumption != RESUME_PSK && c->resumption != RESUME_PSK_DHE))
        return true;
    bool key_share = c->resumption == RESUME_PSK_DHE;
    if (!hello.pre_shared_key)
        return fault_set(fault, FAULT_MISMATCH,
                         "resumed: wanted true, the ServerHello takes no pre-shared key");
    if (hello.key_share != key_share)
        return fault_set(fault, FAULT_MISMATCH, "key_share: wanted %s, the ServerHello has %s",
                         key_share ? "one" : "none", hello.key_share ? "one" : "none");
    return true;
}

bool prove_side(const struct backend *backend, struct side *side, enum role role, const struct wire *wire,
                const struct tls_case *tls_case, const struct negotiated *wanted, struct negotiated *out,
                struct fault *fault) {
    *out =
        (struct negotiated){.chain_length = -1, .ocsp_bytes = -1, .early_data_bytes = -1, .hello_retry = -1};
    if (!backend->inspect(side, out, fault))
        return false;
    out->hello_retry = -1; /* the wire's word alone */
    if (role == ROLE_CLIENT) {
        if (!prove_wire(wire, tls_case, wanted, out, fault))
            return false;
        if (out->protocol == NULL || out->cipher == NULL || out->group == NULL || out->signature == NULL)
            return fault_set(fault, FAULT_ERROR, "the client can't tell what it negotiated");
    }
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
    if (client.early_data_bytes < 0)
        client.early_data_bytes = server->early_data_bytes;
    return client;
}

/* Both views are compared with the case, so a field that one side can't tell is still proven by the other. */
bool pair_prove(struct pair *pair, const struct negotiated *wanted, struct negotiated *seen,
                struct fault *fault) {
    struct negotiated views[ROLES];
    const struct wire *wire = pair->sent[ROLE_SERVER].wire;
    for (enum role role = ROLE_CLIENT; role <= ROLE_SERVER; role++) {
        if (!prove_side(pair->backend, pair->sides[role], role, wire, pair->tls_case, wanted, &views[role],
                        fault))
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
