/* What became of a load's connections: counts by outcome, and every latency. */
#ifndef KEXBENCH_TALLY_H
#define KEXBENCH_TALLY_H

#include "connection.h"
#include "latency.h"

enum { FAILURE_MAX = REASON_MAX + DETAIL_MAX + 4 };

struct tally {
    uint64_t outcomes[OUTCOMES];
    uint64_t proven, resumed; /* handshakes; connections that are done and resumed */
    uint64_t bytes[ROLES];
    char first_failure[FAILURE_MAX];      /* empty: none */
    uint64_t *handshake_ns, *response_ns; /* of connections that are done, room for all */
};

/* False: out of memory. */
bool tally_init(struct tally *tally, uint64_t max_connections);
void tally_free(struct tally *tally);
/* A connection that ended, all the same how. */
void tally_add(struct tally *tally, const struct connection *connection, enum outcome outcome);

#endif
