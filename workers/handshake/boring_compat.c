/* The way of BoringSSL's family for what openssl_compat.h promises. The functions' own documentation is in
 * the library's openssl/ssl.h. */
#include "openssl_compat.h"

#include <string.h>

/* What its TLS lets a ticket say, whatever the application wants: kMaxEarlyDataAccepted in ssl/internal.h. */
enum { EARLY_DATA_TAKEN_MAX = 14336 };

bool compat_takes(const struct tls_case *c, struct fault *fault) {
    const char *lacks =
        c->fips                       ? "this build of " BORING_TITLE " is not its FIPS module"
        : case_is_dtls(c)             ? "no DTLS is set up with " BORING_TITLE
        : case_has_psk(c)             ? "no external pre-shared key is set up with " BORING_TITLE
        : c->method == METHOD_DHE     ? BORING_TITLE " has no finite-field DH in TLS"
        : is_cbc(c->cipher)           ? BORING_TITLE " has no encrypt-then-MAC (RFC 7366)"
        : c->key_type == KEY_RSA_PSS  ? BORING_TITLE " has no RSA-PSS keys in TLS"
        : c->key_type == KEY_ED448    ? BORING_TITLE " has no Ed448 keys"
        : c->curve == GROUP_SECP192R1 ? BORING_TITLE " has no curve secp192r1"
        : is_ml_dsa(c->key_type) && !BORING_HAS_ML_DSA ? "this " BORING_TITLE " has no ML-DSA keys in TLS"
        : c->resumption == RESUME_PSK                  ? BORING_TITLE " resumes with a key exchange only"
        : c->anti_replay                               ? BORING_TITLE " has no anti-replay of its own"
        : c->early_data_bytes > EARLY_DATA_TAKEN_MAX ? BORING_TITLE " takes at most 14336 bytes of early data"
                                                     : NULL;
    return lacks == NULL || fault_set(fault, FAULT_UNSUPPORTED, "%s", lacks);
}

const char *compat_cpu_features(void) {
    return NULL;
}

SSL_CTX *compat_ctx_new(OSSL_LIB_CTX *library, bool dtls) {
    (void)library, (void)dtls;
    return SSL_CTX_new(TLS_method());
}

X509 *compat_read_certificate(BIO *pem, OSSL_LIB_CTX *library) {
    (void)library;
    return PEM_read_bio_X509(pem, NULL, NULL, NULL);
}

EVP_PKEY *compat_read_key(BIO *pem, pem_password_cb *password, OSSL_LIB_CTX *library) {
    (void)library;
    return PEM_read_bio_PrivateKey(pem, NULL, password, NULL);
}

void compat_allow_weak(SSL_CTX *ctx) {
    (void)ctx; /* there are no security levels */
}

/* --- DH parameters: `compat_takes` refuses the cases that have some. --- */

EVP_PKEY *compat_dh_from_pem(BIO *pem, OSSL_LIB_CTX *library) {
    (void)pem, (void)library;
    return NULL;
}

EVP_PKEY *compat_dh_from_group(const char *name, OSSL_LIB_CTX *library) {
    (void)name, (void)library;
    return NULL;
}

bool compat_dh_numbers(EVP_PKEY *dh, BIGNUM **p, BIGNUM **g, long *private_length_bits) {
    (void)dh;
    *p = *g = NULL;
    *private_length_bits = 0;
    return false;
}

bool compat_use_dh(SSL_CTX *ctx, EVP_PKEY *dh) {
    (void)ctx, (void)dh;
    return false;
}

/* --- What was negotiated. --- */

int compat_group_nid(EVP_PKEY *key) {
    int nid = EVP_PKEY_id(key);
    return nid == EVP_PKEY_EC ? EC_GROUP_get_curve_name(EC_KEY_get0_group(EVP_PKEY_get0_EC_KEY(key))) : nid;
}

/* Each TLS 1.3 handshake writes its own group into its session, resumptions too. */
const char *compat_group_name(SSL *ssl) {
    return SSL_get_curve_name(SSL_get_curve_id(ssl));
}

/* Older versions don't tell the share itself, and none those of ML-KEM. */
bool compat_peer_share(SSL *ssl, EVP_PKEY **share) {
    (void)ssl;
    *share = NULL;
    return false;
}

/* Of a resumption it tells the first handshake's, although nothing was signed: the bytes prove that there was
 * a pre-shared key or a session (pair.c). */
const char *compat_signature_name(SSL *ssl, bool of_peer, EVP_PKEY *key) {
    (void)key;
    uint16_t scheme = of_peer && !SSL_session_reused(ssl) ? SSL_get_peer_signature_algorithm(ssl) : 0;
    return scheme == 0 ? NULL : SSL_get_signature_algorithm_name(scheme, 1);
}

X509 *compat_peer_certificate(SSL *ssl) {
    X509 *certificate = SSL_get_peer_certificate(ssl);
    X509_free(certificate); /* the session holds another reference for as long as `ssl` lives */
    return certificate;
}

/* The library tells no name, only that verification succeeded with the name that the connection was given. */
const char *compat_verified_host(SSL *ssl, X509 *certificate) {
    (void)ssl;
    return X509_check_host(certificate, VERIFIED_HOST, strlen(VERIFIED_HOST), 0, NULL) == 1 ? VERIFIED_HOST
                                                                                            : NULL;
}

bool compat_ask_for_ocsp(SSL_CTX *ctx) {
    SSL_CTX_enable_ocsp_stapling(ctx);
    return true;
}

bool compat_staple(SSL_CTX *ctx, struct material *response) {
    return SSL_CTX_set_ocsp_response(ctx, response->bytes, response->length) == 1;
}

/* --- Resumption. --- */

bool compat_allow_early_data(SSL_CTX *ctx, unsigned bytes) {
    SSL_CTX_set_early_data_enabled(ctx, bytes > 0);
    return true;
}

bool compat_early_data_accepted(SSL *ssl) {
    return SSL_early_data_accepted(ssl);
}

static void free_session(void *parent, void *session, CRYPTO_EX_DATA *data, int index, long number,
                         void *pointer) {
    (void)parent, (void)data, (void)index, (void)number, (void)pointer;
    SSL_SESSION_free(session);
}

/* The place of a connection's newest session. Taken at the first set-up, before there are threads. */
static int session_index(void) {
    static int index = -1;
    if (index < 0)
        index = SSL_get_ex_new_index(0, NULL, NULL, NULL, free_session);
    return index;
}

static int keep_session(SSL *ssl, SSL_SESSION *session) {
    SSL_SESSION_free(SSL_get_ex_data(ssl, session_index()));
    return SSL_set_ex_data(ssl, session_index(), session); /* 1: taken over */
}

/* In TLS 1.3 only this callback gets a session that can be resumed. The cache itself stays unused. */
void compat_keep_sessions(SSL_CTX *ctx) {
    session_index();
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(ctx, keep_session);
}

SSL_SESSION *compat_newest_session(SSL *ssl) {
    SSL_SESSION *session = SSL_get_ex_data(ssl, session_index());
    if (session != NULL)
        SSL_SESSION_up_ref(session);
    return session;
}

/* A session is not written to after its handshake, so that threads may share it. */
SSL_SESSION *compat_copy_session(SSL_SESSION *session) {
    SSL_SESSION_up_ref(session);
    return session;
}

bool compat_stop_tickets(SSL_CTX *ctx) {
    return SSL_CTX_set_num_tickets(ctx, 0) == 1;
}

/* Only a configuration can be told, and was when the session was kept. */
bool compat_issue_no_ticket(SSL *ssl) {
    (void)ssl;
    return true;
}

/* A TLS 1.3 server holds its tickets back until it writes, be it nothing at all. */
bool compat_flush_tickets(SSL *ssl) {
    return SSL_version(ssl) != TLS1_3_VERSION || SSL_CTX_get_num_tickets(SSL_get_SSL_CTX(ssl)) == 0 ||
           SSL_write(ssl, "", 0) == 0;
}
