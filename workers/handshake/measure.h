/* The one measured loop. It knows no library and no protocol. */
#ifndef KEXBENCH_MEASURE_H
#define KEXBENCH_MEASURE_H

#include "backend.h"

/* A handshake takes five turns in TLS 1.2 and three or four in TLS 1.3; HelloRetryRequest adds two. */
enum { TURNS_MAX = 32 };

struct limits {
    uint64_t min_handshakes;
    uint64_t min_ns;
    uint64_t max_handshakes; /* at least 1 */
};

struct batch {
    uint64_t handshakes;
    uint64_t client_cpu_ns, server_cpu_ns, wall_ns;
    uint64_t first_client_ns, first_server_ns;
    uint64_t client_bytes, server_bytes;
    uint64_t involuntary_switches;
};

/* One unmeasured handshake; on success `seen` is what both sides negotiated. */
bool probe(const struct backend *backend, struct context *context, const struct negotiated *wanted,
           struct negotiated *seen, struct fault *fault);

/* True: every handshake was proven and all of `out` is meaningful.
 * False: `fault` says why, `out->handshakes` is how many were proven before, and nothing else of `out` is
 * set. */
bool measure(const struct backend *backend, struct context *context, const struct negotiated *wanted,
             const struct limits *limits, struct batch *out, struct fault *fault);

#endif
