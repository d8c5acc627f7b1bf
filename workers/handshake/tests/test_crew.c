/* The threads of a case: the same ones at every call, each where it belongs, and asleep in between. */
#include "crew.h"

#include "check.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

enum { THREADS = 8 };

static struct fault fault;
static volatile unsigned long sink;
static struct place {
    pthread_t thread;
    unsigned times, cpus, at_work;
} places[THREADS];

static void come(void *argument) {
    struct place *place = argument;
    cpu_set_t allowed;
    place->thread = pthread_self();
    place->times++;
    place->at_work = atomic_load(&crew_at_work);
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        place->cpus = (unsigned)CPU_COUNT(&allowed);
}

static struct crew *begin(unsigned threads) {
    memset(places, 0, sizeof places);
    struct crew *crew = crew_start(threads, &fault);
    CHECK(crew != NULL);
    return crew;
}

static void all_of(void *arguments[THREADS]) {
    for (int i = 0; i < THREADS; i++)
        arguments[i] = &places[i];
}

static void same_threads(void) {
    void *arguments[THREADS];
    struct place before[THREADS];
    struct crew *crew = begin(THREADS);
    all_of(arguments);
    crew_do(crew, come, arguments);
    memcpy(before, places, sizeof before);
    crew_do(crew, come, arguments);
    for (int i = 0; i < THREADS; i++) {
        CHECK_NUMBER(places[i].times, 2);
        CHECK_NUMBER(places[i].at_work, THREADS);
        CHECK(pthread_equal(places[i].thread, before[i].thread));
        CHECK(!pthread_equal(places[i].thread, pthread_self()));
    }
    CHECK_NUMBER(atomic_load(&crew_at_work), 0);
    crew_end(crew);
}

static void one_alone(void) {
    void *arguments[THREADS] = {NULL};
    struct crew *crew = begin(THREADS);
    arguments[5] = &places[5];
    crew_do(crew, come, arguments);
    for (int i = 0; i < THREADS; i++)
        CHECK_NUMBER(places[i].times, i == 5);
    CHECK_NUMBER(places[5].at_work, 1);
    crew_end(crew);
}

/* As many threads as this process has CPUs, at most the test's; the threads of a crew inherit what it may
 * use. */
static void own_cpus(void) {
    cpu_set_t all, some;
    void *arguments[THREADS];
    CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
    CPU_ZERO(&some);
    for (unsigned cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&some) < THREADS; cpu++)
        if (CPU_ISSET(cpu, &all))
            CPU_SET(cpu, &some);
    unsigned cpus = (unsigned)CPU_COUNT(&some);
    CHECK(sched_setaffinity(0, sizeof some, &some) == 0);
    struct crew *crew = begin(cpus);
    CHECK_NUMBER(crew_cpus(crew), cpus);
    all_of(arguments);
    crew_do(crew, come, arguments);
    for (unsigned i = 0; i < cpus; i++)
        CHECK_NUMBER(places[i].cpus, 1);
    crew_end(crew);
    crew = begin(cpus + 1 > THREADS ? 2 : cpus + 1); /* not one for each */
    crew_do(crew, come, arguments);
    CHECK_NUMBER(places[0].cpus, cpus);
    crew_end(crew);
    CHECK(sched_setaffinity(0, sizeof all, &all) == 0);
}

/* Their CPU time stands still while this thread computes. */
static void asleep(void) {
    void *arguments[THREADS];
    clockid_t clocks[THREADS];
    struct timespec before[THREADS], after;
    struct crew *crew = begin(THREADS);
    all_of(arguments);
    crew_do(crew, come, arguments);
    crew_do(crew, come, arguments); /* whoever answers it has gone to sleep after the first */
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_getcpuclockid(places[i].thread, &clocks[i]) == 0 &&
              clock_gettime(clocks[i], &before[i]) == 0);
    for (unsigned long i = 0; i < 20000000; i++)
        sink = i;
    for (int i = 0; i < THREADS; i++) {
        CHECK(clock_gettime(clocks[i], &after) == 0);
        long long ns = (after.tv_sec - before[i].tv_sec) * 1000000000ll + after.tv_nsec - before[i].tv_nsec;
        CHECK(ns < 2000000); /* of tens of milliseconds */
    }
    crew_end(crew);
}

int main(void) {
    sentence("every call reaches the same threads, and returns when all have answered", same_threads);
    sentence("one thread can work alone", one_alone);
    sentence("with exactly one CPU for each thread, each has its own", own_cpus);
    sentence("threads that wait take no CPU time", asleep);
    return check_failures != 0;
}
