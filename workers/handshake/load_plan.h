/* What a request `load` asks for. */
#ifndef KEXBENCH_LOAD_PLAN_H
#define KEXBENCH_LOAD_PLAN_H

#include "case.h"

#include <netinet/in.h>
#include <stdint.h>

/* So many latencies are kept, each of them exactly. */
enum { LOAD_CONNECTIONS_MAX = 100000, LOAD_CONCURRENCY_MAX = 32, LOAD_REQUESTS_MAX = 1000 };

struct load_plan {
    struct in_addr address; /* of loopback */
    uint16_t port;
    char path[VALUE_MAX + 1]; /* without its leading slash */
    uint64_t response_bytes;
    unsigned requests; /* a connection's, one after the other */
    unsigned concurrency;
    uint64_t max_connections;
    uint64_t max_ns;     /* after which no connection begins */
    uint64_t timeout_ns; /* a connection's, from its beginning to its end */
    unsigned resumed_percent;
};

#endif
