/* Threads made anew for each batch begin with cold caches, on whatever CPU the kernel gives them. So they are
 * made once, and wait on a condition between batches: a waiting thread takes no time from others. */
#include "crew.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>

struct member {
    struct crew *crew;
    unsigned number;
    pthread_t thread;
};

struct crew {
    pthread_mutex_t mutex;
    pthread_cond_t called, idle;
    uint64_t calls; /* so far; each thread answers every one */
    bool ends;
    unsigned missing; /* threads that have not answered the last call yet */
    void (*work)(void *);
    void *arguments[THREADS_MAX];
    unsigned threads, cpus;
    struct member members[THREADS_MAX];
};

atomic_uint crew_at_work;

static void *serve(void *argument) {
    struct member *member = argument;
    struct crew *crew = member->crew;
    uint64_t answered = 0;
    pthread_mutex_lock(&crew->mutex);
    for (;;) {
        while (crew->calls == answered && !crew->ends)
            pthread_cond_wait(&crew->called, &crew->mutex);
        if (crew->ends)
            break;
        answered = crew->calls;
        void *own = crew->arguments[member->number];
        if (own != NULL) {
            pthread_mutex_unlock(&crew->mutex);
            crew->work(own);
            pthread_mutex_lock(&crew->mutex);
        }
        if (--crew->missing == 0)
            pthread_cond_signal(&crew->idle);
    }
    pthread_mutex_unlock(&crew->mutex);
    return NULL;
}

/* The CPU of thread `number`, in `out`; false where there is not exactly one for each. */
static bool own_cpu(const cpu_set_t *allowed, unsigned threads, unsigned number, cpu_set_t *out) {
    if ((unsigned)CPU_COUNT(allowed) != threads)
        return false;
    CPU_ZERO(out);
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, allowed) && number-- == 0) {
            CPU_SET(cpu, out);
            return true;
        }
    }
    return false;
}

static bool start_member(struct member *member, const cpu_set_t *allowed, unsigned threads) {
    cpu_set_t cpu;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    bool good = !own_cpu(allowed, threads, member->number, &cpu) ||
                pthread_attr_setaffinity_np(&attributes, sizeof cpu, &cpu) == 0;
    good = good && pthread_create(&member->thread, &attributes, serve, member) == 0;
    pthread_attr_destroy(&attributes);
    return good;
}

struct crew *crew_start(unsigned threads, struct fault *fault) {
    cpu_set_t allowed;
    struct crew *crew = calloc(1, sizeof *crew);
    if (crew == NULL) {
        fault_set(fault, FAULT_ERROR, "out of memory");
        return NULL;
    }
    pthread_mutex_init(&crew->mutex, NULL);
    pthread_cond_init(&crew->called, NULL);
    pthread_cond_init(&crew->idle, NULL);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        CPU_ZERO(&allowed); /* more CPUs than the set has room for: nobody is pinned */
    crew->cpus = CPU_COUNT(&allowed) > 0 ? (unsigned)CPU_COUNT(&allowed) : threads;
    for (; crew->threads < threads; crew->threads++) {
        struct member *member = &crew->members[crew->threads];
        *member = (struct member){.crew = crew, .number = crew->threads};
        if (!start_member(member, &allowed, threads)) {
            crew_end(crew);
            fault_set(fault, FAULT_ERROR, "can't start %u threads", threads);
            return NULL;
        }
    }
    return crew;
}

unsigned crew_cpus(const struct crew *crew) {
    return crew->cpus;
}

void crew_do(struct crew *crew, void (*work)(void *), void *const arguments[]) {
    unsigned working = 0;
    pthread_mutex_lock(&crew->mutex);
    crew->work = work;
    for (unsigned i = 0; i < crew->threads; i++) {
        crew->arguments[i] = arguments[i];
        working += arguments[i] != NULL;
    }
    atomic_store(&crew_at_work, working);
    crew->missing = crew->threads;
    crew->calls++;
    pthread_cond_broadcast(&crew->called);
    while (crew->missing > 0)
        pthread_cond_wait(&crew->idle, &crew->mutex);
    atomic_store(&crew_at_work, 0);
    pthread_mutex_unlock(&crew->mutex);
}

void crew_end(struct crew *crew) {
    if (crew == NULL)
        return;
    pthread_mutex_lock(&crew->mutex);
    crew->ends = true;
    pthread_cond_broadcast(&crew->called);
    pthread_mutex_unlock(&crew->mutex);
    for (unsigned i = 0; i < crew->threads; i++)
        pthread_join(crew->members[i].thread, NULL);
    pthread_cond_destroy(&crew->idle);
    pthread_cond_destroy(&crew->called);
    pthread_mutex_destroy(&crew->mutex);
    free(crew);
}
