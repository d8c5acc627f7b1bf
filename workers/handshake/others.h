/* How much CPU time other programs took from the threads of a batch. The one rule by which a batch counts as
 * disturbed (the runner's limit is in docs/understand/measurement/clocks.md) rests on this number. */
#ifndef KEXBENCH_OTHERS_H
#define KEXBENCH_OTHERS_H

#include <stdbool.h>
#include <stdint.h>

/* What the kernel says of a thread's waiting, since its start. */
struct waiting {
    uint64_t involuntary, voluntary; /* switches to another thread */
    uint64_t ready_ns;               /* in which the thread could have run and its CPU ran something else */
    bool knows_ready;
};

/* One thread's part of a batch. */
struct stay {
    uint64_t wall_ns, cpu_ns;
    struct waiting waiting; /* in it */
};

struct waiting waiting_between(const struct waiting *start, const struct waiting *end);

/* `cpus`: how many CPUs the threads may use together. With exactly one for each thread, each thread keeps one
 * to itself (crew.h). With more CPUs than threads, the kernel usually finds each thread a CPU of its own. */
uint64_t others_ns(const struct stay *stays, unsigned threads, unsigned cpus);

#endif
