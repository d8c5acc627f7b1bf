/* Hardware counters of this thread through perf_event, in user space only. A machine may have none: then
 * they are absent, and the reason is kept. */
#ifndef KEXBENCH_COUNTERS_H
#define KEXBENCH_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum counter { COUNT_INSTRUCTIONS, COUNT_CYCLES, COUNT_BRANCH_MISSES, COUNT_CACHE_MISSES, COUNTERS };

struct counter_event {
    uint32_t type; /* PERF_TYPE_… */
    uint64_t config;
};

extern const struct counter_event hardware_events[COUNTERS];

struct counters {
    int descriptors[COUNTERS]; /* -1: this one is absent */
    char absent[128];          /* why the first of them is, or empty */
};

/* True when at least one of the events can be counted; `events` NULL: none. */
bool counters_open(struct counters *counters, const struct counter_event *events);
/* Values since they were opened; 0 for those that are absent. */
void counters_read(const struct counters *counters, uint64_t values[COUNTERS]);
void counters_close(struct counters *counters);

#endif
