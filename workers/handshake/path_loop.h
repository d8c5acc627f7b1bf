/* The loop over a path's connections. One begins at each interval, whatever the others do, and each is ended
 * as it is done, has failed or has timed out, so that each wait and the whole are bounded. */
#ifndef KEXBENCH_PATH_LOOP_H
#define KEXBENCH_PATH_LOOP_H

#include "path_result.h"

struct loop {
    struct journey journey;
    struct emulator emulator;
    int epoll, timer;
    struct crossing **crossings;    /* by number; NULL: not begun, or ended */
    struct crossing *free, *ending; /* ended in this turn: its events may still be among those at hand */
    uint64_t *due_ns;               /* of datagrams: each side's next turn, by number and role */
    struct path_result *all;        /* like the result's, but by number; times of what is not done are 0 */
    uint64_t *lateness_ns;          /* of each beginning */
    unsigned begun, oldest, under_way;
    uint64_t started_ns;
    bool good;
    struct fault *fault;
};

/* `loop` has a journey, an open emulator and what `all` needs; all else is zero. False and a fault: the loop
 * broke off. loop_close frees what there is, here too. */
bool loop_open(struct loop *loop);
bool loop_run(struct loop *loop);
void loop_close(struct loop *loop);

#endif
