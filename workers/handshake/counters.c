/* perf_event_open, one descriptor an event: a machine may have some and lack others. */
#include "counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

const struct counter_event hardware_events[COUNTERS] = {
    [COUNT_INSTRUCTIONS] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    [COUNT_CYCLES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    [COUNT_BRANCH_MISSES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    [COUNT_CACHE_MISSES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
};

/* Kernel and hypervisor are left out: an ordinary user may not count them (perf_event_paranoid 2), and a
 * handshake in memory has next to nothing there. */
static int open_event(struct counter_event event) {
    struct perf_event_attr attributes = {.type = event.type,
                                         .size = sizeof attributes,
                                         .config = event.config,
                                         .exclude_kernel = 1,
                                         .exclude_hv = 1};
    return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

bool counters_open(struct counters *counters, const struct counter_event *events) {
    bool any = false;
    strcpy(counters->absent, events == NULL ? "this backend counts nothing" : "");
    for (int i = 0; i < COUNTERS; i++) {
        counters->descriptors[i] = events == NULL ? -1 : open_event(events[i]);
        any = any || counters->descriptors[i] >= 0;
        if (counters->descriptors[i] < 0 && counters->absent[0] == '\0')
            snprintf(counters->absent, sizeof counters->absent, "perf_event_open: %s", strerror(errno));
    }
    return any;
}

void counters_read(const struct counters *counters, uint64_t values[COUNTERS]) {
    for (int i = 0; i < COUNTERS; i++) {
        values[i] = 0;
        if (counters->descriptors[i] >= 0 &&
            read(counters->descriptors[i], &values[i], sizeof values[i]) != (ssize_t)sizeof values[i])
            values[i] = 0;
    }
}

void counters_close(struct counters *counters) {
    for (int i = 0; i < COUNTERS; i++) {
        if (counters->descriptors[i] >= 0)
            close(counters->descriptors[i]);
        counters->descriptors[i] = -1;
    }
}
