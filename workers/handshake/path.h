/* Connections over an emulated path, each proven: how long their clients wait. */
#ifndef KEXBENCH_PATH_H
#define KEXBENCH_PATH_H

#include "crossing.h"
#include "prepared.h"
#include "tally.h"

enum path_time { PATH_CONNECT, PATH_HANDSHAKE, PATH_REQUEST, PATH_FIRST_BYTE, PATH_LAST_BYTE, PATH_TIMES };

/* Zeroed but for `proven` where there is none; path_free frees the arrays. */
struct path_result {
    uint64_t connections; /* done: the answer was whole */
    uint64_t proven;      /* clients' handshakes, failed connections' too */
    uint64_t failures[OUTCOMES];
    char first_failure[FAILURE_MAX]; /* empty: none */
    uint64_t wall_ns, thread_cpu_ns;
    uint64_t others_ns;    /* this thread was ready to run, and its CPU ran something else */
    struct latency begins; /* how much later than at their interval connections began, failed ones too */
    uint64_t *times[PATH_TIMES];      /* of the connections that are done, in the order of their beginning */
    uint64_t *retransmissions[ROLES]; /* the same */
    uint64_t flights;
    uint64_t flight_bytes[CROSSING_FLIGHTS_MAX]; /* of the first connection that is done */
    const char *congestion_control;
    struct emulated emulated;
};

/* The case was set up with both roles. True: `out` is meaningful, even where every connection failed. False:
 * `fault` says why there is no result. */
bool path(const struct prepared *prepared, const struct path_plan *plan, struct path_result *out,
          struct fault *fault);
void path_free(struct path_result *result);

#endif
