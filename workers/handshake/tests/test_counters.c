/* The counters' port with the kernel's software events, which every machine has: page faults stand in for
 * what a machine without hardware counters can't count. */
#include "counters.h"

#include "check.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/mman.h>

static const struct counter_event software_events[COUNTERS] = {
    [COUNT_INSTRUCTIONS] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
    [COUNT_CYCLES] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    [COUNT_BRANCH_MISSES] = {PERF_TYPE_SOFTWARE, 0xFFFF}, /* no such event */
    [COUNT_CACHE_MISSES] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS},
};
static struct counters counters;

enum { PAGES = 64, PAGE = 4096 };

/* A page is faulted in by its first byte. */
static void touch_pages(void) {
    unsigned char *pages =
        mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!CHECK(pages != MAP_FAILED))
        return;
    madvise(pages, PAGES * PAGE, MADV_NOHUGEPAGE);
    for (int i = 0; i < PAGES; i++)
        ((volatile unsigned char *)pages)[i * PAGE] = 1;
    munmap(pages, PAGES * PAGE);
}

static void counts(void) {
    uint64_t before[COUNTERS], after[COUNTERS];
    if (!counters_open(&counters, software_events)) {
        printf("      not here: %s\n", counters.absent); /* a sandbox may forbid the call itself */
        return;
    }
    counters_read(&counters, before);
    touch_pages();
    counters_read(&counters, after);
    CHECK(after[COUNT_INSTRUCTIONS] - before[COUNT_INSTRUCTIONS] >= PAGES);
    CHECK(after[COUNT_CYCLES] > before[COUNT_CYCLES]);
    counters_close(&counters);
}

static void absent_ones(void) {
    uint64_t values[COUNTERS];
    if (counters_open(&counters, software_events)) {
        CHECK_NUMBER(counters.descriptors[COUNT_BRANCH_MISSES], -1);
        CHECK(strncmp(counters.absent, "perf_event_open: ", 17) == 0);
        counters_read(&counters, values);
        CHECK_NUMBER(values[COUNT_BRANCH_MISSES], 0);
    }
    counters_close(&counters);
    CHECK(!counters_open(&counters, NULL));
    CHECK_TEXT(counters.absent, "this backend counts nothing");
}

int main(void) {
    sentence("events are counted from one reading to the next", counts);
    sentence("what a machine lacks is absent, with the reason, and reads as 0", absent_ones);
    return check_failures != 0;
}
