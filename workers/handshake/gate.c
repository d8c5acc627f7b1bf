#include "gate.h"

void gate_init(struct gate *gate, unsigned threads) {
    pthread_mutex_init(&gate->mutex, NULL);
    pthread_cond_init(&gate->changed, NULL);
    gate->missing = threads;
    gate->cancelled = false;
}

void gate_destroy(struct gate *gate) {
    pthread_cond_destroy(&gate->changed);
    pthread_mutex_destroy(&gate->mutex);
}

bool gate_pass(struct gate *gate) {
    pthread_mutex_lock(&gate->mutex);
    if (--gate->missing == 0)
        pthread_cond_broadcast(&gate->changed);
    while (gate->missing > 0 && !gate->cancelled)
        pthread_cond_wait(&gate->changed, &gate->mutex);
    bool passed = !gate->cancelled;
    pthread_mutex_unlock(&gate->mutex);
    return passed;
}

void gate_cancel(struct gate *gate) {
    pthread_mutex_lock(&gate->mutex);
    gate->cancelled = true;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->mutex);
}
