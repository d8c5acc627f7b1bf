/* A handshake in one thread: a client and a server taking turns over two pipes in memory. */
#ifndef KEXBENCH_PAIR_H
#define KEXBENCH_PAIR_H

#include "backend.h"
#include "wire.h"

/* A handshake takes five turns in TLS 1.2 and three or four in TLS 1.3; HelloRetryRequest adds two. */
enum { TURNS_MAX = 32, ROLES = 2 };

enum phase { PHASE_OPEN, PHASE_STEP, PHASE_CLOSE };

/* Told before and after each thing that a side does; only untimed passes have one. */
struct observer {
    void (*enter)(struct observer *observer, enum role role, enum phase phase);
    void (*leave)(struct observer *observer, enum role role, enum phase phase);
};

/* What the turns of some handshakes took and sent, by role. */
struct spans {
    uint64_t ticks[ROLES];
    uint64_t bytes[ROLES];
    uint64_t round_trips; /* before the client may send application data */
};

/* What the wire and the order of the turns tell of one handshake. */
struct evidence {
    const struct wire *wires; /* by the role that writes */
    int tickets;              /* records of the server's after the client was done; negative: not counted */
};

struct pair {
    const struct backend *backend;
    struct context *context;
    const struct tls_case *tls_case;
    struct observer *observer; /* NULL but in untimed passes */
    struct side *sides[ROLES];
    struct pipe sent[ROLES]; /* by the role that writes */
    struct wire wires[ROLES];
    int tickets; /* as in struct evidence */
};

/* `counts_records`: for untimed passes; both hellos are always read. NULL: out of memory. */
struct pair *pair_new(const struct backend *backend, struct context *context, const struct tls_case *tls_case,
                      bool counts_records);
void pair_free(struct pair *pair);

bool pair_open(struct pair *pair, bool resume, struct fault *fault);
/* Turns until both sides are done. `timed` false: no tick is read. */
bool pair_turns(struct pair *pair, bool timed, struct spans *spans, struct fault *fault);
/* Compares both sides' views with what is wanted; `seen` may be NULL. */
bool pair_prove(struct pair *pair, const struct negotiated *wanted, struct negotiated *seen,
                struct fault *fault);
void pair_close(struct pair *pair);

/* All four in their order. */
bool pair_handshake(struct pair *pair, const struct negotiated *wanted, bool timed, struct spans *spans,
                    struct negotiated *seen, struct fault *fault);

/* One side's view compared with what is wanted. */
bool prove_side(const struct backend *backend, struct side *side, enum role role, struct evidence evidence,
                const struct tls_case *tls_case, const struct negotiated *wanted, struct negotiated *out,
                struct fault *fault);

const char *role_name(enum role role);

#endif
