/* One connection of a load: TCP, the client's handshake, requests and their answers, and the end. It never
 * waits; its owner tells it when its socket is ready. */
#ifndef KEXBENCH_CONNECTION_H
#define KEXBENCH_CONNECTION_H

#include "http.h"
#include "load_plan.h"
#include "pair.h"

enum outcome {
    OUTCOME_UNDER_WAY,
    OUTCOME_DONE,
    OUTCOME_REFUSED, /* nobody listens */
    OUTCOME_RESET,
    OUTCOME_CLOSED, /* by the server, before its last answer was whole */
    OUTCOME_TIMEOUT,
    OUTCOME_TLS,
    OUTCOME_HTTP,  /* another status, or another length */
    OUTCOME_FATAL, /* what makes the whole load worthless: first of all, another negotiation than the case's
                    */
    OUTCOMES
};

/* What all connections of a load have in common. */
struct visit {
    const struct backend *backend;
    struct context *context;
    struct tls_case tls_case;
    struct negotiated wanted[2]; /* by whether a connection resumes; its words live in the case */
    struct load_plan plan;
    bool keeps; /* each connection's session, for those that resume */
};

enum stage { STAGE_CONNECT, STAGE_HANDSHAKE, STAGE_ANSWER, STAGE_FINISH };

struct connection {
    const struct visit *visit;
    int socket; /* -1: none is under way */
    enum stage stage;
    bool resumes, proven, resumed;
    struct side *side;
    unsigned requests_left;
    uint64_t begun_ns, handshake_ns, response_ns; /* both from the beginning: until then */
    uint64_t bytes[ROLES];                        /* on the socket, by the role that sent them */
    struct fault fault;                           /* of a connection that failed */
    struct answer answer;
    struct pipe sent[ROLES]; /* by the role that writes */
    struct wire wires[ROLES];
};

/* `connection` is idle: all zeros but for its socket, or ended. */
enum outcome connection_begin(struct connection *connection, const struct visit *visit, bool resumes,
                              uint64_t number);
/* The socket is ready. */
enum outcome connection_go_on(struct connection *connection);
enum outcome connection_time_out(struct connection *connection);
/* Does it wait to write, too? It always waits to read. */
bool connection_writes(const struct connection *connection);
/* Frees what the connection held. Its numbers remain. */
void connection_end(struct connection *connection);

#endif
