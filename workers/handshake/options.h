/* The worker's command line (PROTOCOL.md). */
#ifndef KEXBENCH_OPTIONS_H
#define KEXBENCH_OPTIONS_H

#include <sched.h>
#include <stdbool.h>

struct options {
    const char *material;
    const char *settings; /* of the fake, NULL: none */
    const char *cpus;     /* as given, NULL: not pinned */
    cpu_set_t cpu_set;    /* of `cpus` */
    int peer;             /* socket to a worker with the other role, or -1 */
    bool burns;
    bool is_started;                                  /* by another process of this program, which times it */
    unsigned long long before_cpu_ns, before_wall_ns; /* of that process's clocks, right before execve */
    unsigned burn_ppm;
};

/* `takes_settings`: whether the backend has --fake, else it has --burn. NULL, or what is wrong. */
const char *options_parse(int argc, char *const argv[], bool takes_settings, struct options *out);

#endif
