/* The two ways of OpenSSL (before and since 3.0) for what openssl_compat.h promises. */
#include "openssl_compat.h"

const char *compat_version_text(void) {
    return OpenSSL_version(OPENSSL_VERSION);
}

bool compat_takes(const struct tls_case *c, struct fault *fault) {
    (void)c, (void)fault;
    return true;
}

void compat_allow_weak(SSL_CTX *ctx) {
    SSL_CTX_set_security_level(ctx, 0);
}

bool compat_use_suite_1_3(SSL_CTX *ctx, const struct tls_case *c, const char *suite) {
    (void)c;
    return SSL_CTX_set_ciphersuites(ctx, suite) == 1;
}

bool compat_peer_share(SSL *ssl, EVP_PKEY **share) {
    return SSL_get_peer_tmp_key(ssl, share) == 1;
}

void compat_keep_verified_chain(SSL_CTX *ctx) {
    (void)ctx; /* it does so by itself */
}

STACK_OF(X509) * compat_verified_chain(SSL *ssl) {
    return SSL_get0_verified_chain(ssl);
}

const char *compat_verified_host(SSL *ssl, X509 *certificate) {
    (void)certificate;
    return SSL_get0_peername(ssl);
}

bool compat_ask_for_ocsp(SSL_CTX *ctx) {
    return SSL_CTX_set_tlsext_status_type(ctx, TLSEXT_STATUSTYPE_ocsp) == 1;
}

static int staple(SSL *ssl, void *argument) {
    const struct material *response = argument;
    unsigned char *copy =
        OPENSSL_memdup(response->bytes, response->length); /* the connection takes it over */
    if (copy == NULL || SSL_set_tlsext_status_ocsp_resp(ssl, copy, (long)response->length) != 1)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    return SSL_TLSEXT_ERR_OK;
}

bool compat_staple(SSL_CTX *ctx, struct material *response) {
    return SSL_CTX_set_tlsext_status_cb(ctx, staple) == 1 &&
           SSL_CTX_set_tlsext_status_arg(ctx, response) == 1;
}

bool compat_allow_early_data(SSL_CTX *ctx, unsigned bytes) {
    return SSL_CTX_set_max_early_data(ctx, bytes) == 1;
}

bool compat_early_data_accepted(SSL *ssl) {
    return SSL_get_early_data_status(ssl) == SSL_EARLY_DATA_ACCEPTED;
}

/* Connections keep theirs themselves. */
void compat_keep_sessions(SSL_CTX *ctx) {
    (void)ctx;
}

SSL_SESSION *compat_newest_session(SSL *ssl) {
    return SSL_get1_session(ssl);
}

SSL_SESSION *compat_copy_session(SSL_SESSION *session) {
    return SSL_SESSION_dup(session);
}

bool compat_stop_tickets(SSL_CTX *ctx) {
    (void)ctx; /* each connection does */
    return true;
}

bool compat_issue_no_ticket(SSL *ssl) {
    return SSL_set_num_tickets(ssl, 0) == 1;
}

bool compat_flush_tickets(SSL *ssl) {
    (void)ssl; /* none is held back */
    return true;
}

#if OPENSSL_HAS_PROVIDERS

const char *compat_cpu_features(void) {
    return OPENSSL_info(OPENSSL_INFO_CPU_SETTINGS);
}

SSL_CTX *compat_ctx_new(OSSL_LIB_CTX *library, bool dtls) {
    return SSL_CTX_new_ex(library, NULL, dtls ? DTLS_method() : TLS_method());
}

X509 *compat_read_certificate(BIO *pem, OSSL_LIB_CTX *library) {
    X509 *certificate = X509_new_ex(library, NULL);
    if (certificate != NULL && PEM_read_bio_X509(pem, &certificate, NULL, NULL) != NULL)
        return certificate;
    X509_free(certificate);
    return NULL;
}

EVP_PKEY *compat_read_key(BIO *pem, pem_password_cb *password, OSSL_LIB_CTX *library) {
    return PEM_read_bio_PrivateKey_ex(pem, NULL, password, NULL, library, NULL);
}

EVP_PKEY *compat_dh_from_pem(BIO *pem, OSSL_LIB_CTX *library) {
    EVP_PKEY *dh = PEM_read_bio_Parameters_ex(pem, NULL, library, NULL);
    if (dh != NULL && !EVP_PKEY_is_a(dh, "DH")) {
        EVP_PKEY_free(dh);
        return NULL;
    }
    return dh;
}

EVP_PKEY *compat_dh_from_group(const char *group, OSSL_LIB_CTX *library) {
    char name[32] = {0};
    OPENSSL_strlcpy(name, group, sizeof name);
    OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, name, 0),
                           OSSL_PARAM_construct_end()};
    EVP_PKEY *dh = NULL;
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(library, "DH", NULL);
    if (ctx == NULL || EVP_PKEY_fromdata_init(ctx) <= 0 ||
        EVP_PKEY_fromdata(ctx, &dh, EVP_PKEY_KEY_PARAMETERS, params) <= 0)
        dh = NULL;
    EVP_PKEY_CTX_free(ctx);
    return dh;
}

bool compat_dh_numbers(EVP_PKEY *dh, BIGNUM **p, BIGNUM **g, long *private_length_bits) {
    int bits = 0;
    *p = *g = NULL;
    ERR_set_mark(); /* a missing length is not an error, but would leave one behind */
    if (!EVP_PKEY_get_int_param(dh, OSSL_PKEY_PARAM_DH_PRIV_LEN, &bits))
        bits = 0;
    ERR_pop_to_mark();
    *private_length_bits = bits;
    return EVP_PKEY_get_bn_param(dh, OSSL_PKEY_PARAM_FFC_P, p) &&
           EVP_PKEY_get_bn_param(dh, OSSL_PKEY_PARAM_FFC_G, g);
}

bool compat_use_dh(SSL_CTX *ctx, EVP_PKEY *dh) {
    if (!EVP_PKEY_up_ref(dh))
        return false;
    if (SSL_CTX_set0_tmp_dh_pkey(ctx, dh) == 1)
        return true;
    EVP_PKEY_free(dh);
    return false;
}

int compat_group_nid(EVP_PKEY *key) {
    char name[64];
    size_t length = 0;
    int nid = EVP_PKEY_get_id(key);
    if (nid != EVP_PKEY_EC && nid != EVP_PKEY_DH)
        return nid; /* X25519 and its like are their own group */
    ERR_set_mark(); /* custom DH parameters have no name, which is not an error here */
    nid = EVP_PKEY_get_group_name(key, name, sizeof name, &length) ? OBJ_txt2nid(name) : NID_undef;
    ERR_pop_to_mark();
    return nid;
}

const char *compat_key_name(EVP_PKEY *key) {
    return EVP_PKEY_get0_type_name(key);
}

/* Hybrids have no NID, only a name. */
const char *compat_group_name(SSL *ssl) {
#if OPENSSL_VERSION_NUMBER >= 0x30200000L
    return SSL_get0_group_name(ssl);
#else
    int nid = (int)SSL_get_negotiated_group(ssl);
    return nid == NID_undef ? NULL : SSL_group_to_name(ssl, nid);
#endif
}

X509 *compat_peer_certificate(SSL *ssl) {
    return SSL_get0_peer_certificate(ssl);
}

#else /* 1.1.1 */

const char *compat_cpu_features(void) {
    return NULL;
}

SSL_CTX *compat_ctx_new(OSSL_LIB_CTX *library, bool dtls) {
    (void)library;
    return SSL_CTX_new(dtls ? DTLS_method() : TLS_method());
}

X509 *compat_read_certificate(BIO *pem, OSSL_LIB_CTX *library) {
    (void)library;
    return PEM_read_bio_X509(pem, NULL, NULL, NULL);
}

EVP_PKEY *compat_read_key(BIO *pem, pem_password_cb *password, OSSL_LIB_CTX *library) {
    (void)library;
    return PEM_read_bio_PrivateKey(pem, NULL, password, NULL);
}

EVP_PKEY *compat_dh_from_pem(BIO *pem, OSSL_LIB_CTX *library) {
    (void)library;
    DH *dh = PEM_read_bio_DHparams(pem, NULL, NULL, NULL);
    EVP_PKEY *key = dh == NULL ? NULL : EVP_PKEY_new();
    if (key == NULL || !EVP_PKEY_assign_DH(key, dh)) {
        DH_free(dh);
        EVP_PKEY_free(key);
        return NULL;
    }
    return key;
}

EVP_PKEY *compat_dh_from_group(const char *name, OSSL_LIB_CTX *library) {
    (void)library;
    DH *dh = DH_new_by_nid(OBJ_txt2nid(name));
    EVP_PKEY *key = dh == NULL ? NULL : EVP_PKEY_new();
    if (key == NULL || !EVP_PKEY_assign_DH(key, dh)) {
        DH_free(dh);
        EVP_PKEY_free(key);
        return NULL;
    }
    return key;
}

bool compat_dh_numbers(EVP_PKEY *key, BIGNUM **p, BIGNUM **g, long *private_length_bits) {
    const BIGNUM *own_p = NULL, *own_g = NULL;
    DH *dh = EVP_PKEY_get0_DH(key);
    *p = *g = NULL;
    if (dh == NULL)
        return false;
    DH_get0_pqg(dh, &own_p, NULL, &own_g);
    *private_length_bits = DH_get_length(dh);
    return own_p != NULL && own_g != NULL && (*p = BN_dup(own_p)) != NULL && (*g = BN_dup(own_g)) != NULL;
}

bool compat_use_dh(SSL_CTX *ctx, EVP_PKEY *key) {
    return SSL_CTX_set_tmp_dh(ctx, EVP_PKEY_get0_DH(key)) == 1;
}

int compat_group_nid(EVP_PKEY *key) {
    int nid = EVP_PKEY_id(key);
    if (nid == EVP_PKEY_EC)
        return EC_GROUP_get_curve_name(EC_KEY_get0_group(EVP_PKEY_get0_EC_KEY(key)));
    if (nid == EVP_PKEY_DH)
        return DH_get_nid(EVP_PKEY_get0_DH(key));
    return nid;
}

const char *compat_key_name(EVP_PKEY *key) {
    return OBJ_nid2sn(EVP_PKEY_base_id(key));
}

/* 1.1.1 has no question for the negotiated group. Of TLS 1.3 the server keeps the client's key share;
 * in TLS 1.2 it takes the first group that both sides offer. */
const char *compat_group_name(SSL *ssl) {
    EVP_PKEY *share = NULL;
    int nid = NID_undef;
    if (SSL_is_server(ssl) && SSL_version(ssl) < TLS1_3_VERSION) {
        nid = (int)SSL_get_shared_curve(ssl, 0);
    } else if (SSL_is_server(ssl) && SSL_get_peer_tmp_key(ssl, &share)) {
        nid = compat_group_nid(share);
        EVP_PKEY_free(share);
    }
    return nid == NID_undef ? NULL : OBJ_nid2sn(nid);
}

X509 *compat_peer_certificate(SSL *ssl) {
    X509 *certificate = SSL_get_peer_certificate(ssl);
    X509_free(certificate); /* the session holds another reference for as long as `ssl` lives */
    return certificate;
}

#endif

#if OPENSSL_VERSION_NUMBER >= 0x30500000L

const char *compat_signature_name(SSL *ssl, bool of_peer, EVP_PKEY *key) {
    const char *name = NULL;
    (void)key;
    long told = of_peer ? SSL_get0_peer_signature_name(ssl, &name) : SSL_get0_signature_name(ssl, &name);
    return told == 1 ? name : NULL;
}

#else

/* These versions tell a signature's type and digest; together with the key's type they name the scheme. */
static const struct {
    int type, digest;
    const char *word;
} schemes[] = {
    {EVP_PKEY_RSA, NID_sha256, "rsa_pkcs1_sha256"},
    {EVP_PKEY_RSA, NID_sha384, "rsa_pkcs1_sha384"},
    {EVP_PKEY_RSA, NID_sha512, "rsa_pkcs1_sha512"},
    {EVP_PKEY_RSA_PSS, NID_sha256, "rsa_pss_rsae_sha256"},
    {EVP_PKEY_RSA_PSS, NID_sha384, "rsa_pss_rsae_sha384"},
    {EVP_PKEY_RSA_PSS, NID_sha512, "rsa_pss_rsae_sha512"},
    {EVP_PKEY_EC, NID_sha256, "ecdsa_secp256r1_sha256"},
    {EVP_PKEY_EC, NID_sha384, "ecdsa_secp384r1_sha384"},
    {EVP_PKEY_EC, NID_sha512, "ecdsa_secp521r1_sha512"},
    {EVP_PKEY_ED25519, NID_undef, "ed25519"},
    {EVP_PKEY_ED448, NID_undef, "ed448"},
};

static const char *pss_word(int digest) {
    return digest == NID_sha256   ? "rsa_pss_pss_sha256"
           : digest == NID_sha384 ? "rsa_pss_pss_sha384"
                                  : "rsa_pss_pss_sha512";
}

const char *compat_signature_name(SSL *ssl, bool of_peer, EVP_PKEY *key) {
    int type = NID_undef, digest = NID_undef;
    if (of_peer ? !SSL_get_peer_signature_type_nid(ssl, &type) || !SSL_get_peer_signature_nid(ssl, &digest)
                : !SSL_get_signature_type_nid(ssl, &type) || !SSL_get_signature_nid(ssl, &digest))
        return NULL;
    if (type == EVP_PKEY_RSA_PSS && key != NULL && EVP_PKEY_base_id(key) == EVP_PKEY_RSA_PSS)
        return pss_word(digest);
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        if (schemes[i].type == type && schemes[i].digest == digest)
            return schemes[i].word;
    }
    return OBJ_nid2sn(type);
}

#endif
