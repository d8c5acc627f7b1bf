/* DTLS in the GnuTLS backend, which the backend ngtcp2 does without. */
#ifndef KEXBENCH_GNUTLS_DTLS_H
#define KEXBENCH_GNUTLS_DTLS_H

#include "gnutls_backend.h"

/* A context's key for cookies. */
bool gnutls_dtls_start(struct context *context, struct fault *fault);
/* A session's transport, and what a datagram may hold. */
void gnutls_dtls_open(struct side *side);
/* A server's turn until its client has shown a cookie; done: the handshake may begin. Failed: `code` says
 * why.
 */
enum progress gnutls_dtls_cookie_turn(struct side *side, int *code);

#endif
