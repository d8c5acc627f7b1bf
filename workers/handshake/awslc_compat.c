/* What AWS-LC has unlike BoringSSL. */
#include "openssl_compat.h"

#include <openssl/service_indicator.h>

const char *compat_version_text(void) {
    return awslc_version_string();
}

/* Of ML-DSA the type is that of all three, and the long name that of the one. */
const char *compat_key_name(EVP_PKEY *key) {
#if BORING_HAS_ML_DSA
    if (EVP_PKEY_id(key) == EVP_PKEY_PQDSA)
        return OBJ_nid2ln(EVP_PKEY_pqdsa_get_type(key));
#endif
    return OBJ_nid2sn(EVP_PKEY_id(key));
}

bool compat_use_suite_1_3(SSL_CTX *ctx, const struct tls_case *c, const char *suite) {
    (void)c;
    return SSL_CTX_set_ciphersuites(ctx, suite) == 1;
}

void compat_keep_verified_chain(SSL_CTX *ctx) {
    (void)ctx; /* it does so by itself */
}

STACK_OF(X509) * compat_verified_chain(SSL *ssl) {
    return SSL_get0_verified_chain(ssl);
}
