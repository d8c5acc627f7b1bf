/* The s2n-tls backend: a context's and a side's life, and the turns. Each connection has objects of its own,
 * as with the other libraries: none is wiped and used again (s2n_connection_wipe). */
#include "s2n_backend.h"

#include <errno.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Memory is not locked, as in the library's Rust interface: it has an allocator of its own there. */
static bool start(const char *settings, struct fault *fault) {
    (void)settings;
    setenv("S2N_DONT_MLOCK", "1", 1);
    return s2n_init() == S2N_SUCCESS || s2n_fault(fault, FAULT_ERROR, "s2n-tls did not start");
}

static const char *version(void) {
    return S2N_CRATE_VERSION;
}

static const char *version_text(void) {
    return "s2n-tls " S2N_CRATE_VERSION " with AWS-LC " AWSLC_VERSION_NUMBER_STRING;
}

/* --- The context. --- */

static void teardown(struct context *c) {
    for (enum role role = ROLE_CLIENT; role <= ROLE_SERVER; role++) {
        for (int resumes = 0; resumes < 2; resumes++)
            s2n_configuration_free(&c->configurations[role][resumes]);
    }
    expected_free(&c->expected);
    free(c->kept.at);
    free(c->cached_id.at);
    free(c->cached.at);
    free(c->folder);
    free(c);
}

static bool takes(const struct tls_case *t, struct fault *fault) {
    if (!case_needs_tls(t, fault) || !case_trust_store_is_taken(t, false, fault))
        return false;
    if (t->fips)
        return fault_set(fault, FAULT_UNSUPPORTED, "the FIPS provider is OpenSSL's");
    if (t->resumption == RESUME_PSK)
        return fault_set(fault, FAULT_UNSUPPORTED, "s2n-tls resumes with a key share only");
    if (t->anti_replay)
        return fault_set(fault, FAULT_UNSUPPORTED, "s2n-tls leaves anti-replay to the application");
    if (is_cbc(t->cipher))
        return fault_set(fault, FAULT_UNSUPPORTED, "s2n-tls does not negotiate encrypt-then-MAC");
    if (t->method == METHOD_DHE)
        return fault_set(fault, FAULT_UNSUPPORTED, "s2n-tls has no named groups of finite-field DH");
    return true;
}

/* A key of which the library knows nothing shows only now. */
static bool knows_key(const struct certificate *first, struct fault *fault) {
    const unsigned char *der = first->der;
    X509 *certificate = d2i_X509(NULL, &der, (long)first->length);
    bool known = certificate != NULL && X509_get0_pubkey(certificate) != NULL;
    X509_free(certificate);
    ERR_clear_error();
    return known ||
           fault_set(fault, FAULT_UNSUPPORTED, "the library does not know the certificate's kind of key");
}

static bool fill(struct context *c, const char *material, struct fault *fault) {
    const struct tls_case *t = &c->tls_case;
    bool good = (c->folder = strdup(material)) != NULL || fault_set(fault, FAULT_ERROR, "out of memory");
    RAND_bytes(c->ticket_key, sizeof c->ticket_key);
    for (enum role role = ROLE_CLIENT; good && role <= ROLE_SERVER && t->protocol != PROTOCOL_DEFAULT; role++)
        good = s2n_make_policy(t, role, &c->policies[role], fault);
    good = good && expected_load(t, material, &c->expected, fault) && knows_key(&c->expected.chain[0], fault);
    for (int i = 0; good && i < 4 && !(i > 1 && t->resumption == RESUME_NONE); i++)
        good = s2n_configure(c, i % 2, i > 1, &c->configurations[i % 2][i > 1], fault);
    return good;
}

static struct context *setup(const struct tls_case *tls_case, const char *material, struct fault *fault) {
    if (!takes(tls_case, fault))
        return NULL;
    struct context *c = calloc(1, sizeof *c);
    if (c == NULL) {
        fault_set(fault, FAULT_ERROR, "out of memory");
        return NULL;
    }
    c->tls_case = *tls_case;
    if (fill(c, material, fault))
        return c;
    teardown(c);
    return NULL;
}

/* --- The transport: the pipes that every library has. --- */

static int send_bytes(void *context, const uint8_t *data, uint32_t length) {
    const struct side *side = context;
    size_t taken = pipe_write(side->pipes.out, data, length);
    errno = taken > 0 ? errno : EAGAIN;
    return taken > 0 ? (int)taken : -1;
}

static int receive_bytes(void *context, uint8_t *data, uint32_t length) {
    const struct side *side = context;
    size_t given = pipe_read(side->pipes.in, data, length);
    errno = given > 0 ? errno : EAGAIN;
    return given > 0 ? (int)given : -1;
}

/* Called for each name of the certificate until one is right. A server asks for its client's too. */
static uint8_t match_host(const char *name, size_t length, void *data) {
    struct side *side = data;
    if (side->role == ROLE_SERVER)
        return 1;
    side->host_matched = length == strlen(VERIFIED_HOST) && strncasecmp(name, VERIFIED_HOST, length) == 0;
    return side->host_matched;
}

/* --- A side. --- */

static void close_side(struct side *side) {
    if (side->connection != NULL)
        (void)s2n_connection_free(side->connection);
    s2n_configuration_free(&side->own);
    free(side->ticket.at);
    free(side);
}

static bool connect_side(struct side *side) {
    struct context *c = side->context;
    struct s2n_config *config =
        side->own.config != NULL ? side->own.config : c->configurations[side->role][side->resumes].config;
    struct s2n_connection *connection =
        s2n_connection_new(side->role == ROLE_CLIENT ? S2N_CLIENT : S2N_SERVER);
    side->connection = connection;
    /* Blinding would hold the thread for seconds after a fault. Records of 16 KiB instead of 8 are its option
     * "prefer throughput". */
    return connection != NULL && s2n_connection_set_ctx(connection, side) == S2N_SUCCESS &&
           s2n_connection_set_config(connection, config) == S2N_SUCCESS &&
           s2n_connection_set_blinding(connection, S2N_SELF_SERVICE_BLINDING) == S2N_SUCCESS &&
           s2n_connection_set_send_cb(connection, send_bytes) == S2N_SUCCESS &&
           s2n_connection_set_send_ctx(connection, side) == S2N_SUCCESS &&
           s2n_connection_set_recv_cb(connection, receive_bytes) == S2N_SUCCESS &&
           s2n_connection_set_recv_ctx(connection, side) == S2N_SUCCESS &&
           s2n_connection_set_verify_host_callback(connection, match_host, side) == S2N_SUCCESS &&
           (c->tls_case.transfer_bytes == 0 || s2n_connection_prefer_throughput(connection) == S2N_SUCCESS) &&
           (!side->resumes || side->role == ROLE_SERVER ||
            s2n_connection_set_session(connection, c->kept.at, c->kept.length) == S2N_SUCCESS);
}

static struct side *open_side(struct context *context, enum role role, struct pipe_end pipes, bool resume,
                              struct fault *fault) {
    struct side *side = malloc(sizeof *side);
    if (side == NULL) {
        fault_set(fault, FAULT_ERROR, "out of memory");
        return NULL;
    }
    *side = (struct side){.context = context, .role = role, .pipes = pipes, .resumes = resume};
    side->early_pending = resume && context->tls_case.early_data_bytes > 0;
    bool configured = context->tls_case.context != CONTEXT_CONNECTION ||
                      s2n_configure(context, role, resume, &side->own, fault);
    if (configured && (connect_side(side) || s2n_fault(fault, FAULT_ERROR, "no connection")))
        return side;
    close_side(side);
    return NULL;
}

/* --- The turns. --- */

static bool is_blocked(void) {
    return s2n_error_get_type(s2n_errno) == S2N_ERR_T_BLOCKED;
}

static int early_turn(struct side *side) {
    unsigned char data[EARLY_DATA_MAX] = {0};
    s2n_blocked_status blocked;
    ssize_t bytes = 0;
    int result = side->role == ROLE_CLIENT
                     ? s2n_send_early_data(side->connection, data, side->context->tls_case.early_data_bytes,
                                           &bytes, &blocked)
                     : s2n_recv_early_data(side->connection, data, sizeof data, &bytes, &blocked);
    side->early_taken += bytes;
    side->early_pending = side->role == ROLE_SERVER && result != S2N_SUCCESS;
    return side->role == ROLE_CLIENT && result != S2N_SUCCESS && is_blocked() ? S2N_SUCCESS : result;
}

static enum progress step(struct side *side, struct fault *fault) {
    s2n_blocked_status blocked;
    int result = side->early_pending ? early_turn(side) : S2N_SUCCESS;
    if (result == S2N_SUCCESS)
        result = s2n_negotiate(side->connection, &blocked);
    if (result == S2N_SUCCESS)
        return PROGRESS_DONE;
    if (is_blocked())
        return PROGRESS_WAIT; /* the bound on turns ends a wait that nothing ends */
    s2n_fault(fault, FAULT_ERROR,
              side->role == ROLE_CLIENT ? "the client's handshake failed" : "the server's handshake failed");
    return PROGRESS_FAILED;
}

/* --- After the handshake. --- */

static long send_data(struct side *side, const void *data, size_t length, struct fault *fault) {
    s2n_blocked_status blocked;
    ssize_t sent = s2n_send(side->connection, data, (ssize_t)length, &blocked);
    if (sent >= 0 || is_blocked())
        return sent < 0 ? 0 : sent;
    s2n_fault(fault, FAULT_ERROR, "the server can't send application data");
    return -1;
}

static long receive_data(struct side *side, void *data, size_t size, struct fault *fault) {
    s2n_blocked_status blocked;
    ssize_t received = s2n_recv(side->connection, data, (ssize_t)size, &blocked);
    if (received >= 0 || is_blocked())
        return received < 0 ? 0 : received;
    s2n_fault(fault, FAULT_ERROR, "the client can't receive application data");
    return -1;
}

static enum progress finish(struct side *side, struct fault *fault) {
    s2n_blocked_status blocked;
    if (s2n_shutdown(side->connection, &blocked) == S2N_SUCCESS)
        return PROGRESS_DONE;
    if (is_blocked())
        return PROGRESS_WAIT;
    s2n_fault(fault, FAULT_ERROR, "the connection can't be closed");
    return PROGRESS_FAILED;
}

/* In TLS 1.3 the callback takes the ticket, when the client reads. */
static bool keep_ticket(struct side *client, struct fault *fault) {
    unsigned char unexpected;
    if (client->ticket.at == NULL && receive_data(client, &unexpected, 1, fault) != 0)
        return false;
    if (client->ticket.at == NULL)
        return fault_set(fault, FAULT_ERROR, "the server issued no ticket");
    return bytes_copy(&client->context->kept, client->ticket.at, client->ticket.length);
}

static bool keep(struct side *client, struct fault *fault) {
    unsigned char session[4096];
    if (client->context->tls_case.resumption == RESUME_PSK_DHE)
        return keep_ticket(client, fault);
    int length = s2n_connection_get_session(client->connection, session, sizeof session);
    if (length <= 0)
        return s2n_fault(fault, FAULT_ERROR, "the client's session can't be kept");
    return bytes_copy(&client->context->kept, session, (size_t)length);
}

const struct backend linked_backend = {
    .library = "s2n",
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
    .open = open_side,
    .step = step,
    .send = send_data,
    .receive = receive_data,
    .finish = finish,
    .inspect = s2n_inspect,
    .keep = keep,
    .close = close_side,
};
