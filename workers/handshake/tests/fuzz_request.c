/* Any bytes either parse or give a reason, and what parses is whole. */
#include "request.h"

#include "fuzz.h"

static void demand_text(const char text[VALUE_MAX + 1]) {
    demand(text[0] != '\0' && memchr(text, '\0', VALUE_MAX + 1) != NULL);
}

static void demand_file(const char name[VALUE_MAX + 1]) {
    demand_text(name);
    demand(name[0] != '.' && strchr(name, '/') == NULL);
}

static void demand_setup(const struct tls_case *c) {
    struct fault fault = {0};
    demand_text(c->group_name);
    demand_file(c->key);
    demand_file(c->certificate);
    demand_file(c->dh_parameters);
    demand_file(c->ocsp_response);
    if (case_check(c, &fault)) {
        bool resumes = c->resumption != RESUME_NONE;
        struct negotiated wanted = case_wanted(c, resumes);
        demand(wanted.resumed == resumes && c->threads >= 1);
        demand(negotiated_matches(&wanted, &wanted, "client", &fault));
    } else {
        demand(fault.reason[0] != '\0');
    }
}

static void demand_load(const struct load_plan *plan) {
    demand_text(plan->path);
    demand(ntohl(plan->address.s_addr) >> 24 == IN_LOOPBACKNET && plan->port > 0);
    demand(plan->concurrency >= 1 && plan->concurrency <= LOAD_CONCURRENCY_MAX);
    demand(plan->max_connections >= 1 && plan->max_connections <= LOAD_CONNECTIONS_MAX);
    demand(plan->requests >= 1 && plan->max_ns >= 1 && plan->timeout_ns >= 1000000);
    demand(plan->resumed_percent <= 100 && plan->response_bytes <= TRANSFER_MAX);
}

static void demand_path(const struct path_plan *plan) {
    const struct path *path = &plan->path;
    demand(path->round_trip_ns <= 10000000000 && path->loss_ppm <= 1000000);
    demand(path->mtu >= 576 && path->mtu <= 9000 && path->initial_window >= 1 && path->initial_window <= 100);
    demand(path->split_hello_ns <= 10000000000 || path->split_hello_ns == PATH_SPLIT_DROPPED);
    demand(plan->connections >= 1 && plan->connections <= PATH_CONNECTIONS_MAX && plan->answer_bytes >= 1);
    demand(plan->connections * plan->interval_ns <= 3600000000000 && plan->timeout_ns <= 60000000000);
}

static void demand_age(const struct age_plan *plan) {
    demand(plan->points >= AGE_POINTS_MIN && plan->points <= AGE_POINTS_MAX);
    demand(plan->connections >= plan->points && plan->connections <= AGE_CONNECTIONS_MAX);
    demand(plan->max_ns >= 1 && plan->max_ns <= 3600000000000);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct request request;
    char reason[REASON_MAX];
    reason[0] = '\0';
    if (!request_parse((const char *)data, size, &request, reason))
        demand(reason[0] != '\0' && memchr(reason, '\0', sizeof reason) != NULL);
    else if (request.verb != VERB_STOP)
        demand_text(request.tls_case.id);
    if (reason[0] != '\0')
        return 0;
    if (request.verb == VERB_SETUP)
        demand_setup(&request.tls_case);
    else if (request.verb == VERB_RUN)
        demand(request.limits.max_handshakes >= 1 &&
               request.limits.min_handshakes <= request.limits.max_handshakes);
    else if (request.verb == VERB_EXAMINE)
        demand(request.handshakes >= 1);
    else if (request.verb == VERB_LOAD)
        demand_load(&request.load_plan);
    else if (request.verb == VERB_PATH)
        demand_path(&request.path_plan);
    else if (request.verb == VERB_AGE)
        demand_age(&request.age_plan);
    return 0;
}
