/* What AWS-LC has unlike OpenSSL 1.1.1, whose interface it keeps otherwise. BoringSSL, which it comes from,
 * has nearly the same. Included by openssl_compat.h alone. */
#ifndef KEXBENCH_BORING_COMPAT_H
#define KEXBENCH_BORING_COMPAT_H

#include <openssl/ocsp.h>
#include <openssl/service_indicator.h>

#define COMPAT_LIBRARY "awslc"
#define COMPAT_LISTS_CURVE false
#define COMPAT_SHARES_BOTH_KINDS true
#define COMPAT_PACKS_TICKETS true
#define COMPAT_ALWAYS_EXCHANGES true
#define COMPAT_TELLS_OWN_SIGNATURE false
#define COMPAT_PSK_KE 0
#define COMPAT_PREFER_NO_DHE_KEX 0
#define COMPAT_NO_ANTI_REPLAY 0 /* there is none */
#define COMPAT_NO_COMMON_SIGNATURE SSL_R_NO_COMMON_SIGNATURE_ALGORITHMS
/* In TLS; before, it had the signatures alone. */
#ifdef SSL_SIGN_MLDSA44
#define BORING_HAS_ML_DSA 1
#else
#define BORING_HAS_ML_DSA 0
#endif
typedef uint32_t compat_error;

/* It has no DHE suites. */
#define NID_kx_dhe NID_undef

/* Stacks count in size_t here, and in int there. */
#define sk_X509_num(stack) ((int)sk_X509_num(stack))
#define sk_X509_value(stack, place) sk_X509_value(stack, (size_t)(place))
#define sk_GENERAL_NAME_num(stack) ((int)sk_GENERAL_NAME_num(stack))
#define sk_POLICYINFO_num(stack) ((int)sk_POLICYINFO_num(stack))
#define sk_DIST_POINT_num(stack) ((int)sk_DIST_POINT_num(stack))

#endif
