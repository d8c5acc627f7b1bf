/* Writes down the atomic operations of a thread: each with the address that it changes, and the calls that
 * led to it. x86-64 under Linux. */
#ifndef KEXBENCH_BREAKPOINTS_H
#define KEXBENCH_BREAKPOINTS_H

#include "case.h"
#include "stacks.h"

/* One atomic operation. */
struct operation {
    uintptr_t address;
    const char *part; /* as breakpoints_watch was told, with `thread` */
    unsigned thread, depth;
    size_t frames; /* where its addresses begin among all */
};

struct operations {
    struct operation *all;
    uintptr_t *frames; /* addresses inside instructions, innermost first */
    size_t used, frames_used;
    bool full; /* later ones are not here */
};

/* Puts a breakpoint on every atomic instruction of the process. NULL and a fault: FAULT_UNSUPPORTED where
 * that can't be. One at a time. */
struct operations *breakpoints_open(struct fault *fault);
/* And takes them away. */
void breakpoints_close(struct operations *operations);

/* From here on in the calling thread. NULL: no longer. Never in two threads at the same time. */
void breakpoints_watch(const char *part, unsigned thread);

#endif
