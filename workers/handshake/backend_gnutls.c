/* The GnuTLS backend: configuration of both sides, the pair's life, its turns. Material is
 * loaded in gnutls_material.c, what was negotiated is read in gnutls_inspect.c. */
#include "gnutls_backend.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The library starts itself when it is loaded, before main could keep the host's configuration
 * from it. This symbol tells it to wait for start(). */
GNUTLS_SKIP_GLOBAL_INIT

bool gnutls_fault(struct fault *fault, enum fault_kind kind, const char *reason, int code) {
    fault_set(fault, kind, "%s", reason);
    snprintf(fault->detail, sizeof fault->detail, "%s (%s)", gnutls_strerror(code),
             gnutls_strerror_name(code));
    return false;
}

static const struct {
    enum group group;
    gnutls_ecc_curve_t curve;
    const char *priority;
} groups[] = {
    {GROUP_SECP192R1, GNUTLS_ECC_CURVE_SECP192R1, "SECP192R1"},
    {GROUP_P256, GNUTLS_ECC_CURVE_SECP256R1, "SECP256R1"},
    {GROUP_P384, GNUTLS_ECC_CURVE_SECP384R1, "SECP384R1"},
    {GROUP_P521, GNUTLS_ECC_CURVE_SECP521R1, "SECP521R1"},
    {GROUP_X25519, GNUTLS_ECC_CURVE_INVALID, "X25519"},
    {GROUP_FFDHE2048, GNUTLS_ECC_CURVE_INVALID, "FFDHE2048"},
    {GROUP_FFDHE3072, GNUTLS_ECC_CURVE_INVALID, "FFDHE3072"},
    {GROUP_FFDHE4096, GNUTLS_ECC_CURVE_INVALID, "FFDHE4096"},
};
enum { GROUPS = sizeof groups / sizeof groups[0] };

const char *gnutls_our_curve(gnutls_ecc_curve_t curve, unsigned *bits) {
    for (size_t i = 0; i < GROUPS; i++) {
        if (curve != GNUTLS_ECC_CURVE_INVALID && groups[i].curve == curve) {
            *bits = curve_bits(groups[i].group);
            return group_name(groups[i].group);
        }
    }
    return NULL;
}

static bool start(const char *settings, struct fault *fault) {
    (void)settings;
    setenv("GNUTLS_SYSTEM_PRIORITY_FILE", "/dev/null", 1);
    int code = gnutls_global_init();
    return code >= 0 || gnutls_fault(fault, FAULT_ERROR, "GnuTLS did not start", code);
}

static const char *version(void) {
    return gnutls_check_version(NULL); /* the library that runs, not the header */
}

static const char *version_text(void) {
    static char text[64];
    snprintf(text, sizeof text, "GnuTLS %s", version());
    return text;
}

/* --- Configuration: exactly one protocol, cipher, group and signature scheme on each side. --- */

static const char *group_priority(enum group group) {
    for (size_t i = 0; i < GROUPS; i++) {
        if (groups[i].group == group)
            return groups[i].priority;
    }
    return NULL;
}

static const char *signature_priority(const struct tls_case *c) {
    bool tls_1_3 = c->protocol == TLS_1_3;
    if (c->key_exchange != KX_ECDHE_ECDSA)
        return tls_1_3 ? "RSA-PSS-RSAE-SHA256" : "RSA-SHA256";
    if (c->curve == GROUP_P384)
        return tls_1_3 ? "ECDSA-SECP384R1-SHA384" : "ECDSA-SHA384";
    if (c->curve == GROUP_P521)
        return tls_1_3 ? "ECDSA-SECP521R1-SHA512" : "ECDSA-SHA512";
    return tls_1_3 ? "ECDSA-SECP256R1-SHA256" : "ECDSA-SHA256";
}

/* No group at all for custom DH: an ffdhe group among them would be negotiated instead (RFC 7919). */
static void priority_string(const struct tls_case *c, char *out, size_t size) {
    static const char *const kx[] = {[KX_RSA] = "RSA",
                                     [KX_DHE_RSA] = "DHE-RSA",
                                     [KX_ECDHE_RSA] = "ECDHE-RSA",
                                     [KX_ECDHE_ECDSA] = "ECDHE-ECDSA"};
    const char *group = group_priority(c->group), *curve = group_priority(c->curve);
    if (curve != NULL && group != NULL && strcmp(curve, group) == 0)
        curve = NULL;
    snprintf(out, size,
             "NONE:+COMP-NULL:+CTYPE-X509:+VERS-TLS%s:+%s:+AEAD:+%s:+SIGN-%s%s%s%s%s:%%PROFILE_VERY_WEAK",
             c->protocol == TLS_1_3 ? "1.3" : "1.2", cipher_name(c->cipher), kx[c->key_exchange],
             signature_priority(c), group != NULL ? ":+GROUP-" : "", group != NULL ? group : "",
             curve != NULL ? ":+GROUP-" : "", curve != NULL ? curve : "");
}

static bool set_priority(struct context *c, struct fault *fault) {
    char text[256], reason[REASON_MAX];
    const char *position = NULL;
    priority_string(&c->tls_case, text, sizeof text);
    int code = gnutls_priority_init2(&c->priority, text, &position, 0);
    if (code >= 0)
        return true;
    c->priority = NULL;
    snprintf(reason, sizeof reason, "the library does not take the priority string %s", text);
    gnutls_fault(fault, code == GNUTLS_E_MEMORY_ERROR ? FAULT_ERROR : FAULT_UNSUPPORTED, reason, code);
    size_t used = strlen(fault->detail);
    if (position != NULL)
        snprintf(fault->detail + used, sizeof fault->detail - used, " at %s", position);
    return false;
}

static bool make_credentials(struct context *c, struct fault *fault) {
    int code = gnutls_certificate_allocate_credentials(&c->client_credentials);
    if (code >= 0)
        code = gnutls_certificate_allocate_credentials(&c->server_credentials);
    return code >= 0 || gnutls_fault(fault, FAULT_ERROR, "out of memory", code);
}

static void teardown(struct context *c) {
    if (c->priority != NULL)
        gnutls_priority_deinit(c->priority);
    if (c->client_credentials != NULL)
        gnutls_certificate_free_credentials(c->client_credentials);
    if (c->server_credentials != NULL)
        gnutls_certificate_free_credentials(c->server_credentials);
    if (c->dh != NULL)
        gnutls_dh_params_deinit(c->dh);
    gnutls_free(c->dh_prime.data);
    gnutls_free(c->certificate_der.data);
    free(c);
}

static struct context *setup(const struct tls_case *tls_case, const char *material, struct fault *fault) {
    struct context *c = calloc(1, sizeof *c);
    if (c == NULL) {
        fault_set(fault, FAULT_ERROR, "out of memory");
        return NULL;
    }
    c->tls_case = *tls_case;
    c->client_end =
        (struct gnutls_end){.session = &c->client, .pipes = {.in = &c->to_client, .out = &c->to_server}};
    c->server_end =
        (struct gnutls_end){.session = &c->server, .pipes = {.in = &c->to_server, .out = &c->to_client}};
    if (set_priority(c, fault) && make_credentials(c, fault) && gnutls_load_material(c, material, fault))
        return c;
    teardown(c);
    return NULL;
}

/* --- The transport: the pipes that every library has. --- */

static ssize_t push(gnutls_transport_ptr_t pointer, const void *data, size_t length) {
    const struct gnutls_end *end = pointer;
    size_t taken = pipe_write(end->pipes.out, data, length);
    if (taken > 0)
        return (ssize_t)taken;
    gnutls_transport_set_errno(*end->session, EAGAIN);
    return -1;
}

static ssize_t pull(gnutls_transport_ptr_t pointer, void *data, size_t length) {
    const struct gnutls_end *end = pointer;
    size_t given = pipe_read(end->pipes.in, data, length);
    if (given > 0)
        return (ssize_t)given;
    gnutls_transport_set_errno(*end->session, EAGAIN);
    return -1;
}

static int pull_timeout(gnutls_transport_ptr_t pointer, unsigned milliseconds) {
    (void)milliseconds; /* nothing can arrive while this side waits: both are the same thread */
    const struct gnutls_end *end = pointer;
    return pipe_pending(end->pipes.in) > 0;
}

/* --- The pair. --- */

static int new_side(struct context *c, gnutls_session_t *session, unsigned side,
                    gnutls_certificate_credentials_t credentials, struct gnutls_end *end) {
    /* KEY_SHARE_TOP: else a TLS 1.3 client makes a second key share, on the certificate's curve, for nothing.
     */
    int code = gnutls_init(session, side | GNUTLS_NONBLOCK | GNUTLS_NO_TICKETS | GNUTLS_KEY_SHARE_TOP);
    if (code < 0) {
        *session = NULL;
        return code;
    }
    if ((code = gnutls_priority_set(*session, c->priority)) < 0)
        return code;
    if ((code = gnutls_credentials_set(*session, GNUTLS_CRD_CERTIFICATE, credentials)) < 0)
        return code;
    if (c->tls_case.dh_bits != 0)
        gnutls_dh_set_prime_bits(*session, c->tls_case.dh_bits);
    gnutls_transport_set_ptr(*session, end);
    gnutls_transport_set_push_function(*session, push);
    gnutls_transport_set_pull_function(*session, pull);
    gnutls_transport_set_pull_timeout_function(*session, pull_timeout);
    return 0;
}

static void close_pair(struct context *c) {
    if (c->client != NULL)
        gnutls_deinit(c->client);
    if (c->server != NULL)
        gnutls_deinit(c->server);
    c->client = c->server = NULL;
}

static bool open_pair(struct context *c, struct fault *fault) {
    pipe_reset(&c->to_client);
    pipe_reset(&c->to_server);
    int code = new_side(c, &c->client, GNUTLS_CLIENT, c->client_credentials, &c->client_end);
    if (code >= 0)
        code = new_side(c, &c->server, GNUTLS_SERVER, c->server_credentials, &c->server_end);
    if (code >= 0)
        return true;
    close_pair(c);
    return gnutls_fault(fault, FAULT_ERROR, "no session", code);
}

static enum progress step(gnutls_session_t session, const char *failed, struct fault *fault) {
    int code = gnutls_handshake(session);
    if (code == GNUTLS_E_SUCCESS)
        return PROGRESS_DONE;
    if (!gnutls_error_is_fatal(code))
        return PROGRESS_WAIT; /* the bound on turns ends a wait that nothing ends */
    gnutls_fault(fault, FAULT_ERROR, failed, code);
    return PROGRESS_FAILED;
}

static enum progress client_step(struct context *c, struct fault *fault) {
    return step(c->client, "the client's handshake failed", fault);
}

static enum progress server_step(struct context *c, struct fault *fault) {
    return step(c->server, "the server's handshake failed", fault);
}

static void bytes_sent(const struct context *c, uint64_t *client, uint64_t *server) {
    *client = c->to_server.written;
    *server = c->to_client.written;
}

const struct backend backend = {
    .library = "gnutls",
    .clock = &real_clock,
    .takes_settings = false,
    .start = start,
    .version = version,
    .version_text = version_text,
    .architecture = NULL,
    .setup = setup,
    .teardown = teardown,
    .open = open_pair,
    .client_step = client_step,
    .server_step = server_step,
    .inspect = gnutls_inspect,
    .bytes_sent = bytes_sent,
    .close = close_pair,
};
