/* What a path of this case needs, what is kept of it, and what it took of this machine. */
#include "path.h"

#include "hurry.h"
#include "path_loop.h"

#include <sys/resource.h>

/* Datagrams of 1,200 bytes (RFC 9000, section 14) behind headers of IPv4 and UDP. */
enum { QUIC_MTU_LEAST = 1200 + 20 + 8 };

static bool check(const struct prepared *p, const struct path_plan *plan, struct fault *fault) {
    const struct tls_case *c = &p->tls_case;
    bool is_quic = c->protocol == QUIC_V1;
    if (c->roles != ROLES_BOTH)
        return fault_set(fault, FAULT_ERROR, "a path needs roles=both: one worker is at both of its ends");
    if (!case_is_tls(c) && !is_quic)
        return fault_set(fault, FAULT_ERROR, "a path is of TLS or QUIC connections");
    if (c->threads > 1)
        return fault_set(fault, FAULT_ERROR,
                         "a path takes no threads: its connections are all under way in one");
    if (is_quic && plan->path.mtu < QUIC_MTU_LEAST)
        return fault_set(fault, FAULT_ERROR, "QUIC needs a path with an mtu of %d", QUIC_MTU_LEAST);
    return is_quic || !c->anti_replay ||
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

static bool measured(struct loop *l) {
    uint64_t cpu = real_clock.thread_cpu_ns();
    struct waiting before = real_clock.waiting();
    struct pace pace = hurry(PATH_USER_LEVEL);
    bool good = loop_run(l);
    hurry_no_more(pace);

    struct waiting after = real_clock.waiting();
    l->all->wall_ns = real_clock.wall_ns() - l->started_ns;
    l->all->thread_cpu_ns = real_clock.thread_cpu_ns() - cpu;
    l->all->others_ns = after.ready_ns - before.ready_ns;
    if (l->begun > 0)
        l->all->begins = latency_of(l->lateness_ns, l->begun);
    return good;
}

static bool over_path(struct loop *l) {
    const struct path_plan *plan = &l->journey.plan;
    struct fault fault;
    if (!emulator_open(&l->emulator, &plan->path, plan->connections, l->journey.backend->datagrams != NULL,
                       l->fault))
        return false;
    bool good = loop_open(l) && measured(l);
    l->all->congestion_control = l->emulator.congestion_control;
    if (emulator_close(&l->emulator, &l->all->emulated, &fault) || !good)
        return good;
    *l->fault = fault;
    return false;
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
    good = good && check(p, plan, fault) && over_path(&l);
    if (good)
        path_close_gaps(out, l.begun);
    else
        path_free(out);
    loop_close(&l);
    return good;
}
