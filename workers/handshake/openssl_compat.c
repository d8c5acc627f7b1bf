/* The two ways of OpenSSL (before and since 3.0) for what openssl_compat.h promises. */
#include "openssl_compat.h"

#if OPENSSL_HAS_PROVIDERS

EVP_PKEY *compat_dh_from_pem(BIO *pem) {
    EVP_PKEY *dh = PEM_read_bio_Parameters(pem, NULL);
    if (dh != NULL && !EVP_PKEY_is_a(dh, "DH")) {
        EVP_PKEY_free(dh);
        return NULL;
    }
    return dh;
}

EVP_PKEY *compat_dh_from_group(int nid) {
    char name[32] = {0};
    OPENSSL_strlcpy(name, OBJ_nid2sn(nid), sizeof name);
    OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, name, 0),
                           OSSL_PARAM_construct_end()};
    EVP_PKEY *dh = NULL;
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, "DH", NULL);
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

int compat_server_group_nid(SSL *ssl) {
    return (int)SSL_get_negotiated_group(ssl);
}

X509 *compat_peer_certificate(SSL *ssl) {
    return SSL_get0_peer_certificate(ssl);
}

#else /* 1.1.1 */

EVP_PKEY *compat_dh_from_pem(BIO *pem) {
    DH *dh = PEM_read_bio_DHparams(pem, NULL, NULL, NULL);
    EVP_PKEY *key = dh == NULL ? NULL : EVP_PKEY_new();
    if (key == NULL || !EVP_PKEY_assign_DH(key, dh)) {
        DH_free(dh);
        EVP_PKEY_free(key);
        return NULL;
    }
    return key;
}

EVP_PKEY *compat_dh_from_group(int nid) {
    DH *dh = DH_new_by_nid(nid);
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

/* 1.1.1 has no question for the negotiated group. Of TLS 1.3 the server keeps the client's key share;
 * in TLS 1.2 it takes the first group that both sides offer. */
int compat_server_group_nid(SSL *ssl) {
    EVP_PKEY *share = NULL;
    if (SSL_version(ssl) < TLS1_3_VERSION)
        return (int)SSL_get_shared_curve(ssl, 0);
    if (!SSL_get_peer_tmp_key(ssl, &share))
        return NID_undef;
    int nid = compat_group_nid(share);
    EVP_PKEY_free(share);
    return nid;
}

X509 *compat_peer_certificate(SSL *ssl) {
    X509 *certificate = SSL_get_peer_certificate(ssl);
    X509_free(certificate); /* the session holds another reference for as long as `ssl` lives */
    return certificate;
}

#endif
