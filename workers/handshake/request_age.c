/* An age's keys. */
#include "request_age.h"

static bool store_connections(struct request *r, const char *v) {
    return value_whole(v, AGE_POINTS_MIN, AGE_CONNECTIONS_MAX, &r->age_plan.connections);
}
static bool store_points(struct request *r, const char *v) {
    return value_whole(v, AGE_POINTS_MIN, AGE_POINTS_MAX, &r->age_plan.points);
}
static bool store_max_ns(struct request *r, const char *v) {
    return value_decimal(v, 1, NS_LIMIT, &r->age_plan.max_ns);
}

const struct key age_keys[AGE_KEYS] = {
    {"id", store_id, "a name"},
    {"connections", store_connections, "2 to 10000000"},
    {"points", store_points, "2 to 1000"},
    {"max_ns", store_max_ns, "1 to 3600000000000"},
};
