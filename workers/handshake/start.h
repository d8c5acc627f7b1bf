/* Starts fresh processes of this program, one after the other, which tell what their start took. */
#ifndef KEXBENCH_START_H
#define KEXBENCH_START_H

#include "prepared.h"
#include "started.h"

enum { START_PROCESSES_MAX = 1000 };

/* By the number of the process. */
struct start {
    uint64_t processes;
    struct started *each;
};

/* `setup_line`: the request that set the case up, without its newline. False and a fault where a process
 * fails; `processes` are then those that were started before it. start_free in any case. */
bool start_processes(const struct prepared *prepared, const char *setup_line, uint64_t processes,
                     struct start *out, struct fault *fault);
void start_free(struct start *start);

#endif
