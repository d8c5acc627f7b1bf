/* The options: each is a word and its value. */
#include "options.h"

#include <stdio.h>
#include <string.h>

enum { BURN_MOST_PPM = 50000, SOCKET_MOST = 1023 };

/* Digits up to the first byte that is none, which is where `text` points afterwards. */
static bool parse_number(const char **text, unsigned most, unsigned *out) {
    const char *start = *text;
    *out = 0;
    for (; **text >= '0' && **text <= '9'; ++*text) {
        *out = *out * 10 + (unsigned)(**text - '0');
        if (*out > most)
            return false;
    }
    return *text > start;
}

static bool parse_all(const char *text, unsigned most, unsigned *out) {
    return parse_number(&text, most, out) && *text == '\0';
}

static bool parse_cpus(const char *text, cpu_set_t *set) {
    unsigned cpu;
    CPU_ZERO(set);
    do {
        if (!parse_number(&text, CPU_SETSIZE - 1, &cpu))
            return false;
        CPU_SET(cpu, set);
    } while (*text++ == ',');
    return text[-1] == '\0';
}

/* Two numbers of at most 18 digits, with a comma between. */
static bool parse_instant(const char *text, unsigned long long *cpu_ns, unsigned long long *wall_ns) {
    int length = 0;
    return sscanf(text, "%18llu,%18llu%n", cpu_ns, wall_ns, &length) == 2 && text[length] == '\0';
}

static const char *parse_option(const char *name, const char *value, bool takes_settings,
                                struct options *out) {
    unsigned number;
    if (strcmp(name, "--material") == 0) {
        out->material = value;
    } else if (strcmp(name, "--fake") == 0 && takes_settings) {
        out->settings = value;
    } else if (strcmp(name, "--peer") == 0) {
        if (!parse_all(value, SOCKET_MOST, &number))
            return "--peer takes the number of an open socket";
        out->peer = (int)number;
    } else if (strcmp(name, "--burn") == 0 && !takes_settings) {
        if (!parse_all(value, BURN_MOST_PPM, &out->burn_ppm))
            return "--burn takes parts per million, at most 50000";
        out->burns = true;
    } else if (strcmp(name, "--start") == 0) {
        if (!parse_instant(value, &out->before_cpu_ns, &out->before_wall_ns))
            return "--start takes two clocks with a comma between";
        out->is_started = true;
    } else if (strcmp(name, "--cpus") == 0) {
        if (!parse_cpus(value, &out->cpu_set))
            return "--cpus takes numbers with commas between";
        out->cpus = value;
    } else {
        return "unknown option";
    }
    return NULL;
}

const char *options_parse(int argc, char *const argv[], bool takes_settings, struct options *out) {
    *out = (struct options){.peer = -1};
    for (int i = 1; i < argc; i += 2) {
        const char *wrong = i + 1 == argc ? "an option needs a value"
                                          : parse_option(argv[i], argv[i + 1], takes_settings, out);
        if (wrong != NULL)
            return wrong;
    }
    return out->material == NULL ? "--material is missing" : NULL;
}
