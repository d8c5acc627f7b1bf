/* What the files of the GnuTLS backend share. */
#ifndef KEXBENCH_GNUTLS_BACKEND_H
#define KEXBENCH_GNUTLS_BACKEND_H

#include "backend.h"
#include "pipe.h"

#include <gnutls/gnutls.h>

/* One side's transport: the library wants its errno set on the session. */
struct gnutls_end {
    gnutls_session_t *session;
    struct pipe_end pipes;
};

struct context {
    struct tls_case tls_case;
    gnutls_priority_t priority;
    gnutls_certificate_credentials_t client_credentials, server_credentials;
    gnutls_dh_params_t dh;          /* custom parameters, else NULL */
    gnutls_datum_t dh_prime;        /* of `dh` */
    gnutls_datum_t certificate_der; /* the case's certificate */
    const char *key_word;           /* its key, as the library tells it */
    unsigned key_bits;
    char unnamed_group[64]; /* backs `group` when it is not one of ours */

    gnutls_session_t client, server; /* the open pair */
    struct pipe to_client, to_server;
    struct gnutls_end client_end, server_end;
};

/* Puts the library's text for `code` into the fault's detail; false, for `return gnutls_fault(...)`. */
bool gnutls_fault(struct fault *fault, enum fault_kind kind, const char *reason, int code);

/* Our name of a curve, or NULL. */
const char *gnutls_our_curve(gnutls_ecc_curve_t curve, unsigned *bits);

/* Loads key, certificate and custom DH parameters and checks that they are the case's. */
bool gnutls_load_material(struct context *context, const char *folder, struct fault *fault);

bool gnutls_inspect(struct context *context, struct negotiated *client, struct negotiated *server,
                    struct fault *fault);

/* Are two big-endian numbers equal? The library writes some with a leading zero and some without. */
bool gnutls_same_number(gnutls_datum_t a, gnutls_datum_t b);
unsigned gnutls_number_bits(gnutls_datum_t number);

#endif
