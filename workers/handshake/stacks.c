/* An open hash table of stacks, and the list of what is mapped. */
#include "stacks.h"

#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { SLOTS = 2 * STACKS_MAX }; /* a power of two, so that no chain is long */

struct stack {
    const char *part;
    uint64_t hash, count, amount;
    unsigned depth;
    uintptr_t addresses[STACK_DEPTH_MAX];
};

struct stacks {
    long used;
    bool overflowed;
    uint32_t slots[SLOTS]; /* a stack's number and 1; 0: free */
    struct stack stacks[STACKS_MAX];
};

struct stacks *stacks_new(void) {
    /* Pages that nobody touches cost nothing. */
    void *memory = mmap(NULL, sizeof(struct stacks), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void stacks_free(struct stacks *stacks) {
    if (stacks != NULL)
        munmap(stacks, sizeof *stacks);
}

/* FNV-1a, a word at a time. */
static uint64_t hashed(const char *part, const uintptr_t *addresses, unsigned depth) {
    uint64_t hash = 0xCBF29CE484222325u ^ (uint64_t)(uintptr_t)part;
    for (unsigned i = 0; i < depth; i++)
        hash = (hash ^ addresses[i]) * 0x100000001B3u;
    return hash ^ hash >> 29;
}

long stacks_add(struct stacks *stacks, const char *part, const uintptr_t *addresses, unsigned depth,
                uint64_t count, uint64_t amount) {
    depth = depth < STACK_DEPTH_MAX ? depth : STACK_DEPTH_MAX;
    uint64_t hash = hashed(part, addresses, depth);
    uint32_t slot = (uint32_t)hash % SLOTS;
    for (; stacks->slots[slot] != 0; slot = (slot + 1) % SLOTS) {
        struct stack *stack = &stacks->stacks[stacks->slots[slot] - 1];
        if (stack->hash == hash && stack->part == part && stack->depth == depth &&
            memcmp(stack->addresses, addresses, depth * sizeof *addresses) == 0) {
            stacks_charge(stacks, stacks->slots[slot] - 1, count, amount);
            return stacks->slots[slot] - 1;
        }
    }
    if (stacks->used == STACKS_MAX) {
        stacks->overflowed = true;
        return -1;
    }
    struct stack *stack = &stacks->stacks[stacks->used++];
    *stack = (struct stack){.part = part, .hash = hash, .count = count, .amount = amount, .depth = depth};
    memcpy(stack->addresses, addresses, depth * sizeof *addresses);
    stacks->slots[slot] = (uint32_t)stacks->used;
    return stacks->used - 1;
}

void stacks_charge(struct stacks *stacks, long number, uint64_t count, uint64_t amount) {
    stacks->stacks[number].count += count;
    stacks->stacks[number].amount += amount;
}

bool stacks_overflowed(const struct stacks *stacks) {
    return stacks->overflowed;
}

/* --- The record. --- */

static void address(struct json *json, const char *key, uintptr_t value) {
    char text[2 * sizeof value + 1];
    snprintf(text, sizeof text, "%" PRIxPTR, value);
    json_text(json, key, text);
}

/* The file that is mapped at an address: the loader does not name the program, and /proc/self/exe names the
 * loader where that was started with the program as its argument. */
static bool mapped_file(uintptr_t at, char *path, size_t size) {
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[4096 + 128];
    bool found = false;
    while (maps != NULL && !found && fgets(line, sizeof line, maps) != NULL) {
        uintptr_t from, to;
        const char *name = strchr(line, '/');
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &from, &to) != 2 || at < from || at >= to || name == NULL)
            continue;
        snprintf(path, size, "%.*s", (int)strcspn(name, "\n"), name);
        found = true;
    }
    if (maps != NULL)
        fclose(maps);
    return found;
}

static int write_object(struct dl_phdr_info *info, size_t size, void *data) {
    struct json *json = data;
    char program[PATH_MAX], whole[PATH_MAX];
    const char *path = info->dlpi_name;
    (void)size;
    if (path[0] !=
        '/') { /* none, or relative to the folder of a kit; headers are part of what is mapped first */
        if (!mapped_file((uintptr_t)info->dlpi_phdr, program, sizeof program))
            return 0;
        path = program;
    }
    if (realpath(path, whole) != NULL) /* a kit's loader names its libraries from the kit's folder */
        path = whole;
    json_open(json, NULL);
    json_text(json, "path", path);
    address(json, "base", info->dlpi_addr);
    json_close(json);
    return 0;
}

static void write_stack(struct json *json, const struct stack *stack) {
    json_open(json, NULL);
    json_text(json, "part", stack->part);
    json_number(json, "count", stack->count);
    json_number(json, "amount", stack->amount);
    json_open_list(json, "addresses");
    for (unsigned i = 0; i < stack->depth; i++)
        address(json, NULL, stack->addresses[i]);
    json_close_list(json);
    json_close(json);
}

void stacks_write(struct json *json, const struct stacks *stacks) {
    json_open_list(json, "objects");
    dl_iterate_phdr(write_object, json);
    json_close_list(json);
    json_open_list(json, "stacks");
    for (long i = 0; i < stacks->used; i++) {
        if (stacks->stacks[i].count > 0)
            write_stack(json, &stacks->stacks[i]);
    }
    json_close_list(json);
}
