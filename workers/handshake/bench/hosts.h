/* What a plain server has for each of its names: a hash table with open addressing. */
#ifndef BENCH_HOSTS_H
#define BENCH_HOSTS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAMES = 10000 };

static struct host {
    char name[64];
    void *context, *key;
} * hosts;
static unsigned long slots;

/* Before any of them is added. Half of the slots stay empty. */
static void make_room_for(unsigned long names) {
    slots = 2 * names;
    hosts = calloc(slots, sizeof *hosts);
    if (hosts == NULL)
        abort();
}

/* The slot of a name: its own, or, where nobody added it, an empty one, whose context is NULL. */
static struct host *slot_of(const char *name) {
    unsigned hash = 2166136261u; /* FNV-1a */
    for (const char *letter = name; *letter != '\0'; letter++)
        hash = (hash ^ (unsigned char)*letter) * 16777619u;
    struct host *slot = &hosts[hash % slots];
    while (slot->context != NULL && strcmp(slot->name, name) != 0)
        slot = slot == &hosts[slots - 1] ? hosts : slot + 1;
    return slot;
}

static const char *name_of(unsigned long number) {
    static char name[sizeof hosts->name];
    snprintf(name, sizeof name, "name-%05lu.kexbench.invalid", number);
    return name;
}

static void add_host(unsigned long number, void *context, void *key) {
    struct host *slot = slot_of(name_of(number));
    strcpy(slot->name, name_of(number));
    slot->context = context;
    slot->key = key;
}

#endif
