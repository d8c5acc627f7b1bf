/* What other programs took, from what the kernel says of each thread: the rule on values. */
#include "others.h"

#include "check.h"

enum { MS = 1000000 };

static uint64_t of_one(struct stay stay) {
    return others_ns(&stay, 1, 1);
}

static void a_moment_of_the_kernel(void) {
    struct stay stay = {20 * MS, 20 * MS - 8000, {.involuntary = 2, .ready_ns = 8000, .knows_ready = true}};
    CHECK_NUMBER(of_one(stay), 8000);
    struct stay fifteen[15];
    for (int i = 0; i < 15; i++)
        fifteen[i] = stay;
    CHECK_NUMBER(others_ns(fifteen, 15, 15), 15 * 8000);
}

static void a_busy_program(void) {
    struct stay stay = {20 * MS, 10 * MS, {.involuntary = 4, .ready_ns = 10 * MS, .knows_ready = true}};
    CHECK_NUMBER(of_one(stay), 10 * MS);
    struct stay two[2] = {stay, {20 * MS, 20 * MS, {.knows_ready = true}}};
    CHECK_NUMBER(others_ns(two, 2, 2), 10 * MS);
}

/* Asleep for a lock, then ready for some microseconds. */
static void locks(void) {
    struct stay stay = {20 * MS, 12 * MS, {.voluntary = 999, .ready_ns = 2 * MS, .knows_ready = true}};
    CHECK_NUMBER(of_one(stay), 0);
    stay.waiting.involuntary = 1;
    CHECK_NUMBER(of_one(stay), 2000);
}

static void a_hypervisor(void) {
    struct stay stay = {20 * MS, 12 * MS, {.involuntary = 1, .ready_ns = 4000, .knows_ready = true}};
    CHECK_NUMBER(of_one(stay), 4000);
}

static void a_kernel_that_says_nothing(void) {
    struct stay stay = {20 * MS, 15 * MS, {.involuntary = 1}};
    CHECK_NUMBER(of_one(stay), 5 * MS);
    stay.waiting.involuntary = 0;
    CHECK_NUMBER(of_one(stay), 0);
}

/* Eight threads that switch all the time on two CPUs, and have both of them: each runs for a quarter of the
 * time. */
static void siblings(void) {
    struct stay stays[8];
    for (int i = 0; i < 8; i++)
        stays[i] =
            (struct stay){20 * MS, 5 * MS, {.involuntary = 9, .ready_ns = 15 * MS, .knows_ready = true}};
    CHECK_NUMBER(others_ns(stays, 8, 2), 0);
    for (int i = 0; i < 8; i++)
        stays[i].cpu_ns = 4 * MS; /* one of the CPUs is others' for two fifths of the time */
    CHECK_NUMBER(others_ns(stays, 8, 2), 8 * MS);
}

int main(void) {
    sentence("threads that are switched off for microseconds lost microseconds", a_moment_of_the_kernel);
    sentence("a busy program on one CPU took what the thread waited for it", a_busy_program);
    sentence("waits for locks are not others' time", locks);
    sentence("time that the kernel knows nothing of, as a hypervisor's, is not others'", a_hypervisor);
    sentence("a kernel that says nothing of waiting leaves the time off the CPU, if anybody else ran",
             a_kernel_that_says_nothing);
    sentence("threads of the case that share CPUs take nothing from each other", siblings);
    return check_failures != 0;
}
