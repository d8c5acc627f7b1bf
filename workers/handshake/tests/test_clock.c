/* The real clocks: they run forward, agree with each other, and cost little. */
#include "clock.h"

#include "check.h"

#include <stdint.h>

static volatile uint64_t sink;

static void forward(void) {
    uint64_t tick = real_clock.ticks(), cpu = real_clock.thread_cpu_ns(), wall = real_clock.wall_ns();
    for (int i = 0; i < 2000000; i++)
        sink += (uint64_t)i;
    CHECK(real_clock.ticks() > tick);
    CHECK(real_clock.thread_cpu_ns() > cpu);
    CHECK(real_clock.wall_ns() > wall);
}

static void costs(void) {
    struct clock_costs costs = clock_costs(&real_clock);
    CHECK(costs.tick_ns < 1000000 && costs.thread_cpu_clock_ns < 1000000);
    CHECK(costs.thread_cpu_clock_ns > 0);
}

int main(void) {
    sentence("every clock runs forward", forward);
    sentence("the costs of the clocks are measured", costs);
    return check_failures != 0;
}
