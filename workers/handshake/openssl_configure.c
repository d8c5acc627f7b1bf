/* Configurations: exactly one protocol, cipher, group and signature scheme on each side, or, with default
 * settings, none of them. */
#include "openssl_backend.h"

#include <string.h>

enum { ONE_WEEK_S = 7 * 24 * 3600, LIST_MAX = 96 }; /* TLS 1.3 allows tickets no longer life */

static void append(char *list, const char *name) {
    size_t length = strlen(list);
    snprintf(list + length, LIST_MAX - length, "%s%s", length == 0 ? "" : ":", name);
}

static bool use_groups(SSL_CTX *ctx, const char *list, struct fault *fault) {
    if (SSL_CTX_set1_groups_list(ctx, list) == 1)
        return true;
    char reason[LIST_MAX + 64];
    snprintf(reason, sizeof reason, "the library does not take the group list %s", list);
    return openssl_fault(fault, FAULT_UNSUPPORTED, reason);
}

/* The group of the key share that the server does not take: of the same kind as the case's where a client
 * makes a second share of the other kind. */
static enum group retried_group(enum group group) {
    if (COMPAT_SHARES_BOTH_KINDS && (is_hybrid(group) || is_mlkem(group)))
        return group == GROUP_X25519MLKEM768 ? GROUP_SECP256R1MLKEM768 : GROUP_X25519MLKEM768;
    return group == GROUP_X25519 ? GROUP_P256 : GROUP_X25519;
}

/* The first group is the one that the client makes a key share of: the case's, or where the server shall ask
 * for the case's, another. The certificate's curve has to be offered as well, but only by the client: as the
 * server's it could be the key share's. Where a suite uses no group, P-256 stands there, so that no ffdhe
 * group is offered by default. */
static bool set_groups(SSL_CTX *ctx, const struct tls_case *c, enum role role, struct fault *fault) {
    const char *group = openssl_group_name(c->group), *curve = openssl_group_name(c->curve);
    const char *share = openssl_group_name(retried_group(c->group));
    bool retried_client = c->hello_retry && role == ROLE_CLIENT;
    char list[LIST_MAX] = "";
    if (group == NULL || (is_ffdhe(c->group) && case_has_tls_1_2(c) && !OPENSSL_HAS_PROVIDERS))
        group = "P-256"; /* 1.1.1 takes no ffdhe name here, and needs none for TLS 1.2 */
    if (c->method == METHOD_PSK && role == ROLE_SERVER && COMPAT_PREFER_NO_DHE_KEX == 0)
        group = "P-384"; /* which no client offers: see openssl_configure_resumption */
    if (retried_client)
        append(list, share);
    append(list, group);
    bool unlisted = !COMPAT_LISTS_CURVE && c->protocol == TLS_1_3;
    bool listed = unlisted || curve == NULL || strcmp(curve, group) == 0 ||
                  (retried_client && strcmp(curve, share) == 0);
    if (!listed && (role == ROLE_CLIENT || !c->hello_retry))
        append(list, curve);
    return use_groups(ctx, list, fault);
}

static bool force(SSL_CTX *ctx, const struct tls_case *c, enum role role, struct fault *fault) {
    uint16_t wire_version = c->protocol == TLS_1_3    ? TLS1_3_VERSION
                            : c->protocol == DTLS_1_2 ? DTLS1_2_VERSION
                                                      : TLS1_2_VERSION;
    /* Where nothing is signed, a client lists one all the same. */
    const char *signature =
        c->method == METHOD_RSA || case_has_psk(c) ? "rsa_pkcs1_sha256" : case_signature(c);
    char suite[64];
    compat_allow_weak(ctx); /* RSA-1024, DH-1024 and P-192 are wanted here */
    SSL_CTX_set_mode(ctx, SSL_MODE_NO_AUTO_CHAIN);
    if (!openssl_suite_name(c, suite, sizeof suite))
        return fault_set(fault, FAULT_ERROR, "the cipher suite's name is too long");
    if (SSL_CTX_set_min_proto_version(ctx, wire_version) != 1 ||
        SSL_CTX_set_max_proto_version(ctx, wire_version) != 1)
        return openssl_fault(fault, FAULT_UNSUPPORTED, "the library does not take this protocol version");
    if (!(c->protocol == TLS_1_3 ? compat_use_suite_1_3(ctx, c, suite)
                                 : SSL_CTX_set_cipher_list(ctx, suite) == 1))
        return openssl_fault(fault, FAULT_UNSUPPORTED, "the library does not take this cipher suite");
    if (!set_groups(ctx, c, role, fault))
        return false;
    return SSL_CTX_set1_sigalgs_list(ctx, signature) == 1 ||
           openssl_fault(fault, FAULT_UNSUPPORTED, "the library does not take this signature scheme");
}

/* --- Resumption. Clients need no cache: the session is handed to each of them. --- */

static bool set_resumption(SSL_CTX *ctx, const struct tls_case *c, enum role role, struct fault *fault) {
    static const unsigned char name[] = "kexbench";
    bool cached = c->resumption == RESUME_SESSION_ID || c->anti_replay || c->tickets == TICKETS_CACHED;
    bool tls_1_3_tickets = c->resumption == RESUME_PSK || c->resumption == RESUME_PSK_DHE;
    SSL_CTX_set_session_cache_mode(ctx, cached && role == ROLE_SERVER ? SSL_SESS_CACHE_SERVER
                                                                      : SSL_SESS_CACHE_OFF);
    if (c->resumption == RESUME_NONE || c->resumption == RESUME_SESSION_ID)
        SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
    if (c->resumption == RESUME_PSK || c->method == METHOD_PSK)
        SSL_CTX_set_options(ctx, COMPAT_PSK_KE);
    if (c->early_data_bytes > 0 && !c->anti_replay)
        SSL_CTX_set_options(ctx, COMPAT_NO_ANTI_REPLAY);
    if (role == ROLE_CLIENT && c->resumption != RESUME_NONE)
        compat_keep_sessions(ctx);
    SSL_CTX_set_timeout(ctx, ONE_WEEK_S);
    /* A client's external key of TLS 1.3 is a session without this context, which must then have none. */
    bool named = role == ROLE_SERVER || !case_has_psk(c);
    if ((named && SSL_CTX_set_session_id_context(ctx, name, sizeof name - 1) != 1) ||
        SSL_CTX_set_num_tickets(ctx, tls_1_3_tickets ? 1 : 0) != 1 ||
        !compat_allow_early_data(ctx, c->early_data_bytes))
        return openssl_fault(fault, FAULT_ERROR, "resumption can't be set up");
    return true;
}

/* A server prefers a key share, and before 3.3 can't be told otherwise. So when the full handshake is made,
 * it is given a group that the client does not offer: then it takes the pre-shared key alone. The client's
 * work is the same: every OpenSSL client sends a key share along. */
bool openssl_configure_resumption(struct context *context, struct fault *fault) {
    static const enum group others[] = {GROUP_X25519, GROUP_P256, GROUP_P384};
    const struct tls_case *c = &context->tls_case;
    if (!c->anti_replay && !compat_stop_tickets(context->configurations[ROLE_SERVER]))
        return openssl_fault(fault, FAULT_ERROR, "resumption can't be set up");
    if (c->resumption != RESUME_PSK || COMPAT_PREFER_NO_DHE_KEX != 0)
        return true;
    int other = 0;
    while (others[other] == c->group || others[other] == c->curve)
        other++;
    return use_groups(context->configurations[ROLE_SERVER], openssl_group_name(others[other]), fault);
}

/* --- Both. --- */

static int accept_any_chain(X509_STORE_CTX *store, void *argument) {
    (void)store, (void)argument;
    return 1; /* no chain is built; every handshake's certificate is compared with the case's afterwards */
}

static bool set_ocsp(SSL_CTX *ctx, struct context *context, enum role role, struct fault *fault) {
    if (strcmp(context->tls_case.ocsp_response, "-") == 0)
        return true;
    bool good = role == ROLE_CLIENT ? compat_ask_for_ocsp(ctx) : compat_staple(ctx, &context->ocsp_response);
    return good || openssl_fault(fault, FAULT_ERROR, "OCSP stapling can't be set up");
}

SSL_CTX *openssl_configure(struct context *context, enum role role, struct fault *fault) {
    const struct tls_case *c = &context->tls_case;
    bool defaults = c->protocol == PROTOCOL_DEFAULT;
    step_begin(STEP_CONTEXT);
    SSL_CTX *ctx = compat_ctx_new(context->library, case_is_dtls(c));
    if (ctx == NULL) {
        openssl_fault(fault, FAULT_ERROR, "no SSL_CTX");
        return NULL;
    }
    if (case_verifies(c, role == ROLE_CLIENT))
        compat_keep_verified_chain(ctx);
    else
        SSL_CTX_set_cert_verify_callback(ctx, accept_any_chain, NULL);
    if (role == ROLE_CLIENT && c->verification)
        SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
    if (role == ROLE_SERVER && c->client_authentication)
        SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    if (case_is_dtls(c))
        openssl_dtls_configure(ctx);
    if (case_has_psk(c))
        openssl_use_psk(context, ctx, role);
    bool good = set_ocsp(ctx, context, role, fault);
    if (good && !defaults)
        good = (c->tickets == TICKETS_DEFAULT || set_resumption(ctx, c, role, fault)) &&
               force(ctx, c, role, fault);
    if (good && openssl_load_role(context, ctx, role, fault))
        return ctx;
    SSL_CTX_free(ctx);
    return NULL;
}
