/* What the files of the s2n-tls backend share. A context is written at set-up and by `keep` alone. */
#ifndef KEXBENCH_S2N_BACKEND_H
#define KEXBENCH_S2N_BACKEND_H

#include "backend.h"
#include "expected.h"
#include "iana.h"

/* built.h comes first: what the library was compiled with. */
#include <built.h>

#include <api/s2n.h>
#include <openssl/err.h>
#include <openssl/x509.h>
#include <tls/s2n_config.h>
#include <tls/s2n_connection.h>
#include <tls/s2n_security_policies.h>

/* One role's security policy. The library's public ones all offer several of everything, and its interface
 * can't make another: this one is of its own structures. */
struct policy {
    struct s2n_cipher_suite *suites[1];
    const struct s2n_signature_scheme *schemes[1];
    const struct s2n_ecc_named_curve *curves[3];
    const struct s2n_kem_group *groups[2];
    struct s2n_cipher_preferences ciphers;
    struct s2n_signature_preferences signatures;
    struct s2n_ecc_preferences ecc;
    struct s2n_kem_preferences kems;
    struct s2n_security_policy whole;
};

struct configuration {
    struct s2n_config *config;
    struct s2n_cert_chain_and_key *certificate; /* NULL: a client that shows none */
};

struct bytes {
    unsigned char *at; /* NULL: none */
    size_t length;
};

struct context {
    struct tls_case tls_case;
    char *folder; /* of the material */
    struct policy policies[2];
    struct configuration configurations[2][2]; /* by role, and by whether the handshake resumes */
    struct expected expected;
    unsigned char ticket_key[32];
    struct bytes kept;              /* the session that clients resume */
    struct bytes cached_id, cached; /* the server's cache of one session, RESUME_SESSION_ID */
};

struct side {
    struct context *context;
    struct configuration own; /* this connection's; empty: the context's is used */
    enum role role;
    bool resumes;
    bool early_pending; /* early data is yet to be sent or read */
    long early_taken;
    int tickets;         /* that a client took in */
    struct bytes ticket; /* the last one, where the case resumes */
    bool host_matched;
    struct s2n_connection *connection;
    struct pipe_end pipes;
};

/* s2n_fault.c: the library's text for its last error goes into the fault's detail; false. */
bool s2n_fault(struct fault *fault, enum fault_kind kind, const char *reason);
bool bytes_copy(struct bytes *out, const void *from, size_t length);

/* s2n_policy.c: exactly one cipher suite, group and signature scheme. False and a fault: the library lacks
 * one. */
bool s2n_make_policy(const struct tls_case *tls_case, enum role role, struct policy *out,
                     struct fault *fault);

/* s2n_configure.c */
bool s2n_configure(struct context *context, enum role role, bool resumes, struct configuration *out,
                   struct fault *fault);
void s2n_configuration_free(struct configuration *configuration);

bool s2n_inspect(struct side *side, struct negotiated *out, struct fault *fault);

#endif
