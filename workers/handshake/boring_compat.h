/* What BoringSSL and AWS-LC, which comes from it, have unlike OpenSSL 1.1.1, whose interface they keep
 * otherwise. Included by openssl_compat.h alone. The functions of both are in boring_compat.c, those of each
 * in awslc_compat.c and boringssl_compat.c. */
#ifndef KEXBENCH_BORING_COMPAT_H
#define KEXBENCH_BORING_COMPAT_H

#ifdef OPENSSL_IS_AWSLC
#define COMPAT_LIBRARY "awslc"
#define BORING_TITLE "AWS-LC"
#else
#include <openssl/boring_sys.h> /* written when it is built: the version that BoringSSL itself lacks */
#define COMPAT_LIBRARY "boringssl"
#define BORING_TITLE "BoringSSL"
#if BORINGSSL_API_VERSION < 37
/* A certificate goes on holding its key. */
static inline EVP_PKEY *X509_get0_pubkey(X509 *certificate) {
    EVP_PKEY *key = X509_get_pubkey(certificate);
    EVP_PKEY_free(key);
    return key;
}
#endif
#endif

#define COMPAT_LISTS_CURVE false
#define COMPAT_SHARES_BOTH_KINDS true
#define COMPAT_PACKS_TICKETS true
#define COMPAT_ALWAYS_EXCHANGES true
#define COMPAT_TELLS_OWN_SIGNATURE false
#define COMPAT_TELLS_CACHED false
#define COMPAT_IS_CACHED(ssl, id, length) ((void)(ssl), (void)(id), (void)(length), 0)
#define COMPAT_PSK_KE 0
#define COMPAT_PREFER_NO_DHE_KEX 0
#define COMPAT_NO_ANTI_REPLAY 0 /* there is none */
#define COMPAT_NO_COMMON_SIGNATURE SSL_R_NO_COMMON_SIGNATURE_ALGORITHMS
typedef uint32_t compat_error;

/* In TLS; before, they had the signatures alone. */
#if defined SSL_SIGN_MLDSA44 || defined SSL_SIGN_ML_DSA_44
#define BORING_HAS_ML_DSA 1
#else
#define BORING_HAS_ML_DSA 0
#endif

/* They have no DHE suites. */
#ifndef NID_kx_dhe
#define NID_kx_dhe NID_undef
#endif
#ifndef NID_kx_dhe_psk
#define NID_kx_dhe_psk NID_undef
#endif

/* Stacks count in size_t here, and in int there. */
#define sk_X509_num(stack) ((int)sk_X509_num(stack))
#define sk_X509_value(stack, place) sk_X509_value(stack, (size_t)(place))
#define sk_GENERAL_NAME_num(stack) ((int)sk_GENERAL_NAME_num(stack))
#define sk_POLICYINFO_num(stack) ((int)sk_POLICYINFO_num(stack))
#define sk_DIST_POINT_num(stack) ((int)sk_DIST_POINT_num(stack))

#endif
