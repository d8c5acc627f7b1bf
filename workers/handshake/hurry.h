/* Being first: a thread that keeps times which others wait for runs as soon as it may, where the machine
 * allows that. */
#ifndef KEXBENCH_HURRY_H
#define KEXBENCH_HURRY_H

#include <sched.h>

struct pace {
    int policy; /* negative: nothing was changed */
    struct sched_param priority;
};

/* Of the calling thread, before all that have a lower level, and all others of the machine. */
struct pace hurry(int level);
void hurry_no_more(struct pace before);

#endif
