/* Any words, one a line: options are whole, or told to be wrong. The first byte says of which backend; the
 * fake's settings are read too. */
#include "backend.h"
#include "options.h"

#include "fuzz.h"

enum { WORDS_MAX = 16 };

/* What a number was read from is that number and nothing else. */
static void demand_number(const char *text, unsigned long number) {
    char *end;
    demand(text[0] >= '0' && text[0] <= '9' && strtoul(text, &end, 10) == number && *end == '\0');
}

static void demand_options(int argc, char **argv, bool takes_settings) {
    struct options options;
    struct fault fault = {0};
    const char *wrong = options_parse(argc, argv, takes_settings, &options);
    if (wrong != NULL) {
        demand(wrong[0] != '\0');
        return;
    }
    demand(options.material != NULL && argc % 2 == 1);
    demand(options.peer >= -1 && options.peer < 1024 && options.burn_ppm <= 50000);
    if (strcmp(argv[argc - 2], "--peer") == 0)
        demand_number(argv[argc - 1], (unsigned)options.peer);
    if (strcmp(argv[argc - 2], "--burn") == 0)
        demand_number(argv[argc - 1], options.burn_ppm);
    demand(options.cpus == NULL || CPU_COUNT(&options.cpu_set) >= 1);
    demand(takes_settings ? !options.burns : options.settings == NULL);
    if (options.settings != NULL && !linked_backend.start(options.settings, &fault))
        demand(fault.reason[0] != '\0');
    demand(strlen(linked_backend.version()) < 32);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *words[WORDS_MAX + 1] = {"worker"};
    int count = 1;
    if (size == 0)
        return 0;
    char *text = strndup((const char *)data + 1, size - 1), *rest = text;
    demand(text != NULL);
    while (count < WORDS_MAX && rest != NULL)
        words[count++] = strsep(&rest, "\n");
    demand_options(count, words, data[0] % 2 == 0);
    free(text);
    return 0;
}
