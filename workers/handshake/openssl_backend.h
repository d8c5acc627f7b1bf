/* What the files of the OpenSSL backend share. */
#ifndef KEXBENCH_OPENSSL_BACKEND_H
#define KEXBENCH_OPENSSL_BACKEND_H

#include "backend.h"
#include "openssl_compat.h"
#include "pipe.h"

struct context {
    struct tls_case tls_case;
    SSL_CTX *client_ctx, *server_ctx;
    BIGNUM *dh_prime; /* of custom parameters, else NULL */
    unsigned char *certificate_der;
    unsigned char *peer_der; /* room for the peer's, filled on every handshake */
    int certificate_der_length;
    char unnamed_group[64]; /* backs `group` when it is not one of ours */

    SSL *client, *server; /* the open pair */
    struct pipe to_client, to_server;
    struct pipe_end client_end, server_end;
};

/* Moves the library's error queue (its first few entries, the root cause first) into the fault's
 * detail; false, for `return openssl_fault(...)`. */
bool openssl_fault(struct fault *fault, enum fault_kind kind, const char *reason);

/* The library's name for a curve or group of ours, and its number. */
const char *openssl_group_name(enum group group);
int openssl_group_nid(enum group group);
/* Our name of a group's number or a key's type, or the library's where we have none. */
const char *openssl_group_word(int nid);
const char *openssl_key_word(EVP_PKEY *key);

/* Gives the server its key, certificate and DH parameters, and checks that they are the case's. */
bool openssl_load_material(struct context *context, const char *folder, struct fault *fault);

bool openssl_inspect(struct context *context, struct negotiated *client, struct negotiated *server,
                     struct fault *fault);

#endif
