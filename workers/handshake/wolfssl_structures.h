/* What wolfSSL's native interface neither tells nor takes, in numbers of IANA's registry. A name of its
 * internal header is one of case.h, so that neither file includes the other's. */
#ifndef KEXBENCH_WOLFSSL_STRUCTURES_H
#define KEXBENCH_WOLFSSL_STRUCTURES_H

#include <wolfssl/options.h>

#include <wolfssl/ssl.h>

#include <stdbool.h>

enum { WOLFSSL_FORGOTTEN = 0x10000 }; /* no number of the registry */

/* Of a handshake that is done. */
struct wolfssl_facts {
    unsigned version;
    unsigned group;              /* 0: of no elliptic curve, and of none that is known here */
    unsigned own_signature;      /* what this side signed with, if it did */
    unsigned peer_signature;     /* the same of its peer */
    bool extended_master_secret; /* of TLS 1.2 */
    bool pre_shared_key_alone;   /* resumptions go without a key exchange */
    bool signed_as_client;
};
struct wolfssl_facts wolfssl_facts(const WOLFSSL *ssl);

/* Of a client: did the server give it a ticket? */
bool wolfssl_has_ticket(const WOLFSSL *ssl);

/* Leaves one of the signature schemes that a cipher list brought along. False: it is not among them. */
bool wolfssl_leave_signature(WOLFSSL_CTX *ctx, unsigned number);

#endif
