/* The parser of the fake's settings, which PROTOCOL.md lists. */
#include "fake_settings.h"

#include <string.h>

static const int64_t MILLION = 1000000;
static const int64_t NEVER = INT64_MAX;

struct fake_settings settings = {.version = "1.0",
                                 .seed = 1,
                                 .client_ns = 100000,
                                 .server_ns = 300000,
                                 .overhead_ns = 2000,
                                 .background_ns = 1000,
                                 .start_ns = 1000000,
                                 .noise_ppm = 10000,
                                 .step_ppm = MILLION,
                                 .client_hello_bytes = 200,
                                 .server_hello_bytes = 800,
                                 .emulated = -1,
                                 .fail_after = NEVER,
                                 .mismatch_after = NEVER,
                                 .crash_after = NEVER,
                                 .hang_after = NEVER};

static const struct {
    const char *name;
    int64_t *value;
    int64_t scale; /* 1: a whole number; MILLION: a decimal fraction kept in parts per million */
} numbers[] = {
    {"seed", &settings.seed, 1},
    {"client_ns", &settings.client_ns, 1},
    {"server_ns", &settings.server_ns, 1},
    {"overhead_ns", &settings.overhead_ns, 1},
    {"background_ns", &settings.background_ns, 1},
    {"start_ns", &settings.start_ns, 1},
    {"noise", &settings.noise_ppm, 1000000},
    {"step", &settings.step_ppm, 1000000},
    {"step_after", &settings.step_after, 1},
    {"contention", &settings.contention_ppm, 1000000},
    {"coherency", &settings.coherency_ppm, 1000000},
    {"age_ns", &settings.age_ns, 1},
    {"leak_bytes", &settings.leak_bytes, 1},
    {"client_hello_bytes", &settings.client_hello_bytes, 1},
    {"server_hello_bytes", &settings.server_hello_bytes, 1},
    {"emulated", &settings.emulated, 1},
    {"unsupported", &settings.unsupported, 1},
    {"fail_after", &settings.fail_after, 1},
    {"mismatch_after", &settings.mismatch_after, 1},
    {"crash_after", &settings.crash_after, 1},
    {"hang_after", &settings.hang_after, 1},
    {"lie", &settings.lie, 1},
    {"lie_after", &settings.lie_after, 1},
};

/* "12" or, where a scale allows it, "1.02"; at most 10,000,000,000 so that products stay in 64 bits. */
static bool parse_number(const char *text, int64_t scale, int64_t *out) {
    int64_t value = 0;
    bool fraction = false;
    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        if (*text == '.' && scale > 1 && !fraction) {
            fraction = true;
            continue;
        }
        if (*text < '0' || *text > '9' || value > 1000000000 || (fraction && scale == 1))
            return false;
        value = value * 10 + (*text - '0');
        if (fraction)
            scale /= 10;
    }
    *out = value * scale;
    return value * scale <= 10000000000;
}

static bool apply(const char *name, const char *value, struct fault *fault) {
    if (strcmp(name, "version") == 0 || strcmp(name, "architecture") == 0) {
        char *to = name[0] == 'v' ? settings.version : settings.architecture;
        if (*value != '\0' && strlen(value) < sizeof settings.version) {
            strcpy(to, value);
            return true;
        }
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (strcmp(name, numbers[i].name) == 0 && parse_number(value, numbers[i].scale, numbers[i].value))
            return true;
    }
    return fault_set(fault, FAULT_ERROR, "--fake: can't use %.32s=%.32s", name, value);
}

static bool fits_hello(int64_t bytes) {
    return bytes >= FAKE_HELLO_MIN && bytes <= FAKE_HELLO_MAX;
}

bool fake_settings_parse(const char *text, struct fault *fault) {
    char copy[512];
    if (text != NULL && strlen(text) >= sizeof copy)
        return fault_set(fault, FAULT_ERROR, "--fake: settings are too long");
    strcpy(copy, text == NULL ? "" : text);
    char *word, *rest = *copy == '\0' ? NULL : copy;
    while ((word = strsep(&rest, ",")) != NULL) {
        char *value = strchr(word, '=');
        if (value == NULL)
            return fault_set(fault, FAULT_ERROR, "--fake: expected name=value, got %.32s", word);
        *value++ = '\0';
        if (!apply(word, value, fault))
            return false;
    }
    if (!fits_hello(settings.client_hello_bytes) || !fits_hello(settings.server_hello_bytes))
        return fault_set(fault, FAULT_ERROR, "--fake: a hello has from %d to %d bytes", FAKE_HELLO_MIN,
                         FAKE_HELLO_MAX);
    return true;
}
