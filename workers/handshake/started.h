/* The start of this process as an application starts: the library, a context, keys and chain, trust anchors,
 * and one proven handshake. The verb `start` starts such processes (start.h), and a profiler counts in one.
 */
#ifndef KEXBENCH_STARTED_H
#define KEXBENCH_STARTED_H

#include "backend.h"
#include "steps.h"

/* The clocks of this process at some moment. */
struct process_time {
    uint64_t cpu_ns, wall_ns;
};
struct process_time process_time_now(void);

/* Passed from the process that was started to the one that started it, which is the same program. */
struct started {
    bool good;
    struct fault fault; /* unless good */
    struct step_times times;
    bool has_read, has_resident, has_heap;
    uint64_t read_bytes;     /* by read calls, not by mapping; those of the dynamic linker included */
    uint64_t resident_bytes; /* pages of files included */
    uint64_t heap_bytes;     /* that are held while the connection is open */
};

/* Starts the library and makes one handshake; the clocks are only the steps'. `settings` as of the backend.
 */
void start_here(const struct backend *backend, const char *settings, const struct tls_case *tls_case,
                const char *material, struct started *out);

/* The whole life of such a process: a `setup` line comes on standard input, and struct started goes to
 * standard output. `before`: right before execve; `entered`: in main. Returns the exit code: 0 if the
 * handshake was proven, else 4. */
int start_and_report(const struct backend *backend, const char *settings, const char *material,
                     struct process_time before, struct process_time entered);

#endif
