/* The wolfSSL backend: a context's and a side's life, and the turns. */
#include "wolfssl_backend.h"
#include "wolfssl_structures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool start(const char *settings, struct fault *fault) {
    (void)settings;
    int code = wolfSSL_Init();
    return code == WOLFSSL_SUCCESS || wolfssl_fault(fault, FAULT_ERROR, "wolfSSL did not start", code);
}

static const char *version(void) {
    return wolfSSL_lib_version(); /* the library that runs, not the header */
}

static const char *version_text(void) {
    static char text[64];
    snprintf(text, sizeof text, "wolfSSL %s", version());
    return text;
}

/* --- The context. --- */

static void teardown(struct context *c) {
    wolfSSL_SESSION_free(c->session);
    for (enum role role = ROLE_CLIENT; role <= ROLE_SERVER; role++)
        wolfSSL_CTX_free(c->configurations[role]);
    expected_free(&c->expected);
    free(c->folder);
    free(c);
}

static struct context *setup(const struct tls_case *tls_case, const char *material, struct fault *fault) {
    if (!case_needs_tls(tls_case, fault) || !case_trust_store_is_taken(tls_case, false, fault))
        return NULL;
    struct context *c = calloc(1, sizeof *c);
    if (c == NULL) {
        fault_set(fault, FAULT_ERROR, "out of memory");
        return NULL;
    }
    c->tls_case = *tls_case;
    bool good = (c->folder = strdup(material)) != NULL || fault_set(fault, FAULT_ERROR, "out of memory");
    good = good && expected_load(tls_case, material, &c->expected, fault);
    /* The server first, whose material may have faults. */
    good = good && (c->configurations[ROLE_SERVER] = wolfssl_configure(c, ROLE_SERVER, fault)) != NULL &&
           (c->configurations[ROLE_CLIENT] = wolfssl_configure(c, ROLE_CLIENT, fault)) != NULL &&
           (!tls_case->verification || wolfssl_leads_to_anchor(c, fault));
    if (good)
        return c;
    teardown(c);
    return NULL;
}

/* --- The transport: the pipes that every library has. --- */

static int receive_bytes(WOLFSSL *ssl, char *data, int size, void *pointer) {
    const struct side *side = pointer;
    (void)ssl;
    size_t given = pipe_read(side->pipes.in, data, (size_t)size);
    return given > 0 ? (int)given : WOLFSSL_CBIO_ERR_WANT_READ;
}

static int send_bytes(WOLFSSL *ssl, char *data, int size, void *pointer) {
    const struct side *side = pointer;
    (void)ssl;
    size_t taken = pipe_write(side->pipes.out, data, (size_t)size);
    return taken > 0 ? (int)taken : WOLFSSL_CBIO_ERR_WANT_WRITE;
}

/* --- A side. --- */

static void close_side(struct side *side) {
    wolfSSL_free(side->ssl);
    wolfSSL_CTX_free(side->own);
    free(side);
}

static int count_ticket(WOLFSSL *ssl, const unsigned char *ticket, int length, void *pointer) {
    struct side *side = pointer;
    (void)ssl, (void)ticket, (void)length;
    side->tickets++;
    return 0;
}

/* A client writes into the session that it offers, so that each gets a copy. */
static bool offer_session(const struct context *c, WOLFSSL *ssl) {
    WOLFSSL_SESSION *copy = wolfSSL_SESSION_dup(c->session);
    bool good = copy != NULL && wolfSSL_set_session(ssl, copy) == WOLFSSL_SUCCESS;
    wolfSSL_SESSION_free(copy);
    return good;
}

static bool prepare_side(struct side *side) {
    const struct tls_case *c = &side->context->tls_case;
    WOLFSSL *ssl = side->ssl;
    wolfSSL_SSLSetIORecv(ssl, receive_bytes);
    wolfSSL_SSLSetIOSend(ssl, send_bytes);
    wolfSSL_SetIOReadCtx(ssl, side);
    wolfSSL_SetIOWriteCtx(ssl, side);
    wolfSSL_SetCertCbCtx(ssl, side);
    if (side->role == ROLE_SERVER)
        return !side->resumes || c->protocol != TLS_1_3 || wolfSSL_no_ticket_TLSv13(ssl) == 0;
    if (c->tickets == TICKETS_DEFAULT)
        wolfSSL_set_SessionTicket_cb(ssl, count_ticket, side);
    if (c->tickets == TICKETS_DEFAULT && c->protocol == TLS_1_2)
        wolfSSL_UseSessionTicket(ssl);
    if (c->verification && wolfSSL_check_domain_name(ssl, VERIFIED_HOST) != WOLFSSL_SUCCESS)
        return false;
    return !side->resumes || offer_session(side->context, ssl);
}

static struct side *open_side(struct context *c, enum role role, struct pipe_end pipes, bool resume,
                              struct fault *fault) {
    struct side *side = malloc(sizeof *side);
    if (side == NULL) {
        fault_set(fault, FAULT_ERROR, "out of memory");
        return NULL;
    }
    *side = (struct side){.context = c, .role = role, .pipes = pipes, .resumes = resume};
    if (c->tls_case.context == CONTEXT_CONNECTION &&
        (side->own = wolfssl_configure(c, role, fault)) == NULL) {
        close_side(side);
        return NULL;
    }
    side->ssl = wolfSSL_new(side->own != NULL ? side->own : c->configurations[role]);
    if (side->ssl != NULL && prepare_side(side))
        return side;
    fault_set(fault, FAULT_ERROR, resume ? "no WOLFSSL object that resumes" : "no WOLFSSL object");
    close_side(side);
    return NULL;
}

/* --- The turns. --- */

static enum progress stopped(struct side *side, int result, const char *what, struct fault *fault) {
    int error = wolfSSL_get_error(side->ssl, result);
    if (error == WOLFSSL_ERROR_WANT_READ || error == WOLFSSL_ERROR_WANT_WRITE)
        return PROGRESS_WAIT; /* the bound on turns ends a wait that nothing ends */
    char reason[REASON_MAX];
    snprintf(reason, sizeof reason, "the %s's %s failed", side->role == ROLE_CLIENT ? "client" : "server",
             what);
    wolfssl_fault(fault, FAULT_ERROR, reason, error);
    return PROGRESS_FAILED;
}

static enum progress step(struct side *side, struct fault *fault) {
    int result = side->role == ROLE_CLIENT ? wolfSSL_connect(side->ssl) : wolfSSL_accept(side->ssl);
    return result == WOLFSSL_SUCCESS ? PROGRESS_DONE : stopped(side, result, "handshake", fault);
}

/* --- After the handshake. --- */

static long moved(struct side *side, int result, const char *what, struct fault *fault) {
    if (result > 0)
        return result;
    bool ended = wolfSSL_get_error(side->ssl, result) == WOLFSSL_ERROR_ZERO_RETURN;
    return ended || stopped(side, result, what, fault) == PROGRESS_WAIT ? 0 : -1;
}

static long send_data(struct side *side, const void *data, size_t length, struct fault *fault) {
    return moved(side, wolfSSL_write(side->ssl, data, (int)length), "sending", fault);
}

static long receive_data(struct side *side, void *data, size_t size, struct fault *fault) {
    return moved(side, wolfSSL_read(side->ssl, data, (int)size), "receiving", fault);
}

static enum progress finish(struct side *side, struct fault *fault) {
    int result = wolfSSL_shutdown(side->ssl);
    if (result == WOLFSSL_SHUTDOWN_NOT_DONE) /* sent; the second call reads the other side's */
        result = wolfSSL_shutdown(side->ssl);
    if (result == WOLFSSL_SHUTDOWN_NOT_DONE)
        return PROGRESS_WAIT;
    return result == WOLFSSL_SUCCESS ? PROGRESS_DONE : stopped(side, result, "close", fault);
}

/* A TLS 1.3 ticket lies in the pipe until the client reads, and reading then finds no application data. */
static bool keep(struct side *client, struct fault *fault) {
    struct context *c = client->context;
    char unexpected;
    if (c->tls_case.protocol == TLS_1_3 && receive_data(client, &unexpected, 1, fault) != 0)
        return false;
    bool whole = c->tls_case.resumption == RESUME_SESSION_ID || wolfssl_has_ticket(client->ssl);
    WOLFSSL_SESSION *session = whole ? wolfSSL_get1_session(client->ssl) : NULL;
    if (session == NULL)
        return fault_set(fault, FAULT_ERROR, "the server gave the client no session to resume");
    wolfSSL_SESSION_free(c->session);
    c->session = session;
    return true;
}

const struct backend linked_backend = {
    .library = "wolfssl",
    .clock = &real_clock,
    .counter_events = hardware_events,
    .takes_settings = false,
    .start = start,
    .version = version,
    .version_text = version_text,
    .architecture = NULL,
    .cpu_features = NULL, /* it looks itself and tells nobody */
    .setup = setup,
    .teardown = teardown,
    .open = open_side,
    .step = step,
    .send = send_data,
    .receive = receive_data,
    .finish = finish,
    .inspect = wolfssl_inspect,
    .keep = keep,
    .close = close_side,
};
