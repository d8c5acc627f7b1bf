/* Clocks are read at the border of two steps, once for both. */
#include "steps.h"

bool start_is_timed;
static const struct clock *by;
static struct step_times *times;
static enum step current = STEP_NONE;
static uint64_t cpu_ns, wall_ns;

void steps_open(const struct clock *clock, struct step_times *out) {
    by = clock;
    times = out;
    current = STEP_NONE;
    start_is_timed = true;
}

void step_begin(enum step step) {
    if (!start_is_timed || step == current) /* it goes on: no clock is read */
        return;
    uint64_t cpu_now = by->process_cpu_ns(), wall_now = by->wall_ns();
    if (current != STEP_NONE) {
        times->cpu_ns[current] += cpu_now - cpu_ns;
        times->wall_ns[current] += wall_now - wall_ns;
    }
    if (step != STEP_NONE)
        times->begun[step] = true;
    current = step;
    cpu_ns = cpu_now;
    wall_ns = wall_now;
}
