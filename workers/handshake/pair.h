/* A handshake in one thread: a client and a server taking turns over two pipes in memory. */
#ifndef KEXBENCH_PAIR_H
#define KEXBENCH_PAIR_H

#include "backend.h"
#include "server_names.h"
#include "wire.h"

/* A handshake takes five turns in TLS 1.2 and three or four in TLS 1.3; HelloRetryRequest adds two. */
enum { TURNS_MAX = 32, ROLES = 2 };

enum phase { PHASE_OPEN, PHASE_STEP, PHASE_TRANSFER, PHASE_FINISH, PHASE_CLOSE };

/* The parts of a connection that are timed apart. OBJECTS is making and freeing, FINISH the exchange of
 * close_notify. */
enum span { SPAN_HANDSHAKE, SPAN_OBJECTS, SPAN_TRANSFER, SPAN_FINISH, SPANS };

/* A server sends so much, then its client reads it. */
enum { TRANSFER_TURN_BYTES = 4 * RECORD_MAX };

/* Told before and after each thing that a side does; only untimed passes have one. */
struct observer {
    void (*enter)(struct observer *observer, enum role role, enum phase phase);
    void (*leave)(struct observer *observer, enum role role, enum phase phase);
};

/* What some connections took and sent, by role. */
struct spans {
    uint64_t ticks[SPANS][ROLES];
    uint64_t bytes[ROLES];   /* of the handshake */
    uint64_t records[ROLES]; /* the same, where they are counted */
    uint64_t round_trips;    /* before the client may send application data */
};

/* What the wire and the order of the turns tell of one handshake. */
struct evidence {
    const struct wire *wires; /* by the role that writes */
    bool alone;               /* the other side is in another process */
    int tickets;              /* records of the server's after the client was done; negative: not counted */
};

struct pair {
    const struct backend *backend;
    struct context *context;
    const struct tls_case *tls_case;
    struct observer *observer;     /* NULL but in untimed passes */
    bool uncounted;                /* its turns are not below the functions where a profiler counts */
    uint64_t opened;               /* connections so far */
    char asked[SERVER_NAME_BYTES]; /* the server's name that the client asks for; empty: none */
    struct side *sides[ROLES];
    struct pipe sent[ROLES]; /* by the role that writes */
    struct wire wires[ROLES];
    int tickets;                       /* as in struct evidence */
    unsigned char *content, *received; /* TRANSFER_TURN_BYTES each; NULL where nothing is transferred */
};

/* `counts_records`: for untimed passes; both hellos are always read. NULL: out of memory. */
struct pair *pair_new(const struct backend *backend, struct context *context, const struct tls_case *tls_case,
                      bool counts_records);
void pair_free(struct pair *pair);

/* One turn of a side, and the making and freeing of its objects: functions with names of their own, below
 * which a profiler counts. */
enum progress client_turn(const struct backend *backend, struct side *client, struct fault *fault);
enum progress server_turn(const struct backend *backend, struct side *server, struct fault *fault);
struct side *make_objects(const struct pair *pair, enum role role, struct pipe_end pipes, bool resume,
                          struct fault *fault);
void free_objects(const struct backend *backend, struct side *side);

/* `timed` false, here and below: no tick is read. */
bool pair_open(struct pair *pair, bool resume, bool timed, struct spans *spans, struct fault *fault);
/* Turns until both sides are done, and the client has the tickets that the case asks for. */
bool pair_turns(struct pair *pair, bool timed, struct spans *spans, struct fault *fault);
/* Compares both sides' views with what is wanted; `seen` may be NULL. */
bool pair_prove(struct pair *pair, const struct negotiated *wanted, struct negotiated *seen,
                struct fault *fault);
/* Application data and close_notify, where the case has some; proves what came, into `seen` unless it is
 * NULL.
 */
bool pair_transfer(struct pair *pair, bool timed, struct spans *spans, struct negotiated *seen,
                   struct fault *fault);
void pair_close(struct pair *pair, bool timed, struct spans *spans);

/* All five in their order. */
bool pair_connection(struct pair *pair, const struct negotiated *wanted, bool timed, struct spans *spans,
                     struct negotiated *seen, struct fault *fault);

/* One side's view compared with what is wanted. */
bool prove_side(const struct backend *backend, struct side *side, enum role role, struct evidence evidence,
                const struct tls_case *tls_case, const struct negotiated *wanted, struct negotiated *out,
                struct fault *fault);

const char *role_name(enum role role);

#endif
