/* The three clocks of a measurement behind one small table, so that the measured loop can
 * be run in virtual time by tests. */
#ifndef KEXBENCH_CLOCK_H
#define KEXBENCH_CLOCK_H

#include "others.h"

#include <stdint.h>

struct clock {
    const char *tick_source;         /* as in the `hello` record */
    uint64_t (*ticks)(void);         /* a few ns to read; its rate is never needed, only ratios are */
    uint64_t (*thread_cpu_ns)(void); /* honest under preemption, but a system call: read once a batch */
    uint64_t (*process_cpu_ns)(
        void); /* of all threads; that of one which runs on another CPU lags by a tick */
    uint64_t (*wall_ns)(void);
    struct waiting (*waiting)(void); /* of this thread; some ten microseconds to read */
};

/* A moment by all of them. One of two begins what is between them, the other one ends it. */
struct instant {
    uint64_t ticks, cpu_ns, wall_ns;
    struct waiting waiting;
};
struct instant instant_begin(const struct clock *clock);
struct instant instant_end(const struct clock *clock);
struct stay stay_between(const struct instant *start, const struct instant *end);

extern const struct clock real_clock;
/* For turns of milliseconds: its ticks are CPU time, which stands still while other programs run. They would
 * interrupt every batch of such turns on a machine that is in use. */
extern const struct clock slow_clock;

/* What reading costs on this machine, so that a consumer can judge what the clocks add. */
struct clock_costs {
    uint64_t thread_cpu_clock_ns;
    uint64_t tick_ns;
};
struct clock_costs clock_costs(const struct clock *clock);

#endif
