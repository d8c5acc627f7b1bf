/* What the files of the wolfSSL backend share. Of its native interface they use what every build has; what
 * only its OpenSSL layer tells is read from its structures. */
#ifndef KEXBENCH_WOLFSSL_BACKEND_H
#define KEXBENCH_WOLFSSL_BACKEND_H

#include <wolfssl/options.h>

#include <wolfssl/ssl.h>
#include <wolfssl/wolfcrypt/asn.h>

#include "backend.h"
#include "expected.h"

/* Written at set-up and by `keep` alone, so that sides of several threads may share it without a lock. */
struct context {
    struct tls_case tls_case;
    char *folder;                   /* of the material */
    WOLFSSL_CTX *configurations[2]; /* by role */
    struct expected expected;
    WOLFSSL_SESSION *session; /* that clients resume */
};

struct side {
    struct context *context;
    WOLFSSL_CTX *own; /* this connection's; NULL: the context's is used */
    enum role role;
    struct pipe_end pipes;
    WOLFSSL *ssl;
    bool resumes;
    int peer_certificates; /* that the other side showed; -1: another chain than the case's */
    bool verified;         /* the library found no fault in them */
    int tickets;           /* that a client took in */
};

/* Puts the library's text for `code` into the fault's detail; false, for `return wolfssl_fault(...)`. */
bool wolfssl_fault(struct fault *fault, enum fault_kind kind, const char *reason, int code);

/* wolfssl_material.c: gives a role its certificates, key and trust anchors. */
bool wolfssl_load_role(const struct context *context, WOLFSSL_CTX *ctx, enum role role, struct fault *fault);
/* Does the case's chain lead to its trust anchor, with no other at hand? */
bool wolfssl_leads_to_anchor(const struct context *context, struct fault *fault);

/* wolfssl_configure.c: exactly one protocol, cipher, group and signature scheme. NULL and a fault. */
WOLFSSL_CTX *wolfssl_configure(const struct context *context, enum role role, struct fault *fault);

bool wolfssl_inspect(struct side *side, struct negotiated *out, struct fault *fault);

#endif
