/* Where this process has atomic instructions: in the functions of the program and of its libraries. x86-64.
 */
#ifndef KEXBENCH_SITES_H
#define KEXBENCH_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The code of one file, in whole pages, and the sites in it. */
struct module {
    uintptr_t code, end;
    size_t first, sites;
};

struct sites {
    uintptr_t *all; /* each module's in order */
    size_t used;
    struct module *modules;
    size_t modules_used;
};

/* False: out of memory. */
bool sites_find(struct sites *out);
void sites_free(struct sites *sites);

#endif
