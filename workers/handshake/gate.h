/* Where threads wait for each other before a measurement; unlike a barrier it can be called off. */
#ifndef KEXBENCH_GATE_H
#define KEXBENCH_GATE_H

#include <pthread.h>
#include <stdbool.h>

struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    unsigned missing;
    bool cancelled;
};

void gate_init(struct gate *gate, unsigned threads);
void gate_destroy(struct gate *gate);
/* Returns when all threads have come; false: the gate was called off. */
bool gate_pass(struct gate *gate);
void gate_cancel(struct gate *gate);

#endif
