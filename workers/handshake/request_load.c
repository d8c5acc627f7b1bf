/* A load's keys. The server is on this machine: no request can make a worker connect to another. */
#include "request_load.h"

#include "loopback.h"

static const uint64_t TIMEOUT_LEAST_NS = 1000000, TIMEOUT_MOST_NS = 60ull * 1000000000ull;

static bool store_address(struct request *r, const char *v) {
    return loopback_address(v, &r->load_plan.address);
}
static bool store_port(struct request *r, const char *v) {
    uint64_t port;
    if (!value_decimal(v, 1, UINT16_MAX, &port))
        return false;
    r->load_plan.port = (uint16_t)port;
    return true;
}
static bool store_path(struct request *r, const char *v) {
    return value_copy(r->load_plan.path, v);
}
static bool store_response_bytes(struct request *r, const char *v) {
    return value_decimal(v, 0, TRANSFER_MAX, &r->load_plan.response_bytes);
}
static bool store_requests(struct request *r, const char *v) {
    return value_whole(v, 1, LOAD_REQUESTS_MAX, &r->load_plan.requests);
}
static bool store_concurrency(struct request *r, const char *v) {
    return value_whole(v, 1, LOAD_CONCURRENCY_MAX, &r->load_plan.concurrency);
}
static bool store_max_connections(struct request *r, const char *v) {
    return value_decimal(v, 1, LOAD_CONNECTIONS_MAX, &r->load_plan.max_connections);
}
static bool store_max_ns(struct request *r, const char *v) {
    return value_decimal(v, 1, NS_LIMIT, &r->load_plan.max_ns);
}
static bool store_timeout_ns(struct request *r, const char *v) {
    return value_decimal(v, TIMEOUT_LEAST_NS, TIMEOUT_MOST_NS, &r->load_plan.timeout_ns);
}
static bool store_resumed_percent(struct request *r, const char *v) {
    return value_whole(v, 0, 100, &r->load_plan.resumed_percent);
}

const struct key load_keys[LOAD_KEYS] = {
    {"id", store_id, "a name"},
    {"address", store_address, "an IPv4 address of loopback, such as 127.0.0.1"},
    {"port", store_port, "1 to 65535"},
    {"path", store_path, "a path without its leading slash"},
    {"response_bytes", store_response_bytes, "0 to 16777216"},
    {"requests", store_requests, "1 to 1000"},
    {"concurrency", store_concurrency, "1 to 32"},
    {"max_connections", store_max_connections, "1 to 100000"},
    {"max_ns", store_max_ns, "1 to 3600000000000"},
    {"timeout_ns", store_timeout_ns, "1000000 to 60000000000"},
    {"resumed_percent", store_resumed_percent, "0 to 100"},
};
