/* A load: one thread that keeps some connections to a server on this machine under way, each new, and proves
 * what each of them negotiated. */
#ifndef KEXBENCH_LOAD_H
#define KEXBENCH_LOAD_H

#include "prepared.h"
#include "tally.h"

struct load {
    uint64_t connections; /* done: each answer was whole, and the connection closed */
    uint64_t resumed;     /* of these */
    uint64_t proven;      /* handshakes, failed connections' too */
    uint64_t failures[OUTCOMES];
    char first_failure[FAILURE_MAX]; /* empty: none */
    uint64_t wall_ns;
    uint64_t thread_cpu_ns;
    uint64_t involuntary_switches;
    uint64_t bytes[ROLES];              /* on sockets, failed connections' too */
    struct latency handshake, response; /* meaningless without connections */
};

/* The case was set up with both roles; of these the client plays its part here. True: `out` is meaningful,
 * even where every connection failed. False: `fault` says why there is no load, and of `out` only `proven` is
 * set. */
bool load(const struct prepared *prepared, const struct load_plan *plan, struct load *out,
          struct fault *fault);

#endif
