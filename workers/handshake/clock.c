/* The real clocks. The platform is chosen here, once. */
#include "clock.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static uint64_t read_clock(clockid_t id) {
    struct timespec now = {0, 0};
    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t wall_ns(void) {
    return read_clock(CLOCK_MONOTONIC);
}

static uint64_t thread_cpu_ns(void) {
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

static uint64_t process_cpu_ns(void) {
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

/* The second number of schedstat is the time that this thread was ready to run and did not. Some kernels lack
 * it. */
static bool read_ready_ns(uint64_t *out) {
    char text[128];
    unsigned long long ran_ns, ready_ns;
    int file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    text[length < 0 ? 0 : length] = '\0';
    bool good = sscanf(text, "%llu %llu", &ran_ns, &ready_ns) == 2;
    *out = good ? ready_ns : 0;
    return good;
}

static struct waiting waiting(void) {
    struct rusage usage = {0};
    struct waiting waiting = {0};
    waiting.knows_ready = read_ready_ns(&waiting.ready_ns);
    getrusage(RUSAGE_THREAD, &usage);
    waiting.involuntary = (uint64_t)usage.ru_nivcsw;
    waiting.voluntary = (uint64_t)usage.ru_nvcsw;
    return waiting;
}

/* Neither counter is read with a fence: a turn takes tens of microseconds, reordering moves
 * a reading by tens of nanoseconds, and a fence would cost more than it gives. */
#if defined(__x86_64__)
#include <x86intrin.h>
#define TICK_SOURCE "tsc"
static uint64_t ticks(void) {
    return __rdtsc();
}
#elif defined(__aarch64__)
#define TICK_SOURCE "cntvct"
static uint64_t ticks(void) {
    uint64_t value;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
    return value;
}
#else
#define TICK_SOURCE "monotonic"
static uint64_t ticks(void) {
    return wall_ns();
}
#endif

const struct clock real_clock = {TICK_SOURCE, ticks, thread_cpu_ns, process_cpu_ns, wall_ns, waiting};
const struct clock slow_clock = {"thread-cpu",   thread_cpu_ns, thread_cpu_ns,
                                 process_cpu_ns, wall_ns,       waiting};

/* At the end of a system call the kernel likes to let another thread run. So the CPU clock and what it says
 * of waiting are read outside of the two others, and what happens at their ends is in no number. */
struct instant instant_begin(const struct clock *clock) {
    struct instant instant;
    instant.waiting = clock->waiting();
    instant.cpu_ns = clock->thread_cpu_ns();
    instant.wall_ns = clock->wall_ns();
    instant.ticks = clock->ticks();
    return instant;
}

struct instant instant_end(const struct clock *clock) {
    struct instant instant;
    instant.ticks = clock->ticks();
    instant.wall_ns = clock->wall_ns();
    instant.cpu_ns = clock->thread_cpu_ns();
    instant.waiting = clock->waiting();
    return instant;
}

struct stay stay_between(const struct instant *start, const struct instant *end) {
    return (struct stay){.wall_ns = end->wall_ns - start->wall_ns,
                         .cpu_ns = end->cpu_ns - start->cpu_ns,
                         .waiting = waiting_between(&start->waiting, &end->waiting)};
}

/* The least of several runs: anything above it is the machine, not the clock. */
static uint64_t cost_ns(const struct clock *clock, uint64_t (*read)(void)) {
    enum { RUNS = 8, READS = 1000 };
    uint64_t least = UINT64_MAX;
    for (int run = 0; run < RUNS; run++) {
        uint64_t before = clock->wall_ns();
        for (int i = 0; i < READS; i++)
            (void)read();
        uint64_t spent = clock->wall_ns() - before;
        least = spent < least ? spent : least;
    }
    return (least + READS / 2) / READS;
}

struct clock_costs clock_costs(const struct clock *clock) {
    return (struct clock_costs){cost_ns(clock, clock->thread_cpu_ns), cost_ns(clock, clock->ticks)};
}
