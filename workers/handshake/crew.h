/* The threads of a case. They live as long as the case is set up, and sleep between batches. */
#ifndef KEXBENCH_CREW_H
#define KEXBENCH_CREW_H

#include "case.h"

#include <stdatomic.h>

struct crew;

/* Where this process may use exactly one CPU for each thread, each thread keeps one to itself. NULL and a
 * fault where the threads can't be started. */
struct crew *crew_start(unsigned threads, struct fault *fault);
/* Has thread i do `work(arguments[i])`, but for those whose argument is NULL, and returns when all have. */
void crew_do(struct crew *crew, void (*work)(void *), void *const arguments[]);
void crew_end(struct crew *crew);
/* That its threads may use. */
unsigned crew_cpus(const struct crew *crew);

/* How many of a crew's threads work at this moment: 0 where the only thread is the process's own. */
extern atomic_uint crew_at_work;

#endif
