/* The GnuTLS backend: configuration of both roles, a side's life, its turns. Priorities, material, resumption
 * and what was negotiated have files of their own. */
#include "gnutls_backend.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The library starts itself when it is loaded, before main could keep the host's configuration
 * from it. This symbol tells it to wait for start(). */
GNUTLS_SKIP_GLOBAL_INIT

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

/* --- Configuration. --- */

static bool make_credentials(struct context *c, struct fault *fault) {
    for (enum role role = ROLE_CLIENT; role <= ROLE_SERVER; role++) {
        int code = gnutls_certificate_allocate_credentials(&c->credentials[role]);
        if (code < 0)
            return gnutls_fault(fault, FAULT_ERROR, "out of memory", code);
    }
    return true;
}

static void teardown(struct context *c) {
    for (enum role role = ROLE_CLIENT; role <= ROLE_SERVER; role++) {
        for (int resumes = 0; resumes < 2; resumes++) {
            if (c->priority[role][resumes] != NULL)
                gnutls_priority_deinit(c->priority[role][resumes]);
        }
        if (c->credentials[role] != NULL)
            gnutls_certificate_free_credentials(c->credentials[role]);
    }
    if (c->dh != NULL)
        gnutls_dh_params_deinit(c->dh);
    if (c->anti_replay != NULL)
        gnutls_anti_replay_deinit(c->anti_replay);
    replay_store_free(c->replay_store);
    for (unsigned i = 0; i < c->chain_length; i++)
        gnutls_free(c->chain[i].data);
    gnutls_free(c->dh_prime.data);
    gnutls_free(c->ocsp.data);
    gnutls_free(c->kept.data);
    gnutls_free(c->cached_id.data);
    gnutls_free(c->cached_session.data);
    gnutls_free(c->ticket_key.data);
    free(c);
}

static struct context *setup(const struct tls_case *tls_case, const char *material, struct fault *fault) {
    struct context *c = NULL;
    if (tls_case->fips)
        fault_set(fault, FAULT_UNSUPPORTED, "the FIPS provider is OpenSSL's");
    else if ((c = calloc(1, sizeof *c)) == NULL)
        fault_set(fault, FAULT_ERROR, "out of memory");
    if (c == NULL)
        return NULL;
    c->tls_case = *tls_case;
    if (gnutls_make_priorities(c, fault) && make_credentials(c, fault) &&
        gnutls_load_material(c, material, fault) && gnutls_make_resumption(c, fault))
        return c;
    teardown(c);
    return NULL;
}

/* --- The transport: the pipes that every library has. --- */

static ssize_t push(gnutls_transport_ptr_t pointer, const void *data, size_t length) {
    const struct side *side = pointer;
    size_t taken = pipe_write(side->pipes.out, data, length);
    if (taken > 0)
        return (ssize_t)taken;
    gnutls_transport_set_errno(side->session, EAGAIN);
    return -1;
}

static ssize_t pull(gnutls_transport_ptr_t pointer, void *data, size_t length) {
    const struct side *side = pointer;
    size_t given = pipe_read(side->pipes.in, data, length);
    if (given > 0)
        return (ssize_t)given;
    gnutls_transport_set_errno(side->session, EAGAIN);
    return -1;
}

static int pull_timeout(gnutls_transport_ptr_t pointer, unsigned milliseconds) {
    (void)milliseconds; /* nothing can arrive while this side waits: both are the same thread */
    const struct side *side = pointer;
    return pipe_pending(side->pipes.in) > 0;
}

/* --- A side. --- */

static unsigned flags_of(const struct side *side) {
    const struct context *c = side->context;
    unsigned flags = GNUTLS_NONBLOCK | gnutls_resumption_flags(c);
    /* KEY_SHARE_TOP: else a TLS 1.3 client makes a second key share, on the certificate's curve, for nothing.
     */
    if (c->tls_case.method != METHOD_DEFAULT)
        flags |= GNUTLS_KEY_SHARE_TOP;
    return flags | (side->role == ROLE_CLIENT ? GNUTLS_CLIENT : GNUTLS_SERVER);
}

static int configure(struct side *side) {
    struct context *c = side->context;
    gnutls_session_t session = side->session;
    int code = gnutls_priority_set(session, c->priority[side->role][side->resumes]);
    if (code < 0 ||
        (code = gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, c->credentials[side->role])) < 0)
        return code;
    if (c->tls_case.dh_bits != 0)
        gnutls_dh_set_prime_bits(session, c->tls_case.dh_bits);
    if (side->role == ROLE_SERVER && c->tls_case.client_authentication)
        gnutls_certificate_server_set_request(session, GNUTLS_CERT_REQUIRE);
    if (side->role == ROLE_CLIENT && c->ocsp.size > 0 &&
        (code = gnutls_ocsp_status_request_enable_client(session, NULL, 0, NULL)) < 0)
        return code;
    gnutls_transport_set_ptr(session, side);
    gnutls_transport_set_push_function(session, push);
    gnutls_transport_set_pull_function(session, pull);
    gnutls_transport_set_pull_timeout_function(session, pull_timeout);
    return gnutls_resumption_open(side);
}

static void close_side(struct side *side) {
    if (side->session != NULL)
        gnutls_deinit(side->session);
    free(side);
}

static struct side *open_side(struct context *context, enum role role, struct pipe_end pipes, bool resume,
                              struct fault *fault) {
    struct side *side = calloc(1, sizeof *side);
    if (side == NULL) {
        fault_set(fault, FAULT_ERROR, "out of memory");
        return NULL;
    }
    *side = (struct side){.context = context, .role = role, .pipes = pipes, .resumes = resume};
    int code = gnutls_init(&side->session, flags_of(side));
    if (code < 0)
        side->session = NULL;
    else
        code = configure(side);
    if (code >= 0)
        return side;
    gnutls_fault(fault, FAULT_ERROR, "no session", code);
    close_side(side);
    return NULL;
}

static enum progress failed(const struct side *side, const char *what, int code, struct fault *fault) {
    char reason[REASON_MAX];
    snprintf(reason, sizeof reason, "the %s's %s failed", side->role == ROLE_CLIENT ? "client" : "server",
             what);
    gnutls_fault(fault, gnutls_kind_of(code), reason, code);
    return PROGRESS_FAILED;
}

/* The library sends it right after the ClientHello. */
static ssize_t send_early(struct side *side) {
    static const unsigned char data[EARLY_DATA_MAX];
    unsigned bytes = side->early_to_send;
    side->early_to_send = 0;
    return gnutls_record_send_early_data(side->session, data, bytes);
}

static void take_early(struct side *side) {
    unsigned char data[4096];
    ssize_t taken;
    while ((taken = gnutls_record_recv_early_data(side->session, data, sizeof data)) > 0)
        side->early_taken += taken;
}

static enum progress step(struct side *side, struct fault *fault) {
    if (side->early_to_send > 0) {
        ssize_t code = send_early(side);
        if (code < 0)
            return failed(side, "early data", (int)code, fault);
    }
    int code = gnutls_handshake(side->session);
    if (side->takes_early)
        take_early(side);
    if (code == GNUTLS_E_SUCCESS && side->issues_ticket) {
        code = gnutls_session_ticket_send(side->session, 1, 0);
        return code < 0 ? failed(side, "ticket", code, fault) : PROGRESS_DONE;
    }
    if (code == GNUTLS_E_SUCCESS)
        return PROGRESS_DONE;
    if (!gnutls_error_is_fatal(code))
        return PROGRESS_WAIT; /* the bound on turns ends a wait that nothing ends */
    return failed(side, "handshake", code, fault);
}

const struct backend linked_backend = {
    .library = "gnutls",
    .clock = &real_clock,
    .counter_events = hardware_events,
    .takes_settings = false,
    .start = start,
    .version = version,
    .version_text = version_text,
    .architecture = NULL,
    .cpu_features = NULL, /* GNUTLS_CPUID_OVERRIDE is read, but what came of it is told nowhere */
    .setup = setup,
    .teardown = teardown,
    .open = open_side,
    .step = step,
    .inspect = gnutls_inspect,
    .keep = gnutls_keep,
    .close = close_side,
};
