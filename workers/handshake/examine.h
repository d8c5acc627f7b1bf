/* The untimed pass: what a handshake is made of, apart from time. */
#ifndef KEXBENCH_EXAMINE_H
#define KEXBENCH_EXAMINE_H

#include "prepared.h"

/* Totals over `handshakes`, by role where both are named. */
struct examined {
    uint64_t handshakes;
    uint64_t bytes[ROLES], records[ROLES];
    uint64_t round_trips;
    bool has_heap; /* the counter of allocations was preloaded */
    uint64_t allocations[ROLES];
    uint64_t heap_peak_bytes; /* the most that one handshake held at a time, both sides together */
    uint64_t held_connections;
    uint64_t held_bytes[ROLES]; /* of `held_connections` that are open at the same time */
    bool has_counter[COUNTERS];
    uint64_t counters[COUNTERS][ROLES];
    char counters_absent[128]; /* why one is, or empty */
};

enum { HELD_MAX = 16 };

/* Is there a counter of allocations, and does it see those of this library? */
bool heap_is_counted(const struct backend *backend);
bool examine(struct prepared *prepared, uint64_t handshakes, struct examined *out, struct fault *fault);

#endif
