/* A thread on each CPU wakes up so often that an idle CPU only waits for it, and neither halts nor saves
 * power. */
#include "awake.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <time.h>

static const long SLEEP_NS = 30000; /* Linux polls for up to 50 µs before it halts a virtual CPU (haltpoll) */

static void *tick(void *number) {
    cpu_set_t one;
    const struct timespec while_ns = {.tv_nsec = SLEEP_NS};
    CPU_ZERO(&one);
    CPU_SET((size_t)(uintptr_t)number, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        return NULL;
    for (;;)
        nanosleep(&while_ns, NULL);
}

void awake_keep(void) {
    cpu_set_t allowed;
    pthread_attr_t attributes;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || pthread_attr_init(&attributes) != 0)
        return;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attributes, SCHED_OTHER);
    pthread_attr_setstacksize(&attributes, 64 * 1024);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        pthread_t thread;
        if (CPU_ISSET(cpu, &allowed))
            (void)pthread_create(&thread, &attributes, tick, (void *)(uintptr_t)cpu);
    }
    pthread_attr_destroy(&attributes);
}
