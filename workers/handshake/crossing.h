/* One connection over an emulated path, both sides of it: TCP, the handshake, a request and its answer. It
 * never waits; its owner tells it when a socket is ready. */
#ifndef KEXBENCH_CROSSING_H
#define KEXBENCH_CROSSING_H

#include "connection.h"
#include "path_plan.h"

enum { CROSSING_FLIGHTS_MAX = TURNS_MAX, CROSSING_REQUEST_BYTES = 100 };

/* What all connections of a request have in common. */
struct journey {
    const struct backend *backend;
    struct context *context;
    struct tls_case tls_case;
    struct negotiated wanted; /* its words live in the case */
    struct path_plan plan;
};

enum crossing_stage { CROSSING_CONNECTS, CROSSING_SHAKES_HANDS, CROSSING_TALKS };

struct crossing;

/* One side, with its own half of the transport. */
struct shore {
    struct crossing *crossing;
    enum role role;
    int socket; /* -1: none */
    enum crossing_stage stage;
    bool stepped;
    struct side *side;
    struct pipe in, out;
    uint64_t due_ns;        /* of datagrams: when its next turn is, by the wall's clock */
    size_t asked, answered; /* bytes of the request that came; of the answer that came or went out */
};

struct crossing {
    const struct journey *journey;
    struct crossing *next; /* among those that are free */
    unsigned number;
    bool proven[ROLES];
    struct shore shores[ROLES];
    struct wire wires[ROLES]; /* by the role that writes */
    uint64_t begun_ns;
    uint64_t turn_ns;      /* when the present turn began, from the beginning */
    uint64_t computing_ns; /* of both sides' turns, until the client's handshake was done */
    /* From the beginning: until TCP was connected, the client's handshake was done, its request went out, and
     * the answer's first and last byte came. */
    uint64_t connect_ns, handshake_ns, request_ns, first_byte_ns, last_byte_ns;
    uint32_t retransmissions[ROLES];
    unsigned flights; /* of the handshake, the client's first; the last one is still growing */
    uint64_t flight_bytes[CROSSING_FLIGHTS_MAX];
    struct fault fault;
};

/* `crossing` was ended, or is new. `socket` is the client's, which the crossing closes; its connection begins
 * now. */
enum outcome crossing_begin(struct crossing *crossing, const struct journey *journey, unsigned number,
                            int socket);
/* The server's socket, which the crossing closes unless it is that of all servers' datagrams. */
enum outcome crossing_accept(struct crossing *crossing, int socket);
/* A socket is ready. Datagrams are only taken in. */
enum outcome crossing_go_on(struct shore *shore);
/* A datagram came to this side; its turn is due. */
void crossing_take(struct shore *shore, const unsigned char *datagram, uint16_t length);
/* Of datagrams: the turn that was due. */
enum outcome crossing_turn(struct shore *shore);
enum outcome crossing_time_out(struct crossing *crossing);
/* Frees what it held. Its numbers remain. */
void crossing_end(struct crossing *crossing);

/* NULL: out of memory. */
struct crossing *crossing_new(void);

#endif
