/* A case that is set up: its configuration, the proof that it works, and what every handshake has to show. */
#ifndef KEXBENCH_PREPARED_H
#define KEXBENCH_PREPARED_H

#include "crew.h"
#include "pair.h"

struct prepared {
    const struct backend *backend;
    struct context *context;             /* NULL: nothing is set up */
    struct context *others[THREADS_MAX]; /* further ones of the case (case_contexts) */
    struct tls_case tls_case;
    struct negotiated wanted;
    struct pair *pairs[THREADS_MAX]; /* one a thread */
    struct crew *crew;               /* the threads, NULL with a single one, which is the process's own */
    unsigned next_alone;             /* the thread that works alone after the next batch */
    int peer;                        /* socket to the worker with the other role; -1 with both roles here */
    uint32_t peer_handshakes;        /* begun over it, in step with the peer's count */
};

/* Sets the case up and proves it with a handshake (a resumption: with a full one before). On success `seen`
 * is what was negotiated, valid until release. False and a fault otherwise; nothing is then left to release.
 */
bool prepare(struct prepared *out, const struct backend *backend, const struct tls_case *tls_case,
             const char *material, int peer, struct negotiated *seen, struct fault *fault);
void release(struct prepared *prepared);

#endif
