/* What became of the connections over a path. */
#ifndef KEXBENCH_PATH_RESULT_H
#define KEXBENCH_PATH_RESULT_H

#include "crossing.h"
#include "latency.h"
#include "tally.h"

enum path_time {
    PATH_CONNECT,
    PATH_HANDSHAKE,
    PATH_COMPUTING,
    PATH_REQUEST,
    PATH_FIRST_BYTE,
    PATH_LAST_BYTE,
    PATH_TIMES
};

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
    uint64_t flight_bytes[CROSSING_FLIGHTS_MAX]; /* of the first connection that is done, else of one that
                                                    failed */
    const char *congestion_control;
    struct emulated emulated;
};

/* False: out of memory; path_free frees what there is, here too. */
bool path_new(struct path_result *result, uint64_t connections);
void path_free(struct path_result *result);

/* Of a connection that was ended. */
void path_note_done(struct path_result *result, const struct crossing *crossing);
void path_note_failure(struct path_result *result, const struct crossing *crossing, enum outcome outcome);
/* Once all have ended, of those that were begun: the arrays are then of those that are done. */
void path_close_gaps(struct path_result *result, unsigned begun);

#endif
