/* The loop. A connection begins at each interval, whatever the others do, and each is ended as it is done,
 * has failed or has timed out, so that each wait and the whole are bounded. */
#include "path.h"

#include "hurry.h"
#include "tun.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { EVENTS = 256 };

struct loop {
    struct journey journey;
    struct emulator emulator;
    int epoll, timer;
    struct crossing **crossings;    /* by number; NULL: not begun, or ended */
    struct crossing *free, *ending; /* ended in this turn: its events may still be among those at hand */
    struct path_result *all;        /* like the result's, but by number; times of what is not done are 0 */
    uint64_t *lateness_ns;          /* of each beginning */
    unsigned begun, oldest, under_way;
    uint64_t started_ns;
    bool good;
    struct fault *fault;
};

static void fail(struct loop *l, const struct fault *fault) {
    if (l->good)
        *l->fault = *fault;
    l->good = false;
}

static void fail_errno(struct loop *l, const char *what) {
    struct fault fault;
    fault_set(&fault, FAULT_ERROR, "%s: %s", what, strerror(errno));
    fail(l, &fault);
}

/* --- The end of a connection. --- */

static void end(struct loop *l, struct crossing *c, enum outcome outcome) {
    crossing_end(c); /* its sockets leave epoll */
    l->all->proven += c->proven[ROLE_CLIENT];
    if (outcome == OUTCOME_DONE)
        path_note_done(l->all, c);
    else if (outcome == OUTCOME_FATAL)
        fail(l, &c->fault);
    else
        path_note_failure(l->all, c, outcome);
    l->crossings[c->number] = NULL;
    l->under_way--;
    c->next = l->ending;
    l->ending = c;
}

static void recycle(struct loop *l) {
    while (l->ending != NULL) {
        struct crossing *c = l->ending;
        l->ending = c->next;
        c->next = l->free;
        l->free = c;
    }
}

/* --- Its beginning, on both sides. --- */

static bool watch(struct loop *l, int file, uint32_t events, void *what) {
    struct epoll_event event = {.events = events, .data.ptr = what};
    if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, file, &event) == 0)
        return true;
    fail_errno(l, "epoll");
    return false;
}

/* Each readiness is told once, so that nothing has to be told of what a connection waits for. */
static bool watch_shore(struct loop *l, struct shore *s) {
    return watch(l, s->socket, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, s);
}

static uint64_t beginning_ns(const struct loop *l) {
    return l->started_ns + l->begun * l->journey.plan.interval_ns;
}

static void begin(struct loop *l) {
    struct crossing *c = l->free;
    int socket = emulator_socket(&l->emulator);
    if (socket < 0) {
        fail_errno(l, "no socket of the path");
        return;
    }
    if (c != NULL)
        l->free = c->next;
    else
        c = crossing_new();
    if (c == NULL) {
        close(socket);
        fail_errno(l, "a connection");
        return;
    }
    l->crossings[l->begun] = c;
    l->under_way++;
    enum outcome outcome = crossing_begin(c, &l->journey, l->begun, socket);
    uint64_t wanted_ns = beginning_ns(l);
    l->lateness_ns[l->begun++] = c->begun_ns > wanted_ns ? c->begun_ns - wanted_ns : 0;
    if (outcome != OUTCOME_UNDER_WAY || !watch_shore(l, &c->shores[ROLE_CLIENT]))
        end(l, c, OUTCOME_FATAL);
}

static void begin_due(struct loop *l) {
    while (l->good && l->begun < l->journey.plan.connections && real_clock.wall_ns() >= beginning_ns(l)) {
        if (l->under_way == PATH_UNDER_WAY_MAX) {
            fault_set(l->fault, FAULT_ERROR,
                      "more than %d connections are under way at the same time: interval_ns is too "
                      "short for this path",
                      PATH_UNDER_WAY_MAX);
            l->good = false;
            return;
        }
        begin(l);
    }
}

/* Whose connection it is tells its address; one that has timed out meanwhile is nobody's. */
static bool accept_one(struct loop *l) {
    struct sockaddr_in from;
    socklen_t size = sizeof from;
    uint16_t number;
    int socket = accept4(l->emulator.server, (struct sockaddr *)&from, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (socket < 0)
        return false;
    struct crossing *c = NULL;
    if (tun_connection(from.sin_addr.s_addr, &number) && number < l->begun)
        c = l->crossings[number];
    if (c == NULL || c->shores[ROLE_SERVER].socket >= 0) {
        close(socket);
        return true;
    }
    enum outcome outcome = crossing_accept(c, socket);
    if (outcome != OUTCOME_UNDER_WAY || !watch_shore(l, &c->shores[ROLE_SERVER]))
        end(l, c, OUTCOME_FATAL);
    return true;
}

static void accept_all(struct loop *l) {
    while (l->good && accept_one(l))
        ;
    if (l->good && errno != EAGAIN && errno != ECONNABORTED && errno != EINTR)
        fail_errno(l, "accepting a connection");
}

/* --- The loop. --- */

/* All have the same time, so they time out in the order of their beginning. */
static void expire(struct loop *l) {
    for (; l->oldest < l->begun; l->oldest++) {
        struct crossing *c = l->crossings[l->oldest];
        if (c != NULL && real_clock.wall_ns() - c->begun_ns < l->journey.plan.timeout_ns)
            return;
        if (c != NULL)
            end(l, c, crossing_time_out(c));
    }
}

static void set_timer(struct loop *l) {
    uint64_t next = UINT64_MAX;
    if (l->begun < l->journey.plan.connections)
        next = beginning_ns(l);
    if (l->oldest < l->begun && l->crossings[l->oldest] != NULL) {
        uint64_t ends = l->crossings[l->oldest]->begun_ns + l->journey.plan.timeout_ns;
        next = ends < next ? ends : next;
    }
    struct itimerspec at = {.it_value = {(time_t)(next / 1000000000u), (long)(next % 1000000000u)}};
    if (next != UINT64_MAX && timerfd_settime(l->timer, TFD_TIMER_ABSTIME, &at, NULL) != 0)
        fail_errno(l, "a timer");
}

static void go_on(struct loop *l, struct shore *s) {
    if (s->socket < 0) /* ended in this turn */
        return;
    enum outcome outcome = crossing_go_on(s);
    if (outcome != OUTCOME_UNDER_WAY)
        end(l, s->crossing, outcome);
}

static void turn(struct loop *l) {
    struct epoll_event events[EVENTS];
    set_timer(l);
    int ready = epoll_wait(l->epoll, events, EVENTS, -1); /* the timer ends it */
    if (ready < 0 && errno != EINTR)
        fail_errno(l, "epoll");
    for (int i = 0; i < ready && l->good; i++) {
        if (events[i].data.ptr == &l->emulator)
            accept_all(l);
        else if (events[i].data.ptr != &l->timer)
            go_on(l, events[i].data.ptr);
    }
    recycle(l);
}

/* What is still under way when it breaks off is dropped. */
static void run(struct loop *l) {
    l->started_ns = real_clock.wall_ns();
    for (begin_due(l); l->good && (l->under_way > 0 || l->begun < l->journey.plan.connections);
         begin_due(l)) {
        turn(l);
        expire(l);
        recycle(l);
    }
    for (unsigned i = 0; i < l->begun; i++) {
        if (l->crossings[i] != NULL)
            end(l, l->crossings[i], OUTCOME_TIMEOUT);
    }
    recycle(l);
    while (l->free != NULL) {
        struct crossing *c = l->free;
        l->free = c->next;
        free(c);
    }
}

/* --- The whole. --- */

static bool check(const struct prepared *p, struct fault *fault) {
    const struct tls_case *c = &p->tls_case;
    if (c->roles != ROLES_BOTH)
        return fault_set(fault, FAULT_ERROR, "a path needs roles=both: one worker is at both of its ends");
    if (!case_is_tls(c))
        return fault_set(fault, FAULT_ERROR, "a path is of TLS connections");
    if (c->threads > 1)
        return fault_set(fault, FAULT_ERROR,
                         "a path takes no threads: its connections are all under way in one");
    return !c->anti_replay ||
           fault_set(fault, FAULT_ERROR,
                     "a path takes no anti_replay: its connections resume the same session");
}

/* Two files for each connection under way. */
static void raise_files(void) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == files.rlim_max)
        return;
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
}

static void measured(struct loop *l) {
    uint64_t cpu = real_clock.thread_cpu_ns();
    struct waiting before = real_clock.waiting();
    struct pace pace = hurry(PATH_USER_LEVEL);
    run(l);
    hurry_no_more(pace);

    struct waiting after = real_clock.waiting();
    l->all->wall_ns = real_clock.wall_ns() - l->started_ns;
    l->all->thread_cpu_ns = real_clock.thread_cpu_ns() - cpu;
    l->all->others_ns = after.ready_ns - before.ready_ns;
    if (l->begun > 0)
        l->all->begins = latency_of(l->lateness_ns, l->begun);
}

static bool over_path(struct loop *l) {
    const struct path_plan *plan = &l->journey.plan;
    l->crossings = calloc(plan->connections, sizeof(struct crossing *));
    l->lateness_ns = calloc(plan->connections, sizeof *l->lateness_ns);
    l->epoll = epoll_create1(EPOLL_CLOEXEC);
    l->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (l->crossings == NULL || l->lateness_ns == NULL || l->epoll < 0 || l->timer < 0)
        return fault_set(l->fault, FAULT_ERROR, "no memory or no epoll for so many connections");
    if (!emulator_open(&l->emulator, &plan->path, plan->connections, false, l->fault))
        return false;
    l->good = true;
    if (watch(l, l->timer, EPOLLIN | EPOLLET, &l->timer) &&
        watch(l, l->emulator.server, EPOLLIN, &l->emulator))
        measured(l);
    l->all->congestion_control = l->emulator.congestion_control;
    struct emulated *out = &l->all->emulated;
    struct fault fault;
    if (!emulator_close(&l->emulator, out, &fault))
        fail(l, &fault);
    return l->good;
}

bool path(const struct prepared *p, const struct path_plan *plan, struct path_result *out,
          struct fault *fault) {
    struct loop l = {
        .journey = {.backend = p->backend, .context = p->context, .tls_case = p->tls_case, .plan = *plan},
        .epoll = -1,
        .timer = -1,
        .all = out,
        .fault = fault};
    l.journey.tls_case.tickets = TICKETS_NONE; /* they are not counted (crossing.c) */
    l.journey.wanted = p->wanted;
    bool good = path_new(out, plan->connections) || fault_set(fault, FAULT_ERROR, "out of memory");
    if (good)
        raise_files();
    good = good && check(p, fault) && over_path(&l);
    free(l.crossings);
    free(l.lateness_ns);
    if (l.epoll >= 0)
        close(l.epoll);
    if (l.timer >= 0)
        close(l.timer);
    if (good)
        path_close_gaps(out, l.begun);
    else
        path_free(out);
    return good;
}
