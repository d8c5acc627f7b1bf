/* What the files of the OpenSSL backend share. A context is written at set-up and by `keep` alone; whatever
 * a handshake writes belongs to its side. */
#ifndef KEXBENCH_OPENSSL_BACKEND_H
#define KEXBENCH_OPENSSL_BACKEND_H

#include "backend.h"
#include "material.h"
#include "openssl_compat.h"
#include "server_names.h"
#include "steps.h"

struct context {
    struct tls_case tls_case;
    char *folder;               /* of the material */
    OSSL_LIB_CTX *library;      /* its own, be it with the FIPS provider; NULL: OpenSSL's default one */
    SSL_CTX *configurations[2]; /* by role */
    struct server_name *names;  /* of a server with several, each with its SSL_CTX; else NULL */
    BIGNUM *dh_prime;           /* of custom parameters, else NULL */
    struct der {
        unsigned char *bytes;
        int length;
    } chain[CHAIN_MAX];            /* the case's certificates */
    X509 *trust_anchor;            /* that the chain leads to; NULL: nothing is verified */
    struct material ocsp_response; /* empty: nothing is stapled */
    SSL_SESSION *session;          /* that resumptions offer */
    unsigned char psk[PSK_BYTES];  /* of cases that have one */
};

struct side {
    struct context *context;
    enum role role;
    struct pipe_end pipes;
    SSL_CTX *own; /* this connection's configuration; NULL: the context's is used */
    SSL *ssl;
    bool early_data_pending;
    size_t early_data_bytes; /* written or read so far */
    int tickets;             /* that came or went; counted where the wire doesn't tell */
};

/* --- openssl_fault.c --- */

/* Moves the library's error queue (its first few entries, the root cause first) into the fault's
 * detail; false, for `return openssl_fault(...)`. */
bool openssl_fault(struct fault *fault, enum fault_kind kind, const char *reason);
/* What a call of the library that did not succeed means for the turn. */
enum progress openssl_stopped(struct side *side, int result, struct fault *fault);

/* --- openssl_names.c: our words and the library's --- */

/* The library's name for a group; NULL for custom DH and for none. */
const char *openssl_group_name(enum group group);
/* Our word for a name of the library's, which it spells in several ways; its own where we have none. */
const char *openssl_group_word(const char *name);
const char *openssl_key_word(EVP_PKEY *key);
bool openssl_suite_name(const struct tls_case *tls_case, char *out, size_t size);

/* --- openssl_pipe.c: a BIO over our own pipes, so that every library has the same transport --- */

bool openssl_pipe_start(void);
/* NULL: out of memory. `end` has to outlive it. */
BIO *openssl_pipe_new(struct pipe_end *end, bool of_datagrams);

/* --- openssl_dtls.c; boring_dtls.c --- */

void openssl_dtls_configure(SSL_CTX *ctx);
bool openssl_dtls_open(SSL *ssl);

/* --- openssl_psk.c --- */

bool openssl_load_psk(struct context *context, struct fault *fault);
/* The configuration borrows the context. */
void openssl_use_psk(struct context *context, SSL_CTX *ctx, enum role role);
/* What a side negotiated in the place of certificates; false and a fault where it is not the case's. */
bool openssl_proves_psk(const struct side *side, struct negotiated *out, struct fault *fault);

/* --- openssl_fips.c --- */

/* A library context in which nothing but the FIPS provider's algorithms can be had; NULL and a fault. */
OSSL_LIB_CTX *openssl_fips_library(struct fault *fault);
/* Another one as the default one is. */
OSSL_LIB_CTX *openssl_library(struct fault *fault);
/* That it does not shows only when a key is made of them. */
bool openssl_fips_takes_dh(OSSL_LIB_CTX *library, EVP_PKEY *parameters);
void openssl_fips_free(OSSL_LIB_CTX *library);

/* --- The turns with early data: openssl_early.c, boring_early.c. --- */

/* The client's first turn, the server's until it has read all; done: the handshake goes on as usual. */
enum progress openssl_early_turn(struct side *side, struct fault *fault);

/* --- openssl_configure.c --- */

/* One role's configuration with its keys and all; NULL and a fault. */
SSL_CTX *openssl_configure(struct context *context, enum role role, struct fault *fault);
/* Called when the session of later handshakes is kept. */
bool openssl_configure_resumption(struct context *context, struct fault *fault);

/* --- openssl_sni.c --- */

/* Gives a server that has several names the configurations of all. */
bool openssl_make_names(struct context *context, struct fault *fault);
void openssl_free_names(struct context *context);
/* As the backend's `ask`. */
bool openssl_ask(struct side *client, const char *name, struct fault *fault);
/* Of a server with several names that is done. */
const char *openssl_served_name(const struct side *server);

/* --- openssl_material.c --- */

/* Checks that the files are the case's, and keeps of them what handshakes are compared with. */
bool openssl_load_expected(struct context *context, struct fault *fault);
/* Reads what the server staples, if anything. */
bool openssl_load_ocsp(struct context *context, struct fault *fault);
/* Gives a role's configuration its certificates, key, DH parameters and trust anchors. */
bool openssl_load_role(struct context *context, SSL_CTX *ctx, enum role role, struct fault *fault);

/* --- openssl_inspect.c --- */

/* Whether the library's messages are looked at for tickets. */
bool openssl_counts_tickets(const struct side *side);
bool openssl_inspect(struct side *side, struct negotiated *out, struct fault *fault);

#endif
