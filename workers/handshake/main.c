/* The worker: options, pinning, the library's start, then one conversation on stdin and stdout.
 * Exit codes: 0 end of conversation, 1 the library did not start, 2 usage, 3 pinning refused, 4 a start that
 * is timed did not come to a proven handshake. */
#include "backend.h"
#include "burn.h"
#include "options.h"
#include "record.h"
#include "session.h"
#include "started.h"

#include <unistd.h>

static int usage(const char *why) {
    fprintf(stderr, "worker: %s\nusage: worker --material DIR [--cpus N[,N...]] [--peer FD] %s\n", why,
            linked_backend.takes_settings ? "[--fake SETTINGS]" : "[--burn PPM]");
    return 2;
}

int main(int argc, char **argv) {
    struct process_time entered = process_time_now();
    struct options options;
    struct fault fault = {0};
    const char *wrong = options_parse(argc, argv, linked_backend.takes_settings, &options);
    if (wrong != NULL)
        return usage(wrong);
    if (options.cpus != NULL && sched_setaffinity(0, sizeof options.cpu_set, &options.cpu_set) != 0) {
        perror("worker: can't pin to the CPUs");
        return 3;
    }
    const struct backend *chosen =
        options.burns ? burning(&linked_backend, options.burn_ppm) : &linked_backend;
    if (options.is_started) {
        struct process_time before = {options.before_cpu_ns, options.before_wall_ns};
        return start_and_report(chosen, options.settings, options.material, before, entered);
    }
    if (!linked_backend.start(options.settings, &fault)) {
        fprintf(stderr, "worker: %s %s\n", fault.reason, fault.detail);
        return 1;
    }
    record_hello(stdout, chosen, options.cpus);
    session(chosen, options.material, options.peer, STDIN_FILENO, stdout);
    return 0;
}
