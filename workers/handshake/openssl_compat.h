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

#include <stdbool.h>

#if OPENSSL_VERSION_NUMBER < 0x10101000L
#error "OpenSSL 1.1.1 or newer is needed"
#endif

#if OPENSSL_VERSION_NUMBER >= 0x30000000L
#define OPENSSL_HAS_PROVIDERS 1
#include <openssl/core_names.h>
#include <openssl/params.h>
#else
#define OPENSSL_HAS_PROVIDERS 0
#endif

/* DH parameters: an EVP_PKEY since 3.0, a DH before (where an EVP_PKEY of them can't be given to a context).
 */

/* NULL: not PKCS#3 parameters in PEM. */
EVP_PKEY *compat_dh_from_pem(BIO *pem);
/* NULL: the library does not know this group. `nid` is e.g. NID_ffdhe2048. */
EVP_PKEY *compat_dh_from_group(int nid);
/* Fresh copies of p and g, to be freed; private_length_bits is 0 when the parameters don't limit it. */
bool compat_dh_numbers(EVP_PKEY *dh, BIGNUM **p, BIGNUM **g, long *private_length_bits);
/* Does not take over `dh`. */
bool compat_use_dh(SSL_CTX *ctx, EVP_PKEY *dh);

/* The NID of the named group or curve of a key, or NID_undef. */
int compat_group_nid(EVP_PKEY *key);

/* The group as the server's side knows it, or NID_undef when it can't tell. */
int compat_server_group_nid(SSL *ssl);

/* Borrowed while `ssl` lives and no other call of this function was made. */
X509 *compat_peer_certificate(SSL *ssl);

#endif
