/* Resumption: the session that clients keep, the server's cache and ticket key, early data and anti-replay.
 */
#include "gnutls_backend.h"

#include <string.h>

/* Sessions must not expire in the course of a run; the library allows a week at most. */
enum { LIFETIME_S = 3 * 24 * 3600 };

/* What a server lets pass that it refuses. The library counts whole records there, so there must be room for
 * their overhead: else a refusal would end the handshake, and nobody could tell why. */
enum { EARLY_DATA_ROOM = EARLY_DATA_MAX + 256 };

static bool is_tls_1_3_resumption(const struct tls_case *c) {
    return c->resumption == RESUME_PSK || c->resumption == RESUME_PSK_DHE;
}

static bool uses_tickets(const struct tls_case *c) {
    return c->resumption == RESUME_TICKET || is_tls_1_3_resumption(c);
}

static bool make_anti_replay(struct context *c, struct fault *fault) {
    int code = gnutls_anti_replay_init(&c->anti_replay);
    if (code < 0) {
        c->anti_replay = NULL;
        return gnutls_fault(fault, FAULT_ERROR, "out of memory", code);
    }
    c->replay_store = replay_store_new();
    if (c->replay_store == NULL)
        return fault_set(fault, FAULT_ERROR, "out of memory");
    gnutls_anti_replay_set_window(c->anti_replay, REPLAY_WINDOW_S * 1000);
    gnutls_anti_replay_set_ptr(c->anti_replay, c->replay_store);
    gnutls_anti_replay_set_add_function(c->anti_replay, replay_store_add);
    return true;
}

bool gnutls_make_resumption(struct context *c, struct fault *fault) {
    const struct tls_case *t = &c->tls_case;
    if (t->early_data_bytes > 0 && !t->anti_replay)
        return fault_set(fault, FAULT_UNSUPPORTED, "a GnuTLS server takes early data with anti-replay only");
    if (uses_tickets(t) || t->tickets == TICKETS_DEFAULT) {
        int code = gnutls_session_ticket_key_generate(&c->ticket_key);
        if (code < 0)
            return gnutls_fault(fault, FAULT_ERROR, "no ticket key", code);
    }
    return !t->anti_replay || make_anti_replay(c, fault);
}

/* Flags of gnutls_init. With default settings none: a server without a ticket key issues no tickets anyway.
 */
unsigned gnutls_resumption_flags(const struct context *c) {
    const struct tls_case *t = &c->tls_case;
    unsigned flags = t->early_data_bytes > 0 ? GNUTLS_ENABLE_EARLY_DATA : 0;
    if (is_tls_1_3_resumption(t))
        flags |= GNUTLS_NO_AUTO_SEND_TICKET; /* else there are two after each handshake */
    else if (!uses_tickets(t) && t->tickets == TICKETS_NONE && t->method != METHOD_DEFAULT)
        flags |= GNUTLS_NO_TICKETS;
    return flags;
}

static int copy(gnutls_datum_t *to, const gnutls_datum_t *from) {
    unsigned char *data = gnutls_malloc(from->size);
    if (data == NULL)
        return GNUTLS_E_MEMORY_ERROR;
    memcpy(data, from->data, from->size);
    gnutls_free(to->data);
    *to = (gnutls_datum_t){.data = data, .size = from->size};
    return 0;
}

/* --- The server's cache (TLS 1.2's session IDs). It holds one session: the full handshake at set-up stores
 * it, later ones retrieve it, so that no lock is needed. --- */

static int store_session(void *pointer, gnutls_datum_t id, gnutls_datum_t session) {
    struct context *c = pointer;
    int code = copy(&c->cached_id, &id);
    return code < 0 ? code : copy(&c->cached_session, &session);
}

static gnutls_datum_t retrieve_session(void *pointer, gnutls_datum_t id) {
    const struct context *c = pointer;
    gnutls_datum_t out = {0};
    if (id.size == c->cached_id.size && memcmp(id.data, c->cached_id.data, id.size) == 0)
        (void)copy(&out, &c->cached_session);
    return out;
}

static int no_session_stored(void *pointer, gnutls_datum_t id, gnutls_datum_t session) {
    (void)pointer, (void)id, (void)session;
    return GNUTLS_E_DB_ERROR;
}

static gnutls_datum_t no_session(void *pointer, gnutls_datum_t id) {
    (void)pointer, (void)id;
    return (gnutls_datum_t){0};
}

static int no_session_removed(void *pointer, gnutls_datum_t id) {
    (void)pointer, (void)id;
    return 0;
}

static void open_cache(struct side *side) {
    gnutls_db_set_ptr(side->session, side->context);
    gnutls_db_set_retrieve_function(side->session, side->resumes ? retrieve_session : no_session);
    gnutls_db_set_store_function(side->session, side->resumes ? no_session_stored : store_session);
    gnutls_db_set_remove_function(side->session, no_session_removed);
}

static int open_server(struct side *side) {
    struct context *c = side->context;
    const struct tls_case *t = &c->tls_case;
    gnutls_db_set_cache_expiration(side->session, LIFETIME_S);
    if (t->resumption == RESUME_SESSION_ID)
        open_cache(side);
    if (t->early_data_bytes > 0) {
        int code = gnutls_record_set_max_early_data_size(side->session, EARLY_DATA_ROOM);
        if (code < 0)
            return code;
        gnutls_anti_replay_enable(side->session, c->anti_replay);
        side->takes_early = side->resumes;
    }
    side->issues_ticket = is_tls_1_3_resumption(t) && (!side->resumes || t->anti_replay);
    return uses_tickets(t) ? gnutls_session_ticket_enable_server(side->session, &c->ticket_key) : 0;
}

static int count_ticket(gnutls_session_t session, unsigned type, unsigned when, unsigned incoming,
                        const gnutls_datum_t *message) {
    struct side *side = gnutls_session_get_ptr(session);
    (void)type, (void)when, (void)message;
    side->tickets += incoming != 0;
    return 0;
}

static int open_with_tickets(struct side *side) {
    if (side->role == ROLE_SERVER)
        return gnutls_session_ticket_enable_server(side->session, &side->context->ticket_key);
    gnutls_session_set_ptr(side->session, side);
    gnutls_handshake_set_hook_function(side->session, GNUTLS_HANDSHAKE_NEW_SESSION_TICKET, GNUTLS_HOOK_POST,
                                       count_ticket);
    return 0;
}

int gnutls_resumption_open(struct side *side) {
    struct context *c = side->context;
    if (c->tls_case.tickets == TICKETS_DEFAULT)
        return open_with_tickets(side);
    if (c->tls_case.resumption == RESUME_NONE)
        return 0;
    if (side->role == ROLE_SERVER)
        return open_server(side);
    gnutls_db_set_cache_expiration(side->session, LIFETIME_S);
    if (!side->resumes)
        return 0;
    side->early_to_send = c->tls_case.early_data_bytes;
    return gnutls_session_set_data(side->session, c->kept.data, c->kept.size);
}

/* A TLS 1.3 ticket lies in the pipe until the client reads, and reading then finds no application data. */
static bool read_ticket(struct side *client, struct fault *fault) {
    char unexpected;
    ssize_t code = gnutls_record_recv(client->session, &unexpected, sizeof unexpected);
    if (code != GNUTLS_E_AGAIN)
        return code >= 0 ? fault_set(fault, FAULT_ERROR, "the server sent application data")
                         : gnutls_fault(fault, FAULT_ERROR, "the client can't read a ticket", (int)code);
    return true;
}

bool gnutls_keep_session(struct side *client, struct fault *fault) {
    struct context *c = client->context;
    gnutls_datum_t session = {0};
    if (uses_tickets(&c->tls_case) &&
        !(gnutls_session_get_flags(client->session) & GNUTLS_SFLAGS_SESSION_TICKET))
        return fault_set(fault, FAULT_ERROR, "the server issued no ticket");
    int code = gnutls_session_get_data2(client->session, &session);
    if (code < 0)
        return gnutls_fault(fault, FAULT_ERROR, "the client's session can't be kept", code);
    gnutls_free(c->kept.data);
    c->kept = session;
    return true;
}

bool gnutls_keep(struct side *client, struct fault *fault) {
    return (!is_tls_1_3_resumption(&client->context->tls_case) || read_ticket(client, fault)) &&
           gnutls_keep_session(client, fault);
}
