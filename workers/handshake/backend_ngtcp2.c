/* The QUIC backend: a context's and a side's life, its turns, and what was negotiated (ngtcp2_backend.h). */
#include "ngtcp2_backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* QUIC demands one (RFC 9001, section 8.1). */
static const gnutls_datum_t application = {.data = (unsigned char *)"kexbench", .size = 8};

static bool start(const char *settings, struct fault *fault) {
    (void)settings;
    for (size_t i = 0; i < sizeof quic_early_data; i++)
        quic_early_data[i] = (unsigned char)(i % 251); /* a prime: no two packets are alike */
    return gnutls_start(fault);
}

static const char *version(void) {
    return ngtcp2_version(0)->version_str; /* the library that runs, not the header */
}

static const char *version_text(void) {
    static char text[96];
    snprintf(text, sizeof text, "ngtcp2 %s, GnuTLS %s", version(), gnutls_check_version(NULL));
    return text;
}

/* --- The context. --- */

static void teardown(struct context *context) {
    gnutls_context_clear(context);
    free(context);
}

static struct context *setup(const struct tls_case *tls_case, const char *material, struct fault *fault) {
    struct quic_context *c = NULL;
    if (tls_case->protocol != QUIC_V1)
        fault_set(fault, FAULT_UNSUPPORTED, "this library's backend has no %s",
                  protocol_name(tls_case->protocol));
    else if (tls_case->early_data_bytes > EARLY_WINDOW_BYTES)
        fault_set(fault, FAULT_UNSUPPORTED, "a first congestion window has room for %d bytes of early data",
                  EARLY_WINDOW_BYTES);
    else if ((c = calloc(1, sizeof *c)) == NULL)
        fault_set(fault, FAULT_ERROR, "out of memory");
    if (c == NULL)
        return NULL;
    if (gnutls_context_fill(&c->tls, tls_case, material, fault))
        return &c->tls;
    teardown(&c->tls);
    return NULL;
}

/* --- A side. --- */

static void close_side(struct side *tls) {
    struct quic_side *side = (struct quic_side *)tls;
    ngtcp2_conn_del(side->connection);
    gnutls_session_close(tls);
    free(side->came);
    free(side);
}

static int count_ticket(gnutls_session_t session, unsigned type, unsigned when, unsigned incoming,
                        const gnutls_datum_t *message) {
    ngtcp2_crypto_conn_ref *reference = gnutls_session_get_ptr(session);
    struct quic_side *side = reference->user_data;
    (void)type, (void)when, (void)message;
    side->tls.tickets += incoming != 0;
    return 0;
}

static bool configure(struct quic_side *side, struct fault *fault) {
    gnutls_session_t session = side->tls.session;
    bool is_client = side->tls.role == ROLE_CLIENT;
    int code = gnutls_alpn_set_protocols(session, &application, 1, GNUTLS_ALPN_MANDATORY);
    if (code >= 0 && !is_client && side->tls.takes_early) /* RFC 9001, section 4.6.1 */
        code = gnutls_record_set_max_early_data_size(session, UINT32_MAX);
    if (code < 0)
        return gnutls_fault(fault, FAULT_ERROR, "no session", code);
    if (!is_client)
        return ngtcp2_crypto_gnutls_configure_server_session(session) == 0 ||
               fault_set(fault, FAULT_ERROR, "the server's session does not take QUIC");
    gnutls_handshake_set_hook_function(session, GNUTLS_HANDSHAKE_NEW_SESSION_TICKET, GNUTLS_HOOK_POST,
                                       count_ticket);
    if (ngtcp2_crypto_gnutls_configure_client_session(session) != 0)
        return fault_set(fault, FAULT_ERROR, "the client's session does not take QUIC");
    return quic_open_client(side, fault);
}

static struct side *open_side(struct context *context, enum role role, struct pipe_end pipes, bool resume,
                              struct fault *fault) {
    struct quic_side *side = calloc(1, sizeof *side);
    if (side == NULL) {
        fault_set(fault, FAULT_ERROR, "out of memory");
        return NULL;
    }
    side->tls = (struct side){.context = context, .role = role, .pipes = pipes, .resumes = resume};
    side->now = pipes.over_path ? real_clock.wall_ns() : NGTCP2_SECONDS;
    side->stream = -1;
    if (gnutls_session_open(&side->tls, GNUTLS_NONBLOCK | GNUTLS_NO_END_OF_EARLY_DATA, fault) &&
        configure(side, fault))
        return &side->tls;
    close_side(&side->tls);
    return NULL;
}

static bool took_early(const struct quic_side *side) {
    return (gnutls_session_get_flags(side->tls.session) & GNUTLS_SFLAGS_EARLY_DATA) != 0;
}

static bool is_complete(const struct quic_side *side) {
    return side->connection != NULL && ngtcp2_conn_get_handshake_completed(side->connection);
}

/* A server's ticket goes with its HANDSHAKE_DONE. */
static bool send_ticket(struct quic_side *side, struct fault *fault) {
    if (!is_complete(side) || !side->tls.issues_ticket || side->ticket_sent)
        return true;
    int code = gnutls_session_ticket_send(side->tls.session, 1, 0);
    side->ticket_sent = true;
    return code >= 0 || gnutls_fault(fault, FAULT_ERROR, "the server's ticket failed", code);
}

/* Takes in what came, at its time. */
static bool come_in(struct quic_side *side, struct fault *fault) {
    side->now = side->tls.pipes.over_path ? real_clock.wall_ns() : side->now + TURN_NS;
    return quic_read(side, fault);
}

static bool expire(struct quic_side *side, struct fault *fault) {
    if (!side->tls.pipes.over_path || ngtcp2_conn_get_expiry(side->connection) > side->now)
        return true;
    int code = ngtcp2_conn_handle_expiry(side->connection, side->now);
    return code == 0 || quic_fault(side, fault, "timer", code);
}

/* Over a path early data may be lost and come after all else, in packets that are not 0-RTT any more. */
static bool is_done(const struct quic_side *side) {
    bool waits = side->tls.role == ROLE_SERVER && side->tls.pipes.over_path && took_early(side);
    return is_complete(side) && (!waits || side->early_ended);
}

/* A handshake is complete (RFC 9001, section 4.1.1) where one of TLS over TCP is done as well: the client
 * then has yet to read what the server sends last. */
static enum progress step(struct side *tls, struct fault *fault) {
    struct quic_side *side = (struct quic_side *)tls;
    if (!come_in(side, fault))
        return PROGRESS_FAILED;
    if (side->connection == NULL)
        return PROGRESS_WAIT;
    if (!expire(side, fault) || !send_ticket(side, fault) || !quic_write(side, fault))
        return PROGRESS_FAILED;
    return is_done(side) ? PROGRESS_DONE : PROGRESS_WAIT;
}

/* In memory tickets come, and no application data. */
static long receive(struct side *tls, void *data, size_t size, struct fault *fault) {
    struct quic_side *side = (struct quic_side *)tls;
    return come_in(side, fault) ? quic_receive(side, data, size) : -1;
}

static uint64_t due_ns(struct side *tls) {
    const struct quic_side *side = (const struct quic_side *)tls;
    return side->connection == NULL ? UINT64_MAX : ngtcp2_conn_get_expiry(side->connection);
}

static unsigned sent_again(struct side *tls) {
    return ((const struct quic_side *)tls)->sent_again;
}

static bool keep(struct side *client, struct fault *fault) {
    const struct quic_side *side = (const struct quic_side *)client;
    return receive(client, NULL, 0, fault) >= 0 && gnutls_keep_session(client, fault) &&
           quic_keep_parameters(side, fault);
}

static bool inspect(struct side *tls, struct negotiated *out, struct fault *fault) {
    const struct quic_side *side = (const struct quic_side *)tls;
    gnutls_datum_t chosen = {0};
    if (!gnutls_inspect(tls, out, fault))
        return false;
    if (strcmp(out->protocol, protocol_name(TLS_1_3)) == 0 &&
        ngtcp2_conn_get_negotiated_version(side->connection) == NGTCP2_PROTO_VER_V1)
        out->protocol = protocol_name(QUIC_V1);
    if (gnutls_alpn_get_selected_protocol(tls->session, &chosen) < 0 || chosen.size != application.size ||
        memcmp(chosen.data, application.data, chosen.size) != 0)
        return fault_set(fault, FAULT_MISMATCH, "the handshake chose another application protocol");
    size_t early = tls->role == ROLE_CLIENT ? tls->early_to_send - side->left : side->early_bytes;
    out->early_data_bytes = took_early(side) ? (long)early : 0;
    return !side->early_differs ||
           fault_set(fault, FAULT_MISMATCH, "the server received other early data than the client sent");
}

static enum progress no_finish(struct side *side, struct fault *fault) {
    (void)side;
    fault_set(fault, FAULT_ERROR, "QUICv1 is measured without an end of its connections");
    return PROGRESS_FAILED;
}

static const struct datagrams datagrams = {.due_ns = due_ns, .sent_again = sent_again};

const struct backend linked_backend = {
    .library = "ngtcp2",
    .datagrams = &datagrams,
    .clock = &real_clock,
    .counter_events = hardware_events,
    .takes_settings = false,
    .start = start,
    .version = version,
    .version_text = version_text,
    .architecture = NULL,
    .cpu_features = NULL,
    .setup = setup,
    .teardown = teardown,
    .expect = gnutls_load_expected,
    .open = open_side,
    .step = step,
    .send = quic_send,
    .receive = receive,
    .finish = no_finish,
    .inspect = inspect,
    .keep = keep,
    .close = close_side,
};
