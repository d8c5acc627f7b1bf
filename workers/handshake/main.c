/* The worker: options, pinning, the library's start, then one conversation on stdin and stdout.
 * Exit codes: 0 end of conversation, 1 the library did not start, 2 usage, 3 pinning refused. */
#include "backend.h"
#include "burn.h"
#include "record.h"
#include "session.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BURN_MOST_PPM = 50000 };

static int usage(const char *why) {
    fprintf(stderr, "worker: %s\nusage: worker --material DIR [--cpus N[,N...]] [--peer FD] %s\n", why,
            backend.takes_settings ? "[--fake SETTINGS]" : "[--burn PPM]");
    return 2;
}

static bool parse_number(const char **text, long most, int *out) {
    char *end;
    long value = strtol(*text, &end, 10);
    bool good = (*text)[0] >= '0' && (*text)[0] <= '9' && value <= most;
    *text = end;
    *out = (int)value;
    return good;
}

static bool parse_cpus(const char *text, cpu_set_t *set) {
    int cpu;
    CPU_ZERO(set);
    do {
        if (!parse_number(&text, CPU_SETSIZE - 1, &cpu))
            return false;
        CPU_SET(cpu, set);
    } while (*text++ == ',');
    return text[-1] == '\0';
}

int main(int argc, char **argv) {
    const char *material = NULL, *settings = NULL, *cpus = NULL;
    cpu_set_t set;
    int peer = -1, burn_ppm = -1;
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 == argc)
            return usage("an option needs a value");
        if (strcmp(argv[i], "--material") == 0)
            material = argv[i + 1];
        else if (strcmp(argv[i], "--fake") == 0 && backend.takes_settings)
            settings = argv[i + 1];
        else if (strcmp(argv[i], "--peer") == 0) {
            const char *text = argv[i + 1];
            if (!parse_number(&text, 1023, &peer) || *text != '\0')
                return usage("--peer takes the number of an open socket");
        } else if (strcmp(argv[i], "--burn") == 0 && !backend.takes_settings) {
            const char *text = argv[i + 1];
            if (!parse_number(&text, BURN_MOST_PPM, &burn_ppm) || *text != '\0')
                return usage("--burn takes parts per million, at most 50000");
        } else if (strcmp(argv[i], "--cpus") != 0)
            return usage("unknown option");
        else if (!parse_cpus(cpus = argv[i + 1], &set))
            return usage("--cpus takes numbers with commas between");
    }
    if (material == NULL)
        return usage("--material is missing");
    if (cpus != NULL && sched_setaffinity(0, sizeof set, &set) != 0) {
        perror("worker: can't pin to the CPUs");
        return 3;
    }
    struct fault fault = {0};
    if (!backend.start(settings, &fault)) {
        fprintf(stderr, "worker: %s %s\n", fault.reason, fault.detail);
        return 1;
    }
    const struct backend *chosen = burn_ppm < 0 ? &backend : burning(&backend, (unsigned)burn_ppm);
    record_hello(stdout, chosen, cpus);
    session(chosen, material, peer, STDIN_FILENO, stdout);
    return 0;
}
