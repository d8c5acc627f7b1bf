/* The loop of a load. Connections are begun as long as the plan has more, and ended one by one as they are
 * done, have failed or have timed out, so that each wait and the whole are bounded. */
#include "load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

/* One run of the loop: the load itself, or the connection before it that yields the first session. */
struct loop {
    const struct visit *visit;
    unsigned concurrency;
    uint64_t max_connections;
    unsigned resumed_percent;
    int epoll;
    struct connection *connections;
    struct tally *tally;
    uint64_t begun, under_way, started_ns;
    bool good;
    struct fault *fault;
};

/* What epoll waits for. */
static uint32_t interest(const struct connection *c) {
    return EPOLLIN | (connection_writes(c) ? EPOLLOUT : 0);
}

/* As many of the first N connections resume as the percentage is of N, rounded down: the same ones in each
 * load. */
static bool resumes(uint64_t number, unsigned percent) {
    return (number + 1) * percent / 100 > number * percent / 100;
}

static void end(struct loop *l, struct connection *c, enum outcome outcome) {
    connection_end(c); /* leaves epoll with its socket */
    tally_add(l->tally, c, outcome);
    if (outcome == OUTCOME_FATAL && l->good) {
        l->good = false;
        *l->fault = c->fault;
    }
}

static void begin(struct loop *l, struct connection *c) {
    uint64_t number = l->begun++;
    enum outcome outcome = connection_begin(c, l->visit, resumes(number, l->resumed_percent), number);
    struct epoll_event event = {.events = interest(c), .data.ptr = c};
    if (outcome == OUTCOME_UNDER_WAY && epoll_ctl(l->epoll, EPOLL_CTL_ADD, c->socket, &event) != 0) {
        fault_set(&c->fault, FAULT_ERROR, "epoll: %s", strerror(errno));
        outcome = OUTCOME_FATAL;
    }
    if (outcome == OUTCOME_UNDER_WAY)
        l->under_way++;
    else
        end(l, c, outcome);
}

static bool may_begin(const struct loop *l) {
    return l->good && l->begun < l->max_connections &&
           (l->begun == 0 || real_clock.wall_ns() - l->started_ns < l->visit->plan.max_ns);
}

/* A server that refuses costs a place none of its time: the place is used again until the plan is. */
static void begin_all(struct loop *l) {
    for (unsigned i = 0; i < l->concurrency; i++) {
        while (l->connections[i].socket < 0 && may_begin(l))
            begin(l, &l->connections[i]);
    }
}

static void go_on(struct loop *l, struct connection *c) {
    uint32_t before = interest(c);
    enum outcome outcome = connection_go_on(c);
    struct epoll_event event = {.events = interest(c), .data.ptr = c};
    if (outcome == OUTCOME_UNDER_WAY && event.events != before &&
        epoll_ctl(l->epoll, EPOLL_CTL_MOD, c->socket, &event) != 0) {
        fault_set(&c->fault, FAULT_ERROR, "epoll: %s", strerror(errno));
        outcome = OUTCOME_FATAL;
    }
    if (outcome == OUTCOME_UNDER_WAY)
        return;
    l->under_way--;
    end(l, c, outcome);
}

/* Ends what has timed out. Returns when the next connection will have: a time in ms, as epoll takes it. */
static int expire(struct loop *l) {
    uint64_t now = real_clock.wall_ns(), timeout_ns = l->visit->plan.timeout_ns, least_ns = timeout_ns;
    for (unsigned i = 0; i < l->concurrency; i++) {
        struct connection *c = &l->connections[i];
        uint64_t age_ns = c->socket < 0 || now < c->begun_ns ? 0 : now - c->begun_ns;
        if (age_ns >= timeout_ns) {
            l->under_way--;
            end(l, c, connection_time_out(c));
        } else if (timeout_ns - age_ns < least_ns) {
            least_ns = timeout_ns - age_ns;
        }
    }
    return (int)(least_ns / 1000000 + 1);
}

static void turn(struct loop *l) {
    struct epoll_event events[LOAD_CONCURRENCY_MAX];
    int wait_ms = expire(l);
    if (l->under_way == 0)
        return;
    int ready = epoll_wait(l->epoll, events, LOAD_CONCURRENCY_MAX, wait_ms);
    if (ready < 0 && errno != EINTR)
        l->good = fault_set(l->fault, FAULT_ERROR, "epoll: %s", strerror(errno));
    for (int i = 0; i < ready && l->good; i++)
        go_on(l, events[i].data.ptr);
}

/* What is still under way when a load breaks off is dropped. */
static bool run(struct loop *l) {
    l->good = true;
    l->started_ns = real_clock.wall_ns();
    for (begin_all(l); l->good && l->under_way > 0; begin_all(l))
        turn(l);
    for (unsigned i = 0; i < l->concurrency; i++)
        connection_end(&l->connections[i]);
    return l->good;
}

/* --- The whole. --- */

static bool check(const struct prepared *p, const struct load_plan *plan, struct fault *fault) {
    const struct tls_case *c = &p->tls_case;
    if (c->roles != ROLES_BOTH)
        return fault_set(fault, FAULT_ERROR, "a load needs roles=both: its set-up proves the case");
    if (!case_is_tls(c))
        return fault_set(fault, FAULT_ERROR, "a load is of TLS connections");
    if (c->threads > 1)
        return fault_set(fault, FAULT_ERROR,
                         "a load takes no threads: concurrency says how many connections there are");
    if (c->early_data_bytes > 0)
        return fault_set(fault, FAULT_ERROR, "a load takes no early_data_bytes: they would be no HTTP");
    return plan->resumed_percent == 0 || c->resumption != RESUME_NONE ||
           fault_set(fault, FAULT_ERROR, "resumed_percent needs a resumption");
}

static bool new_session(struct loop l, struct fault *fault) {
    struct tally alone;
    l.concurrency = 1;
    l.max_connections = 1;
    l.resumed_percent = 0;
    l.tally = &alone;
    bool good = tally_init(&alone, 1) || fault_set(fault, FAULT_ERROR, "out of memory");
    good = good && run(&l);
    if (good && alone.outcomes[OUTCOME_DONE] == 0)
        good = fault_set(fault, FAULT_ERROR, "no session to resume: %.400s", alone.first_failure);
    tally_free(&alone);
    return good;
}

static void report(struct tally *t, struct load *out) {
    out->connections = t->outcomes[OUTCOME_DONE];
    out->resumed = t->resumed;
    memcpy(out->failures, t->outcomes, sizeof out->failures);
    memcpy(out->first_failure, t->first_failure, sizeof out->first_failure);
    memcpy(out->bytes, t->bytes, sizeof out->bytes);
    if (out->connections > 0) {
        out->handshake = latency_of(t->handshake_ns, out->connections);
        out->response = latency_of(t->response_ns, out->connections);
    }
}

static bool measured(struct loop *l, struct load *out) {
    uint64_t switches = real_clock.waiting().involuntary, cpu = real_clock.thread_cpu_ns();
    uint64_t wall = real_clock.wall_ns();
    bool good = run(l);
    out->wall_ns = real_clock.wall_ns() - wall;
    out->thread_cpu_ns = real_clock.thread_cpu_ns() - cpu;
    out->involuntary_switches = real_clock.waiting().involuntary - switches;
    return good;
}

bool load(const struct prepared *p, const struct load_plan *plan, struct load *out, struct fault *fault) {
    memset(out, 0, sizeof *out);
    if (!check(p, plan, fault))
        return false;
    struct visit visit = {
        .backend = p->backend, .context = p->context, .tls_case = p->tls_case, .plan = *plan};
    visit.tls_case.tickets = TICKETS_NONE; /* they are not counted (connection.c) */
    visit.keeps = plan->resumed_percent > 0;
    for (int resumed = 0; resumed < 2; resumed++)
        visit.wanted[resumed] = case_wanted(&visit.tls_case, resumed != 0);
    struct tally tally;
    struct loop l = {.visit = &visit,
                     .concurrency = plan->concurrency,
                     .max_connections = plan->max_connections,
                     .resumed_percent = plan->resumed_percent,
                     .epoll = epoll_create1(EPOLL_CLOEXEC),
                     .connections = calloc(plan->concurrency, sizeof(struct connection)),
                     .tally = &tally,
                     .fault = fault};
    bool good = tally_init(&tally, plan->max_connections) && l.connections != NULL && l.epoll >= 0;
    if (!good)
        fault_set(fault, FAULT_ERROR, "no memory or no epoll for so many connections");
    for (unsigned i = 0; l.connections != NULL && i < plan->concurrency; i++)
        l.connections[i].socket = -1;
    good = good && (!visit.keeps || new_session(l, fault)) && measured(&l, out);
    if (good)
        report(&tally, out);
    else
        memset(out, 0, sizeof *out);
    out->proven = tally.proven;
    free(l.connections);
    if (l.epoll >= 0)
        close(l.epoll);
    tally_free(&tally);
    return good;
}
