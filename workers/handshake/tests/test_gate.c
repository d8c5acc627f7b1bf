/* The gate between threads: nobody passes before all have come, and it can be called off. */
#include "gate.h"

#include "check.h"

#include <stdatomic.h>

enum { THREADS = 8 };

static struct gate gate;
static atomic_int came, passed, early;

static void *come(void *unused) {
    (void)unused;
    atomic_fetch_add(&came, 1);
    bool through = gate_pass(&gate);
    atomic_fetch_add(&passed, through);
    atomic_fetch_add(&early, through && atomic_load(&came) < THREADS);
    return NULL;
}

static void begin(pthread_t threads[], unsigned count) {
    came = passed = early = 0;
    gate_init(&gate, THREADS);
    for (unsigned i = 0; i < count; i++)
        CHECK(pthread_create(&threads[i], NULL, come, NULL) == 0);
}

static void end(const pthread_t threads[], unsigned count) {
    for (unsigned i = 0; i < count; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    gate_destroy(&gate);
}

static void all_come(void) {
    pthread_t threads[THREADS];
    begin(threads, THREADS);
    end(threads, THREADS);
    CHECK_NUMBER(passed, THREADS);
    CHECK_NUMBER(early, 0);
}

/* Whether some wait already or come afterwards. */
static void called_off(void) {
    pthread_t threads[THREADS - 1];
    begin(threads, THREADS - 1);
    gate_cancel(&gate);
    end(threads, THREADS - 1);
    CHECK_NUMBER(came, THREADS - 1);
    CHECK_NUMBER(passed, 0);
}

int main(void) {
    sentence("nobody passes the gate before all have come", all_come);
    sentence("a gate that is called off lets everybody go, and says so", called_off);
    return check_failures != 0;
}
