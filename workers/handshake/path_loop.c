/* Which connection is ready, due or late (path_loop.h). */
#include "path_loop.h"

#include "datagram.h"
#include "tun.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { EVENTS = 256 };

/* What is due sooner is waited for awake: to wake for a timer takes as long. */
static const uint64_t AWAKE_NS = 50000;

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
    l->due_ns[c->number * ROLES + ROLE_CLIENT] = l->due_ns[c->number * ROLES + ROLE_SERVER] = UINT64_MAX;
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

/* --- Turns of datagrams. --- */

static bool is_of_datagrams(const struct loop *l) {
    return l->journey.backend->datagrams != NULL;
}

static void note_due(struct loop *l, const struct shore *s) {
    if (is_of_datagrams(l))
        l->due_ns[s->crossing->number * ROLES + s->role] = s->due_ns;
}

static uint64_t next_due_ns(const struct loop *l) {
    uint64_t next = UINT64_MAX;
    for (unsigned i = l->oldest * ROLES; i < l->begun * ROLES; i++)
        next = l->due_ns[i] < next ? l->due_ns[i] : next;
    return next;
}

static void take_due(struct loop *l) {
    for (unsigned i = l->oldest * ROLES; l->good && i < l->begun * ROLES; i++) {
        if (l->due_ns[i] > real_clock.wall_ns())
            continue;
        struct shore *s = &l->crossings[i / ROLES]->shores[i % ROLES];
        enum outcome outcome = crossing_turn(s);
        note_due(l, s);
        if (outcome != OUTCOME_UNDER_WAY)
            end(l, s->crossing, outcome);
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
    else
        note_due(l, &c->shores[ROLE_CLIENT]);
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
static struct crossing *whose(const struct loop *l, const struct sockaddr_in *from) {
    uint16_t number;
    return tun_connection(from->sin_addr.s_addr, &number) && number < l->begun ? l->crossings[number] : NULL;
}

/* Each of the three returns whether there was one. */
static bool accept_one(struct loop *l) {
    struct sockaddr_in from;
    socklen_t size = sizeof from;
    int socket = accept4(l->emulator.server, (struct sockaddr *)&from, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (socket < 0)
        return false;
    struct crossing *c = whose(l, &from);
    if (c == NULL || c->shores[ROLE_SERVER].socket >= 0) {
        close(socket);
        return true;
    }
    enum outcome outcome = crossing_accept(c, socket);
    if (outcome != OUTCOME_UNDER_WAY || !watch_shore(l, &c->shores[ROLE_SERVER]))
        end(l, c, OUTCOME_FATAL);
    return true;
}

static bool take_one(struct loop *l) {
    unsigned char datagram[DATAGRAM_MOST];
    struct sockaddr_in from;
    uint16_t length;
    if (datagram_receive(l->emulator.server, datagram, &length, &from) != MOVED_SOME)
        return false;
    struct crossing *c = whose(l, &from);
    if (c == NULL)
        return true;
    struct shore *s = &c->shores[ROLE_SERVER];
    if (s->socket < 0 && crossing_accept(c, l->emulator.server) != OUTCOME_UNDER_WAY) {
        end(l, c, OUTCOME_FATAL);
        return true;
    }
    crossing_take(s, datagram, length);
    note_due(l, s);
    return true;
}

static void serve_all(struct loop *l) {
    while (l->good && (is_of_datagrams(l) ? take_one(l) : accept_one(l)))
        ;
    if (l->good && errno != EAGAIN && errno != ECONNABORTED && errno != EINTR)
        fail_errno(l, "the server's socket");
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

static uint64_t least(uint64_t one, uint64_t other) {
    return one < other ? one : other;
}

/* How long epoll may wait: until something is ready or the timer, which is set, ends it (-1), or not at all.
 */
static int wait_ms(struct loop *l) {
    uint64_t next = next_due_ns(l);
    if (l->begun < l->journey.plan.connections)
        next = least(next, beginning_ns(l));
    if (l->oldest < l->begun && l->crossings[l->oldest] != NULL)
        next = least(next, l->crossings[l->oldest]->begun_ns + l->journey.plan.timeout_ns);
    if (next < real_clock.wall_ns() + AWAKE_NS)
        return 0;
    struct itimerspec at = {.it_value = {(time_t)(next / 1000000000u), (long)(next % 1000000000u)}};
    if (next != UINT64_MAX && timerfd_settime(l->timer, TFD_TIMER_ABSTIME, &at, NULL) != 0)
        fail_errno(l, "a timer");
    return -1;
}

static void go_on(struct loop *l, struct shore *s) {
    if (s->socket < 0) /* ended in this turn */
        return;
    enum outcome outcome = crossing_go_on(s);
    note_due(l, s);
    if (outcome != OUTCOME_UNDER_WAY)
        end(l, s->crossing, outcome);
}

static void turn(struct loop *l) {
    struct epoll_event events[EVENTS];
    int ready = epoll_wait(l->epoll, events, EVENTS, wait_ms(l));
    if (ready < 0 && errno != EINTR)
        fail_errno(l, "epoll");
    for (int i = 0; i < ready && l->good; i++) {
        if (events[i].data.ptr == &l->emulator)
            serve_all(l);
        else if (events[i].data.ptr != &l->timer)
            go_on(l, events[i].data.ptr);
    }
    recycle(l);
}

/* What is still under way when it breaks off is dropped. */
bool loop_run(struct loop *l) {
    if (!l->good)
        return false;
    l->started_ns = real_clock.wall_ns();
    for (begin_due(l); l->good && (l->under_way > 0 || l->begun < l->journey.plan.connections);
         begin_due(l)) {
        turn(l);
        take_due(l);
        expire(l);
        recycle(l);
    }
    for (unsigned i = 0; i < l->begun; i++) {
        if (l->crossings[i] != NULL)
            end(l, l->crossings[i], OUTCOME_TIMEOUT);
    }
    recycle(l);
    return l->good;
}

bool loop_open(struct loop *l) {
    size_t connections = l->journey.plan.connections;
    l->crossings = calloc(connections, sizeof(struct crossing *));
    l->due_ns = malloc(connections * ROLES * sizeof *l->due_ns);
    l->lateness_ns = calloc(connections, sizeof *l->lateness_ns);
    l->epoll = epoll_create1(EPOLL_CLOEXEC);
    l->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (l->crossings == NULL || l->due_ns == NULL || l->lateness_ns == NULL || l->epoll < 0 || l->timer < 0)
        return fault_set(l->fault, FAULT_ERROR, "no memory or no epoll for so many connections");
    memset(l->due_ns, 0xFF, connections * ROLES * sizeof *l->due_ns);
    l->good = true;
    return watch(l, l->timer, EPOLLIN | EPOLLET, &l->timer) &&
           watch(l, l->emulator.server, EPOLLIN, &l->emulator);
}

void loop_close(struct loop *l) {
    while (l->free != NULL) {
        struct crossing *c = l->free;
        l->free = c->next;
        free(c);
    }
    free(l->crossings);
    free(l->due_ns);
    free(l->lateness_ns);
    if (l->epoll >= 0)
        close(l->epoll);
    if (l->timer >= 0)
        close(l->timer);
}
