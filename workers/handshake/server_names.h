/* The names of a server that has a configuration for each: which of them a connection asks for, and how a
 * program finds the configuration of one. */
#ifndef KEXBENCH_SERVER_NAMES_H
#define KEXBENCH_SERVER_NAMES_H

#include <stdint.h>

enum { SERVER_NAME_BYTES = 32 };

struct server_name {
    char name[SERVER_NAME_BYTES];
    void *configuration; /* the backend's */
};

/* The number of the name that a pair's connection asks for. So many connections as there are names ask for
 * each of them once, in an order that is always the same and spreads over the table. */
unsigned server_name_asked(uint64_t connection, unsigned names);
/* "name-00017.kexbench.invalid" */
void server_name_write(unsigned number, char out[SERVER_NAME_BYTES]);

/* All of them, sorted, to be freed with free(); NULL: out of memory. */
struct server_name *server_names_new(unsigned names);
/* By a binary search. NULL: it is none of them. */
const struct server_name *server_names_find(const struct server_name *table, unsigned names,
                                            const char *name);

#endif
