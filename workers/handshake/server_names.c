#include "server_names.h"

#include "case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A prime above any number of names, so that multiples of it meet each of them. */
static const uint64_t STRIDE = 2654435761;

/* The first one is not the table's first, which stands where a server has one configuration alone. */
unsigned server_name_asked(uint64_t connection, unsigned names) {
    return (unsigned)((names / 2 + connection % names * STRIDE) % names);
}

/* As many digits for each, so that their order is that of their numbers. */
void server_name_write(unsigned number, char out[SERVER_NAME_BYTES]) {
    snprintf(out, SERVER_NAME_BYTES, "name-%05u." VERIFIED_HOST, number % SERVER_NAMES_MAX);
}

struct server_name *server_names_new(unsigned names) {
    struct server_name *table = calloc(names, sizeof *table);
    for (unsigned i = 0; table != NULL && i < names; i++)
        server_name_write(i, table[i].name);
    return table;
}

static int compare(const void *name, const void *entry) {
    return strcmp(name, ((const struct server_name *)entry)->name);
}

const struct server_name *server_names_find(const struct server_name *table, unsigned names,
                                            const char *name) {
    return bsearch(name, table, names, sizeof *table, compare);
}
