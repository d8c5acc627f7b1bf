/* Watches the allocator (heap.so) during what sides do, and keeps a table of the blocks that are alive. */
#include "allocations.h"

#include "heap.h"
#include "hold.h"

#include <string.h>
#include <sys/mman.h>

enum { BLOCKS_MAX = 1 << 22 }; /* a power of two */

/* A block, and the stack that asked for it. */
struct block {
    void *address; /* NULL: this place is free */
    size_t bytes;
    long stack;
};

/* A pass over connections. The allocator calls from deep inside a library and has no word for it, so there is
 * one of them. */
static struct pass {
    struct observer observer; /* first: the observer is the pass */
    struct stacks *stacks;
    bool holds, overflowed;
    /* Where what is asked for counts, and where what stays alive does. NULL: nowhere. */
    const char *asked, *alive;
    struct block *blocks;
    size_t used;
} * current;
/* Set in the thread that makes connections, while a side does something. */
static _Thread_local bool watched;

static size_t place_of(const void *address) {
    return (size_t)(((uintptr_t)address >> 4) * 0x9E3779B97F4A7C15u >> 20) % BLOCKS_MAX;
}

/* Where a block is in the table, or the free place where it would be. */
static size_t find(const struct pass *pass, const void *address) {
    size_t place = place_of(address);
    while (pass->blocks[place].address != NULL && pass->blocks[place].address != address)
        place = (place + 1) % BLOCKS_MAX;
    return place;
}

/* Linear probing without tombstones (Knuth, The Art of Computer Programming, volume 3, 6.4, algorithm R). */
static void forget(struct pass *pass, void *address) {
    size_t hole = find(pass, address), next = hole;
    if (pass->blocks[hole].address == NULL)
        return;
    pass->used--;
    for (;;) {
        pass->blocks[hole].address = NULL;
        size_t home;
        do {
            next = (next + 1) % BLOCKS_MAX;
            if (pass->blocks[next].address == NULL)
                return;
            home = place_of(pass->blocks[next].address);
        } while (hole <= next ? hole < home && home <= next : hole < home || home <= next);
        pass->blocks[hole] = pass->blocks[next];
        hole = next;
    }
}

static void remember(struct pass *pass, struct block block) {
    if (pass->used >= BLOCKS_MAX / 4 * 3 || block.stack < 0) {
        pass->overflowed = true;
        return;
    }
    pass->blocks[find(pass, block.address)] = block;
    pass->used++;
}

static void handed_out(void *block, size_t bytes, const void *caller) {
    uintptr_t addresses[STACK_DEPTH_MAX];
    if (!watched)
        return;
    watched = false; /* whatever the unwinder itself may ask for */
    unsigned depth = kexbench_heap_stack(caller, addresses, STACK_DEPTH_MAX);
    if (current->asked != NULL)
        stacks_add(current->stacks, current->asked, addresses, depth, 1, bytes);
    if (current->alive != NULL)
        remember(current,
                 (struct block){block, bytes,
                                stacks_add(current->stacks, current->alive, addresses, depth, 0, 0)});
    watched = true;
}

/* What others free is not theirs: one thread makes connections, and nothing is freed while it looks. */
static void given_back(void *block) {
    if (current->used > 0)
        forget(current, block);
}

static const struct heap_watcher heap_watcher = {handed_out, given_back};

static void enter(struct observer *observer, enum role role, enum phase phase) {
    static const char *const turns[ROLES] = {"client", "server"}, *const held[ROLES] = {"client_held",
                                                                                        "server_held"};
    struct pass *pass = (struct pass *)observer;
    bool objects = phase == PHASE_OPEN || phase == PHASE_CLOSE;
    if (pass->holds) {
        pass->asked = NULL;
        pass->alive = held[role];
    } else {
        pass->asked = objects ? "objects" : phase == PHASE_STEP ? turns[role] : NULL;
        pass->alive = "kept";
    }
    watched = true;
}

static void leave(struct observer *observer, enum role role, enum phase phase) {
    (void)observer;
    (void)role;
    (void)phase;
    watched = false;
}

static bool make(struct prepared *p, uint64_t handshakes, struct observer *observer, struct fault *fault) {
    struct pair *pair = pair_new(p->backend, p->context, &p->tls_case, false);
    bool good = pair != NULL || fault_set(fault, FAULT_ERROR, "out of memory");
    if (good)
        pair->observer = observer;
    for (uint64_t i = 0; good && i < handshakes; i++) {
        struct spans unused = {0};
        good = pair_connection(pair, &p->wanted, false, &unused, NULL, fault);
    }
    pair_free(pair);
    return good;
}

/* Charges the blocks that are alive to the stacks that asked for them, and forgets them. */
static void charge(struct pass *pass) {
    for (size_t i = 0; pass->used > 0 && i < BLOCKS_MAX; i++) {
        struct block *block = &pass->blocks[i];
        if (block->address == NULL)
            continue;
        stacks_charge(pass->stacks, block->stack, 1, block->bytes);
        block->address = NULL;
        pass->used--;
    }
}

static bool count(struct prepared *p, uint64_t handshakes, struct pass *pass, struct fault *fault) {
    struct pair *pairs[PROFILED_MAX] = {NULL};
    /* As many before, so that what happens once is over, and as many after, so that a place for the last
     * connection alone is not taken for one that each connection needs. */
    if (!make(p, handshakes, NULL, fault))
        return false;
    kexbench_heap_watch(&heap_watcher);
    bool good = make(p, handshakes, &pass->observer, fault) && make(p, handshakes, NULL, fault);
    charge(pass);
    pass->holds = true;
    good = good && hold(p, pairs, handshakes, &pass->observer, fault);
    charge(pass);
    kexbench_heap_watch(NULL);
    let_go(pairs, handshakes);
    return good;
}

bool allocations_count(struct prepared *p, uint64_t handshakes, struct stacks *out, struct fault *fault) {
    if (kexbench_heap_watch == NULL)
        return fault_set(fault, FAULT_UNSUPPORTED, "heap.so is not preloaded, which counts allocations");
    if (p->backend->traits != NULL && p->backend->traits->own_heap)
        return fault_set(fault, FAULT_UNSUPPORTED, "this library's memory is not the C library's");
    struct pass pass = {.observer = {.enter = enter, .leave = leave}, .stacks = out};
    size_t size = BLOCKS_MAX * sizeof *pass.blocks;
    pass.blocks =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pass.blocks == MAP_FAILED)
        return fault_set(fault, FAULT_ERROR, "out of memory");
    current = &pass;
    bool good = count(p, handshakes, &pass, fault);
    current = NULL;
    munmap(pass.blocks, size);
    return good && (!pass.overflowed || fault_set(fault, FAULT_ERROR, "there are too many blocks"));
}
