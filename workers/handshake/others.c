/* A count of involuntary switches says nothing about other programs: a thread of the kernel that runs for
 * some microseconds makes one, and so do threads of the case itself that share a CPU. So time is compared. */
#include "others.h"

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

struct waiting waiting_between(const struct waiting *start, const struct waiting *end) {
    return (struct waiting){.involuntary = end->involuntary - start->involuntary,
                            .voluntary = end->voluntary - start->voluntary,
                            .ready_ns = end->ready_ns - start->ready_ns,
                            .knows_ready = start->knows_ready && end->knows_ready};
}

/* On a CPU of its own a thread that was ready and did not run waited for somebody else. A thread that waits
 * for a lock is ready for some microseconds too before it goes on, which the kernel does not tell apart: of
 * its waits, all taken as equally long, those after involuntary switches count. So many short waits for locks
 * hide much of what others took: beside a busy program, 20 of them in 20 ms left 1.3 of about 10 ms. To
 * subtract a fixed time for each lock instead, such as 20 us, was tried on a virtual machine with two CPUs in
 * use. There the waits of turns without involuntary switches had medians of 40 to 250 us, so no time fits. */
static uint64_t taken_from(const struct stay *stay) {
    const struct waiting *waiting = &stay->waiting;
    uint64_t away_ns = stay->wall_ns - least(stay->cpu_ns, stay->wall_ns);
    if (waiting->involuntary == 0)
        return 0;
    if (!waiting->knows_ready)
        return away_ns;
    double share = (double)waiting->involuntary / (double)(waiting->involuntary + waiting->voluntary);
    return least(away_ns, (uint64_t)((double)waiting->ready_ns * share));
}

/* Threads that share CPUs wait for each other. Together they run on all CPUs all the time, but for what
 * others take. */
static uint64_t taken_from_all(const struct stay *stays, unsigned threads, unsigned cpus) {
    double running = 0, wall_ns = 0;
    uint64_t involuntary = 0;
    for (unsigned i = 0; i < threads; i++) {
        running += stays[i].wall_ns == 0 ? 0 : (double)stays[i].cpu_ns / (double)stays[i].wall_ns;
        wall_ns += (double)stays[i].wall_ns / threads;
        involuntary += stays[i].waiting.involuntary;
    }
    return involuntary == 0 || running >= cpus ? 0 : (uint64_t)((cpus - running) * wall_ns);
}

uint64_t others_ns(const struct stay *stays, unsigned threads, unsigned cpus) {
    uint64_t sum_ns = 0;
    if (threads > cpus)
        return taken_from_all(stays, threads, cpus);
    for (unsigned i = 0; i < threads; i++)
        sum_ns += taken_from(&stays[i]);
    return sum_ns;
}
