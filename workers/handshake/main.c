/* The worker: options, pinning, the library's start, then one conversation on stdin and stdout.
 * Exit codes: 0 end of conversation, 1 the library did not start, 2 usage, 3 pinning refused. */
#include "backend.h"
#include "record.h"
#include "session.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static int usage(const char *why) {
    fprintf(stderr, "worker: %s\nusage: worker --material DIR [--cpu N]%s\n", why,
            backend.takes_settings ? " [--fake SETTINGS]" : "");
    return 2;
}

static bool parse_cpu(const char *text, int *cpu) {
    char *end;
    long value = strtol(text, &end, 10);
    *cpu = (int)value;
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && value < CPU_SETSIZE;
}

static bool pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return sched_setaffinity(0, sizeof set, &set) == 0;
}

int main(int argc, char **argv) {
    const char *material = NULL, *settings = NULL;
    int cpu = -1;
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 == argc)
            return usage("an option needs a value");
        if (strcmp(argv[i], "--material") == 0)
            material = argv[i + 1];
        else if (strcmp(argv[i], "--fake") == 0 && backend.takes_settings)
            settings = argv[i + 1];
        else if (strcmp(argv[i], "--cpu") != 0)
            return usage("unknown option");
        else if (!parse_cpu(argv[i + 1], &cpu))
            return usage("--cpu takes a number");
    }
    if (material == NULL)
        return usage("--material is missing");
    if (cpu >= 0 && !pin(cpu)) {
        perror("worker: can't pin to the CPU");
        return 3;
    }
    struct fault fault = {0};
    if (!backend.start(settings, &fault)) {
        fprintf(stderr, "worker: %s %s\n", fault.reason, fault.detail);
        return 1;
    }
    struct utsname host = {0};
    uname(&host);
    const char *named = backend.architecture == NULL ? NULL : backend.architecture();
    record_hello(stdout, &backend, named != NULL ? named : host.machine, cpu);
    session(&backend, material, STDIN_FILENO, stdout);
    return 0;
}
