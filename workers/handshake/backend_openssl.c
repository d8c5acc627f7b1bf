/* The OpenSSL backend, and AWS-LC's and BoringSSL's: a context's and a side's life, and the turns. */
#include "openssl_backend.h"

#include <stdlib.h>
#include <string.h>

static bool start(const char *settings, struct fault *fault) {
    (void)settings;
    /* Both: the variable for what reads it later, the flag for what is read now. */
    setenv("OPENSSL_CONF", "/dev/null", 1);
    if (!OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, NULL))
        return openssl_fault(fault, FAULT_ERROR, "OpenSSL did not start");
    return openssl_pipe_start() || openssl_fault(fault, FAULT_ERROR, "OpenSSL did not make a BIO method");
}

/* "3.0.19" of "OpenSSL 3.0.19 27 Jan 2026": the library that runs, not the header. */
static const char *version(void) {
    static char word[64];
    if (sscanf(compat_version_text(), "%*63s %63s", word) != 1)
        strcpy(word, "unknown");
    return word;
}

/* --- The context. --- */

static void teardown(struct context *c) {
    SSL_SESSION_free(c->session);
    openssl_free_names(c);
    for (enum role role = ROLE_CLIENT; role <= ROLE_SERVER; role++)
        SSL_CTX_free(c->configurations[role]);
    BN_free(c->dh_prime);
    for (int i = 0; i < CHAIN_MAX; i++)
        OPENSSL_free(c->chain[i].bytes);
    material_free(&c->ocsp_response);
    X509_free(c->trust_anchor);
    openssl_fips_free(c->library);
    free(c->folder);
    free(c);
    ERR_clear_error();
}

static bool takes(const struct tls_case *c, struct fault *fault) {
    return case_is_tls(c) || c->protocol == DTLS_1_2 ||
           fault_set(fault, FAULT_UNSUPPORTED, "this library's backend has no %s",
                     protocol_name(c->protocol));
}

static struct context *setup(const struct tls_case *tls_case, const char *material, struct fault *fault) {
    if (!takes(tls_case, fault) || !case_trust_store_is_taken(tls_case, true, fault) ||
        !compat_takes(tls_case, fault))
        return NULL;
    struct context *c = calloc(1, sizeof *c);
    if (c == NULL) {
        fault_set(fault, FAULT_ERROR, "out of memory");
        return NULL;
    }
    c->tls_case = *tls_case;
    bool good = (c->folder = strdup(material)) != NULL || fault_set(fault, FAULT_ERROR, "out of memory");
    step_begin(STEP_LIBRARY);
    if (good && tls_case->fips)
        good = (c->library = openssl_fips_library(fault)) != NULL;
    else if (good && tls_case->context == CONTEXT_LIBRARY)
        good = (c->library = openssl_library(fault)) != NULL;
    step_begin(STEP_SETUP);
    good = good && (start_is_timed || openssl_load_expected(c, fault)) && openssl_load_ocsp(c, fault);
    for (enum role role = ROLE_CLIENT; good && role <= ROLE_SERVER; role++)
        good = (c->configurations[role] = openssl_configure(c, role, fault)) != NULL;
    if (good && openssl_make_names(c, fault))
        return c;
    teardown(c);
    return NULL;
}

/* Each SSL counts as a user of its SSL_CTX, so what is replaced lives as long as connections with it. */
static bool reload(struct context *c, struct fault *fault) {
    SSL_CTX *fresh = openssl_configure(c, ROLE_SERVER, fault);
    if (fresh == NULL)
        return false;
    SSL_CTX_free(c->configurations[ROLE_SERVER]);
    c->configurations[ROLE_SERVER] = fresh;
    return true;
}

/* --- A side. --- */

/* Freed as if it had said goodbye, else its session would count as broken and be resumed no more. */
static void close_side(struct side *side) {
    if (side->ssl != NULL)
        SSL_set_shutdown(side->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(side->ssl);
    SSL_CTX_free(side->own);
    free(side);
    if (ERR_peek_error() != 0) /* what a failed handshake left must not be taken for the next one's */
        ERR_clear_error();
}

static bool connect_pipes(struct side *side) {
    side->ssl = SSL_new(side->own != NULL ? side->own : side->context->configurations[side->role]);
    bool dtls = case_is_dtls(&side->context->tls_case);
    BIO *bio = side->ssl == NULL ? NULL : openssl_pipe_new(&side->pipes, dtls);
    if (bio == NULL)
        return false;
    SSL_set_bio(side->ssl, bio, bio);
    return !dtls || openssl_dtls_open(side->ssl);
}

/* A client writes into the session that it offers (what is there already, but without a lock): each of
 * several threads' clients gets a copy. */
static bool offer_session(const struct context *c, SSL *ssl) {
    if (c->session == NULL || c->tls_case.threads == 1)
        return c->session != NULL && SSL_set_session(ssl, c->session) == 1;
    SSL_SESSION *copy = compat_copy_session(c->session);
    bool good = copy != NULL && SSL_set_session(ssl, copy) == 1;
    SSL_SESSION_free(copy);
    return good;
}

static void count_ticket(int sent, int version, int type, const void *message, size_t length, SSL *ssl,
                         void *argument) {
    struct side *side = argument;
    (void)sent, (void)version, (void)ssl;
    if (type == SSL3_RT_HANDSHAKE && length > 0 &&
        *(const unsigned char *)message == SSL3_MT_NEWSESSION_TICKET)
        side->tickets++;
}

static bool prepare_side(struct side *side, bool resume) {
    const struct context *c = side->context;
    if (side->role == ROLE_CLIENT)
        SSL_set_connect_state(side->ssl);
    else
        SSL_set_accept_state(side->ssl);
    if (openssl_counts_tickets(side)) {
        SSL_set_msg_callback(side->ssl, count_ticket);
        SSL_set_msg_callback_arg(side->ssl, side);
    }
    if (side->role == ROLE_CLIENT && c->tls_case.verification &&
        COMPAT_SET_HOST(side->ssl, VERIFIED_HOST) != 1)
        return false;
    if (!resume)
        return true;
    side->early_data_pending = c->tls_case.early_data_bytes > 0;
    if (side->role == ROLE_CLIENT)
        return offer_session(c, side->ssl);
    return c->tls_case.anti_replay || compat_issue_no_ticket(side->ssl);
}

static struct side *open_side(struct context *c, enum role role, struct pipe_end pipes, bool resume,
                              struct fault *fault) {
    struct side *side = malloc(sizeof *side);
    if (side == NULL) {
        fault_set(fault, FAULT_ERROR, "out of memory");
        return NULL;
    }
    *side = (struct side){.context = c, .role = role, .pipes = pipes};
    if (c->tls_case.context == CONTEXT_CONNECTION &&
        (side->own = openssl_configure(c, role, fault)) == NULL) {
        close_side(side);
        return NULL;
    }
    if (connect_pipes(side) && prepare_side(side, resume))
        return side;
    openssl_fault(fault, FAULT_ERROR, resume ? "no SSL object that resumes" : "no SSL object");
    close_side(side);
    return NULL;
}

/* --- The turns. --- */

static enum progress step(struct side *side, struct fault *fault) {
    if (side->early_data_pending) {
        enum progress progress = openssl_early_turn(side, fault);
        if (progress != PROGRESS_DONE)
            return progress;
        side->early_data_pending = false;
    }
    int result = SSL_do_handshake(side->ssl);
    if (result == 1 && side->role == ROLE_SERVER && !compat_flush_tickets(side->ssl))
        result = -1;
    return result == 1 ? PROGRESS_DONE : openssl_stopped(side, result, fault);
}

/* --- After the handshake. --- */

static long send_data(struct side *side, const void *data, size_t length, struct fault *fault) {
    int sent = SSL_write(side->ssl, data, (int)length);
    if (sent > 0)
        return sent;
    openssl_fault(fault, FAULT_ERROR, "the server can't send application data");
    return -1;
}

static long receive_data(struct side *side, void *data, size_t size, struct fault *fault) {
    int received = SSL_read(side->ssl, data, (int)size);
    if (received > 0)
        return received;
    int error = SSL_get_error(side->ssl, received);
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_ZERO_RETURN)
        return 0;
    openssl_fault(fault, FAULT_ERROR, "the client can't receive application data");
    return -1;
}

static enum progress finish(struct side *side, struct fault *fault) {
    int result = SSL_shutdown(side->ssl);
    if (result == 0) /* sent; the second call reads the other side's */
        result = SSL_shutdown(side->ssl);
    if (result == 1)
        return PROGRESS_DONE;
    if (SSL_get_error(side->ssl, result) == SSL_ERROR_WANT_READ)
        return PROGRESS_WAIT;
    openssl_fault(fault, FAULT_ERROR, "the connection can't be closed");
    return PROGRESS_FAILED;
}

/* TLS 1.3 servers send their ticket after the handshake: asked for application data, the client reads it. */
static bool read_ticket(SSL *ssl, struct fault *fault) {
    char none;
    int result = SSL_read(ssl, &none, sizeof none);
    return (result <= 0 && SSL_get_error(ssl, result) == SSL_ERROR_WANT_READ) ||
           openssl_fault(fault, FAULT_ERROR, "the client can't read the server's ticket");
}

static bool keep(struct side *client, struct fault *fault) {
    struct context *c = client->context;
    if (SSL_version(client->ssl) == TLS1_3_VERSION && !read_ticket(client->ssl, fault))
        return false;
    SSL_SESSION *session = compat_newest_session(client->ssl);
    if (session == NULL || !SSL_SESSION_is_resumable(session)) {
        SSL_SESSION_free(session);
        return openssl_fault(fault, FAULT_ERROR, "the server gave the client no session to resume");
    }
    SSL_SESSION_free(c->session);
    c->session = session;
    return openssl_configure_resumption(c, fault);
}

static const struct traits traits = {.library_contexts = OPENSSL_HAS_PROVIDERS,
                                     .session_cache = COMPAT_TELLS_CACHED};

const struct backend linked_backend = {
    .library = COMPAT_LIBRARY,
    .traits = &traits,
    .clock = &real_clock,
    .counter_events = hardware_events,
    .takes_settings = false,
    .start = start,
    .version = version,
    .version_text = compat_version_text,
    .architecture = NULL,
    .cpu_features = compat_cpu_features,
    .setup = setup,
    .teardown = teardown,
    .expect = openssl_load_expected,
    .reload = reload,
    .ask = openssl_ask,
    .open = open_side,
    .step = step,
    .send = send_data,
    .receive = receive_data,
    .finish = finish,
    .inspect = openssl_inspect,
    .keep = keep,
    .close = close_side,
};
