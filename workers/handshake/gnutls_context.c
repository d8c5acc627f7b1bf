/* A context and a session of GnuTLS, as far as they do not depend on what carries the handshake: TLS records
 * (backend_gnutls.c), or QUIC (backend_ngtcp2.c). */
#include "gnutls_backend.h"

#include <stdlib.h>
#include <string.h>

/* The library starts itself when it is loaded, before main could keep the host's configuration
 * from it. This symbol tells it to wait for start(). */
GNUTLS_SKIP_GLOBAL_INIT

bool gnutls_start(struct fault *fault) {
    setenv("GNUTLS_SYSTEM_PRIORITY_FILE", "/dev/null", 1);
    int code = gnutls_global_init();
    return code >= 0 || gnutls_fault(fault, FAULT_ERROR, "GnuTLS did not start", code);
}

static void free_configuration(struct configuration *configuration) {
    for (int resumes = 0; resumes < 2; resumes++) {
        if (configuration->priority[resumes] != NULL)
            gnutls_priority_deinit(configuration->priority[resumes]);
    }
    if (configuration->credentials != NULL)
        gnutls_certificate_free_credentials(configuration->credentials);
    gnutls_free_psk(configuration);
    if (configuration->dh != NULL)
        gnutls_dh_params_deinit(configuration->dh);
}

/* False and a fault; what was made until then is to be freed all the same. */
static bool make_configuration(struct context *c, enum role role, struct configuration *out,
                               struct fault *fault) {
    step_begin(STEP_CONTEXT);
    int code = gnutls_certificate_allocate_credentials(&out->credentials);
    if (code < 0)
        return gnutls_fault(fault, FAULT_ERROR, "out of memory", code);
    if (case_has_psk(&c->tls_case) && !gnutls_make_psk(c, out, role, fault))
        return false;
    return gnutls_make_priorities(&c->tls_case, role, out->priority, fault) &&
           gnutls_load_role(c, out, role, fault);
}

static void free_retired(struct context *c) {
    while (c->retired != NULL) {
        struct retired *next = c->retired->next;
        free_configuration(&c->retired->configuration);
        free(c->retired);
        c->retired = next;
    }
}

/* Sessions point to credentials without counting as users, so those of open ones are kept. */
bool gnutls_context_reload(struct context *c, struct fault *fault) {
    struct retired *retired = calloc(1, sizeof *retired);
    struct configuration fresh = {0};
    if (retired == NULL)
        return fault_set(fault, FAULT_ERROR, "out of memory");
    if (!make_configuration(c, ROLE_SERVER, &fresh, fault)) {
        free_configuration(&fresh);
        free(retired);
        return false;
    }
    *retired = (struct retired){c->retired, c->configurations[ROLE_SERVER]};
    c->configurations[ROLE_SERVER] = fresh;
    c->retired = retired;
    if (c->open_servers == 0)
        free_retired(c);
    return true;
}

/* The case's own configuration is that of the first name. */
static bool make_names(struct context *c, struct fault *fault) {
    unsigned names = c->tls_case.server_names;
    if (names == 1)
        return true;
    c->names = server_names_new(names);
    c->further = calloc(names - 1, sizeof *c->further);
    if (c->names == NULL || c->further == NULL)
        return fault_set(fault, FAULT_ERROR, "out of memory");
    c->names[0].configuration = &c->configurations[ROLE_SERVER];
    for (unsigned i = 1; i < names; i++) {
        c->names[i].configuration = &c->further[i - 1];
        if (!make_configuration(c, ROLE_SERVER, &c->further[i - 1], fault))
            return false;
    }
    return true;
}

static void free_names(struct context *c) {
    for (unsigned i = 1; c->further != NULL && i < c->tls_case.server_names; i++)
        free_configuration(&c->further[i - 1]);
    free(c->further);
    free(c->names);
}

void gnutls_context_clear(struct context *c) {
    free_names(c);
    for (enum role role = ROLE_CLIENT; role <= ROLE_SERVER; role++)
        free_configuration(&c->configurations[role]);
    free_retired(c);
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
    gnutls_free(c->cookie_key.data);
    free(c->folder);
}

bool gnutls_context_fill(struct context *c, const struct tls_case *tls_case, const char *material,
                         struct fault *fault) {
    if (tls_case->fips)
        return fault_set(fault, FAULT_UNSUPPORTED, "the FIPS provider is OpenSSL's");
    if (!case_trust_store_is_taken(tls_case, true, fault))
        return false;
    c->tls_case = *tls_case;
    if ((c->folder = strdup(material)) == NULL)
        return fault_set(fault, FAULT_ERROR, "out of memory");
    bool good = (start_is_timed || gnutls_load_expected(c, fault)) && gnutls_load_ocsp(c, fault);
    for (enum role role = ROLE_CLIENT; good && role <= ROLE_SERVER; role++)
        good = make_configuration(c, role, &c->configurations[role], fault);
    return good && make_names(c, fault) && gnutls_make_resumption(c, fault);
}

static unsigned flags_of(const struct side *side) {
    const struct context *c = side->context;
    unsigned flags = gnutls_resumption_flags(c);
    /* KEY_SHARE_TOP: else a TLS 1.3 client makes a second key share, on the certificate's curve, for nothing.
     */
    if (c->tls_case.method != METHOD_DEFAULT)
        flags |= GNUTLS_KEY_SHARE_TOP;
    return flags | (side->role == ROLE_CLIENT ? GNUTLS_CLIENT : GNUTLS_SERVER);
}

static int configure(struct side *side) {
    struct context *c = side->context;
    gnutls_session_t session = side->session;
    const struct configuration *from =
        side->own.credentials != NULL ? &side->own : &c->configurations[side->role];
    int code = gnutls_priority_set(session, from->priority[side->resumes]);
    if (code < 0)
        return code;
    code = case_has_psk(&c->tls_case)
               ? gnutls_use_psk(side, from)
               : gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, from->credentials);
    if (code < 0)
        return code;
    if (case_verifies(&c->tls_case, side->role == ROLE_CLIENT))
        gnutls_session_set_verify_cert(session, side->role == ROLE_CLIENT ? VERIFIED_HOST : NULL, 0);
    if (side->role == ROLE_SERVER && c->names != NULL)
        gnutls_choose_by_name(side);
    if (c->tls_case.dh_bits != 0)
        gnutls_dh_set_prime_bits(session, c->tls_case.dh_bits);
    if (side->role == ROLE_SERVER && c->tls_case.client_authentication)
        gnutls_certificate_server_set_request(session, GNUTLS_CERT_REQUIRE);
    if (side->role == ROLE_CLIENT && c->ocsp.size > 0 &&
        (code = gnutls_ocsp_status_request_enable_client(session, NULL, 0, NULL)) < 0)
        return code;
    return gnutls_resumption_open(side);
}

/* Where certificates are reloaded, which one thread does: else threads would write to what they share. */
static bool is_counted(const struct side *side) {
    return side->role == ROLE_SERVER && side->context->tls_case.reload_every != 0;
}

bool gnutls_session_open(struct side *side, unsigned flags, struct fault *fault) {
    struct context *c = side->context;
    if (c->tls_case.context == CONTEXT_CONNECTION && !make_configuration(c, side->role, &side->own, fault))
        return false;
    int code = gnutls_init(&side->session, flags | flags_of(side));
    if (code >= 0 && is_counted(side))
        c->open_servers++;
    if (code < 0)
        side->session = NULL;
    else
        code = configure(side);
    return code >= 0 || gnutls_fault(fault, FAULT_ERROR, "no session", code);
}

void gnutls_session_close(struct side *side) {
    struct context *c = side->context;
    if (side->session != NULL) {
        gnutls_deinit(side->session);
        if (is_counted(side) && --c->open_servers == 0 && c->retired != NULL)
            free_retired(c);
    }
    free_configuration(&side->own);
}
