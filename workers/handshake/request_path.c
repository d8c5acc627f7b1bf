/* A path's keys. */
#include "request_path.h"

#include <string.h>

static const uint64_t SECOND_NS = 1000000000u;
static const uint64_t LOSS_MOST_PPM = 1000000, RATE_MOST_BIT_S = 100000000000u, QUEUE_MOST_BYTES = 1u << 30;

static bool store_round_trip_ns(struct request *r, const char *v) {
    return value_decimal(v, 0, 10 * SECOND_NS, &r->path_plan.path.round_trip_ns);
}
static bool store_loss_ppm(struct request *r, const char *v) {
    return value_decimal(v, 0, LOSS_MOST_PPM, &r->path_plan.path.loss_ppm);
}
static bool store_rate_bit_s(struct request *r, const char *v) {
    uint64_t *rate = &r->path_plan.path.rate_bit_s;
    return value_decimal(v, 0, RATE_MOST_BIT_S, rate) && (*rate == 0 || *rate >= 1000);
}
static bool store_mtu(struct request *r, const char *v) {
    return value_whole(v, 576, 9000, &r->path_plan.path.mtu);
}
static bool store_queue_bytes(struct request *r, const char *v) {
    return value_decimal(v, 0, QUEUE_MOST_BYTES, &r->path_plan.path.queue_bytes);
}
static bool store_initial_window(struct request *r, const char *v) {
    return value_whole(v, 1, 100, &r->path_plan.path.initial_window);
}
static bool store_split_hello(struct request *r, const char *v) {
    uint64_t *delay = &r->path_plan.path.split_hello_ns;
    if (strcmp(v, "drop") != 0)
        return value_decimal(v, 0, 10 * SECOND_NS, delay);
    *delay = PATH_SPLIT_DROPPED;
    return true;
}
static bool store_seed(struct request *r, const char *v) {
    return value_decimal(v, 0, UINT64_MAX, &r->path_plan.path.seed);
}
static bool store_connections(struct request *r, const char *v) {
    return value_whole(v, 1, PATH_CONNECTIONS_MAX, &r->path_plan.connections);
}
static bool store_interval_ns(struct request *r, const char *v) {
    return value_decimal(v, 0, SECOND_NS, &r->path_plan.interval_ns);
}
static bool store_timeout_ns(struct request *r, const char *v) {
    return value_decimal(v, SECOND_NS / 1000, 60 * SECOND_NS, &r->path_plan.timeout_ns);
}
static bool store_answer_bytes(struct request *r, const char *v) {
    return value_whole(v, 1, TRANSFER_MAX, &r->path_plan.answer_bytes);
}

bool path_is_bounded(const struct path_plan *plan) {
    return plan->connections * plan->interval_ns <= NS_LIMIT;
}

const struct key path_keys[PATH_KEYS] = {
    {"id", store_id, "a name"},
    {"round_trip_ns", store_round_trip_ns, "0 to 10000000000"},
    {"loss_ppm", store_loss_ppm, "0 to 1000000"},
    {"rate_bit_s", store_rate_bit_s, "0, or 1000 to 100000000000"},
    {"mtu", store_mtu, "576 to 9000"},
    {"queue_bytes", store_queue_bytes, "0 to 1073741824"},
    {"initial_window", store_initial_window, "1 to 100"},
    {"split_hello", store_split_hello, "drop, or 0 to 10000000000"},
    {"seed", store_seed, "a number of at most 18 digits"},
    {"connections", store_connections, "1 to 20000"},
    {"interval_ns", store_interval_ns, "0 to 1000000000"},
    {"timeout_ns", store_timeout_ns, "1000000 to 60000000000"},
    {"answer_bytes", store_answer_bytes, "1 to 16777216"},
};
