/* What differs between OpenSSL 1.1.1 and 4.0, in one place. The header decides, so a worker
 * is built against the headers of the library that it is linked with. */
#ifndef KEXBENCH_OPENSSL_COMPAT_H
#define KEXBENCH_OPENSSL_COMPAT_H

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/dh.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/opensslv.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <stdbool.h>

#if OPENSSL_VERSION_NUMBER < 0x1010101fL
#error "OpenSSL 1.1.1a or newer is needed"
#endif

#if OPENSSL_VERSION_NUMBER >= 0x30000000L
#define OPENSSL_HAS_PROVIDERS 1
#include <openssl/core_names.h>
#include <openssl/params.h>
#else
#define OPENSSL_HAS_PROVIDERS 0
typedef void OSSL_LIB_CTX; /* there is none: always NULL */
#endif

#ifdef SSL_OP_PREFER_NO_DHE_KEX
#define COMPAT_PREFER_NO_DHE_KEX SSL_OP_PREFER_NO_DHE_KEX
#else
#define COMPAT_PREFER_NO_DHE_KEX 0 /* before 3.3 */
#endif

#if OPENSSL_VERSION_NUMBER >= 0x40000000L
#define COMPAT_SET_HOST SSL_set1_dnsname
#else
#define COMPAT_SET_HOST SSL_set1_host
#endif

/* The library's word on the CPU, e.g. "OPENSSL_ia32cap=0x...", or NULL. */
const char *compat_cpu_features(void);

/* A context, or a file's next object, made with the library context's algorithms. NULL: see the error queue.
 */
SSL_CTX *compat_ctx_new(OSSL_LIB_CTX *library);
X509 *compat_read_certificate(BIO *pem, OSSL_LIB_CTX *library);
EVP_PKEY *compat_read_key(BIO *pem, pem_password_cb *password, OSSL_LIB_CTX *library);

/* DH parameters: an EVP_PKEY since 3.0, a DH before (where an EVP_PKEY of them can't be given to a context).
 */

/* NULL: not PKCS#3 parameters in PEM. */
EVP_PKEY *compat_dh_from_pem(BIO *pem, OSSL_LIB_CTX *library);
/* NULL: the library does not know this group, e.g. "ffdhe2048". */
EVP_PKEY *compat_dh_from_group(const char *name, OSSL_LIB_CTX *library);
/* Fresh copies of p and g, to be freed; private_length_bits is 0 when the parameters don't limit it. */
bool compat_dh_numbers(EVP_PKEY *dh, BIGNUM **p, BIGNUM **g, long *private_length_bits);
/* Does not take over `dh`. */
bool compat_use_dh(SSL_CTX *ctx, EVP_PKEY *dh);

/* The NID of the named group or curve of a key, or NID_undef. */
int compat_group_nid(EVP_PKEY *key);

/* The type of a key, in the library's spelling. */
const char *compat_key_name(EVP_PKEY *key);

/* The negotiated group in the library's spelling, or NULL when it can't tell. 1.1.1 tells it to servers only.
 */
const char *compat_group_name(SSL *ssl);

/* The IANA name of the scheme that the peer (else this side) signed with, or NULL when there was no
 * signature. `key` is the signer's. */
const char *compat_signature_name(SSL *ssl, bool of_peer, EVP_PKEY *key);

/* Borrowed while `ssl` lives and no other call of this function was made. NULL: none was shown. */
X509 *compat_peer_certificate(SSL *ssl);

#endif
