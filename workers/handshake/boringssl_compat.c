/* What BoringSSL has unlike AWS-LC. */
#include "openssl_compat.h"

#include <openssl/aead.h>

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

/* BoringSSL has no version, only a number that grows with its interface. The version is that of the crate
 * boring-sys, which its build wrote into openssl/boring_sys.h. */
const char *compat_version_text(void) {
    return "BoringSSL " BORING_SYS_VERSION
           " of the crate boring-sys, API version " TEXT(BORINGSSL_API_VERSION);
}

/* The long names of ML-DSA are those of OpenSSL's types; those of the others are sentences. */
const char *compat_key_name(EVP_PKEY *key) {
    int type = EVP_PKEY_id(key);
#if BORING_HAS_ML_DSA
    if (type == EVP_PKEY_ML_DSA_44 || type == EVP_PKEY_ML_DSA_65 || type == EVP_PKEY_ML_DSA_87)
        return OBJ_nid2ln(type);
#endif
    return OBJ_nid2sn(type);
}

/* Since version 43 of its interface the suites of TLS 1.3 can be named. Before, both sides take all three,
 * and prefer AES-128-GCM where the CPU has AES, else ChaCha20. Since a version between 21 and 37 a policy
 * prefers AES-256-GCM, and does nothing else. */
bool compat_use_suite_1_3(SSL_CTX *ctx, const struct tls_case *c, const char *suite) {
    (void)suite;
#if BORINGSSL_API_VERSION >= 43
    static const uint16_t suites[] = {[AES_128_GCM] = SSL_CIPHER_AES_128_GCM_SHA256,
                                      [AES_256_GCM] = SSL_CIPHER_AES_256_GCM_SHA384,
                                      [CHACHA20_POLY1305] = SSL_CIPHER_CHACHA20_POLY1305_SHA256};
    return SSL_CTX_set1_tls13_ciphers(ctx, &suites[c->cipher], NULL, 1) == 1;
#else
#if BORINGSSL_API_VERSION >= 37
    if (c->cipher == AES_256_GCM)
        return SSL_CTX_set_compliance_policy(ctx, ssl_compliance_policy_cnsa_202407) == 1;
#endif
    (void)ctx;
    return c->cipher == (EVP_has_aes_hardware() ? AES_128_GCM : CHACHA20_POLY1305);
#endif
}

/* --- The verified chain, which it forgets. --- */

static void free_chain(void *parent, void *chain, CRYPTO_EX_DATA *data, int index, long number,
                       void *pointer) {
    (void)parent, (void)data, (void)index, (void)number, (void)pointer;
    sk_X509_pop_free(chain, X509_free);
}

/* Taken at the first set-up, before there are threads. */
static int chain_index(void) {
    static int index = -1;
    if (index < 0)
        index = SSL_get_ex_new_index(0, NULL, NULL, NULL, free_chain);
    return index;
}

/* Verifies as the library does without a callback, and keeps the chain that it built. */
static int verify(X509_STORE_CTX *store, void *argument) {
    (void)argument;
    SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    int result = X509_verify_cert(store);
    if (result == 1) {
        sk_X509_pop_free(SSL_get_ex_data(ssl, chain_index()), X509_free);
        SSL_set_ex_data(ssl, chain_index(), X509_STORE_CTX_get1_chain(store));
    }
    return result;
}

void compat_keep_verified_chain(SSL_CTX *ctx) {
    chain_index();
    SSL_CTX_set_cert_verify_callback(ctx, verify, NULL);
}

STACK_OF(X509) * compat_verified_chain(SSL *ssl) {
    return SSL_get_ex_data(ssl, chain_index());
}
