/* What differs between OpenSSL 1.1.1 and 4.0, and in BoringSSL and AWS-LC, in one place. The header decides,
 * so a worker is built against the headers of the library that it is linked with. The functions are OpenSSL's
 * in openssl_compat.c, those of BoringSSL's family in boring_compat.c, and those of one of it in
 * awslc_compat.c and boringssl_compat.c. */
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

#include "case.h"
#include "material.h"

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
#define OSSL_LIB_CTX void /* there is none, though newer BoringSSL declares it: always NULL */
#endif

#if defined OPENSSL_IS_AWSLC || defined OPENSSL_IS_BORINGSSL
#include "boring_compat.h"
#else

#define COMPAT_LIBRARY "openssl"
/* Whether the name of a certificate's curve is missed by a TLS 1.3 client that doesn't list it. */
#define COMPAT_LISTS_CURVE true
/* Whether a client makes two key shares when it lists a group with ML-KEM and one without. */
#define COMPAT_SHARES_BOTH_KINDS false
/* Whether several tickets may be in one record. */
#define COMPAT_PACKS_TICKETS false
/* Whether each TLS 1.3 resumption has a key exchange, so that the group is always this handshake's. */
#define COMPAT_ALWAYS_EXCHANGES false
#define COMPAT_TELLS_OWN_SIGNATURE true
/* Whether the library says that a session is in a server's cache. */
#define COMPAT_TELLS_CACHED true
#define COMPAT_IS_CACHED SSL_has_matching_session_id
#define COMPAT_PSK_KE (SSL_OP_ALLOW_NO_DHE_KEX | COMPAT_PREFER_NO_DHE_KEX)
#define COMPAT_NO_ANTI_REPLAY SSL_OP_NO_ANTI_REPLAY
#define COMPAT_NO_COMMON_SIGNATURE SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM
typedef unsigned long compat_error; /* as it lies in the error queue */

#ifdef SSL_OP_PREFER_NO_DHE_KEX
#define COMPAT_PREFER_NO_DHE_KEX SSL_OP_PREFER_NO_DHE_KEX
#else
#define COMPAT_PREFER_NO_DHE_KEX 0 /* before 3.3 */
#endif
#endif

#if OPENSSL_VERSION_NUMBER >= 0x40000000L
#define COMPAT_SET_HOST SSL_set1_dnsname
#else
#define COMPAT_SET_HOST SSL_set1_host
#endif

/* The library that runs: its name and then its version. */
const char *compat_version_text(void);

/* False and a fault: the library lacks what the case asks for, and would not say so itself. */
bool compat_takes(const struct tls_case *c, struct fault *fault);

/* The library's word on the CPU, e.g. "OPENSSL_ia32cap=0x...", or NULL. */
const char *compat_cpu_features(void);

/* A context, or a file's next object, made with the library context's algorithms. NULL: see the error queue.
 */
SSL_CTX *compat_ctx_new(OSSL_LIB_CTX *library, bool dtls);
X509 *compat_read_certificate(BIO *pem, OSSL_LIB_CTX *library);
EVP_PKEY *compat_read_key(BIO *pem, pem_password_cb *password, OSSL_LIB_CTX *library);

/* Refuses no size of key. */
void compat_allow_weak(SSL_CTX *ctx);

/* The case's suite of TLS 1.3, by its name. */
bool compat_use_suite_1_3(SSL_CTX *ctx, const struct tls_case *c, const char *suite);

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

/* The peer's ephemeral key, to be freed. False: there is none, or the library can't tell. */
bool compat_peer_share(SSL *ssl, EVP_PKEY **share);

/* Has a configuration that verifies keep the chain from the peer's certificate to the trust anchor, which
 * is borrowed while `ssl` lives. NULL: there is none. */
void compat_keep_verified_chain(SSL_CTX *ctx);
STACK_OF(X509) * compat_verified_chain(SSL *ssl);

/* The name in the peer's certificate that was asked for, or NULL. */
const char *compat_verified_host(SSL *ssl, X509 *certificate);

/* A client asks for an OCSP response; a server staples one, which has to outlive the context. */
bool compat_ask_for_ocsp(SSL_CTX *ctx);
bool compat_staple(SSL_CTX *ctx, struct material *response);

/* --- Resumption. --- */

/* Takes early data of so many bytes, or none with 0. */
bool compat_allow_early_data(SSL_CTX *ctx, unsigned bytes);
bool compat_early_data_accepted(SSL *ssl);
/* A client's configuration whose sessions are kept. */
void compat_keep_sessions(SSL_CTX *ctx);
/* The newest session, to be freed; NULL: none. */
SSL_SESSION *compat_newest_session(SSL *ssl);
/* One of several threads' own copy, to be freed; NULL: out of memory. */
SSL_SESSION *compat_copy_session(SSL_SESSION *session);
/* From now on a server's configuration, or this connection alone where the library has that, issues none. */
bool compat_stop_tickets(SSL_CTX *ctx);
bool compat_issue_no_ticket(SSL *ssl);
/* Sends the tickets that a server whose handshake is done still holds back. */
bool compat_flush_tickets(SSL *ssl);

#endif
