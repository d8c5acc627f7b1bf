/* A breakpoint is the instruction INT3 in place of the first byte. Its handler writes the operation down and
 * goes on in a copy of the instruction, behind which a jump leads back. (ADR 58 says why the processor's
 * single steps are not used.) */
#include "breakpoints.h"

#include "instruction.h"
#include "locked.h"
#include "sites.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__x86_64__) && defined(__linux__)

#include <execinfo.h>
#include <ucontext.h>

enum { OPERATIONS_MAX = 1 << 22, FRAMES_MAX = 1 << 27 };
enum { INT3 = 0xCC, COPY_BYTES = 32 };
enum { PLACES = 4096, PLACE_BYTES = 1 << 19 }; /* within two gigabytes of a module */
enum { HANDLER_FRAMES = 8 };                   /* of the handler itself, at most */

struct log {
    struct operations operations; /* first: the log is its operations */
    struct sites sites;
    uint8_t **copies; /* of each module's sites; NULL: not yet */
    struct sigaction before;
};

/* The handler has no other way to them. */
static struct log *current;
static _Thread_local const char *watched; /* the part, or NULL */
static _Thread_local unsigned watched_thread;

static const int in_context[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                   REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

/* The calls that led to `site`, each as an address inside the call. Returns how many there are. */
static unsigned calls(uintptr_t site, uintptr_t *out) {
    void *found[STACK_DEPTH_MAX + HANDLER_FRAMES];
    int count = backtrace(found, STACK_DEPTH_MAX + HANDLER_FRAMES), from = 0;
    unsigned depth = 1;
    while (from < count && (uintptr_t)found[from] != site)
        from++;
    out[0] = site;
    for (int i = from + 1; i < count && depth < STACK_DEPTH_MAX; i++)
        out[depth++] = (uintptr_t)found[i] - 1;
    return depth;
}

static void write_down(struct operations *operations, const char *part, uintptr_t site, const uint8_t *code,
                       const greg_t *now) {
    struct registers registers;
    uintptr_t address;
    if (operations->used == OPERATIONS_MAX || operations->frames_used > FRAMES_MAX - STACK_DEPTH_MAX) {
        operations->full = true;
        return;
    }
    for (int i = 0; i < 16; i++)
        registers.general[i] = (uint64_t)now[in_context[i]];
    /* Where the thread's own block begins, which holds its own address (ABI for x86-64, thread-local
     * storage). No program of Linux uses gs. */
    __asm__("movq %%fs:0, %0" : "=r"(registers.fs_base));
    registers.gs_base = 0;
    if (!locked_operand(code, &registers, &address))
        return;
    struct operation *operation = &operations->all[operations->used++];
    *operation = (struct operation){address, part, watched_thread, 0, operations->frames_used};
    operation->depth = calls(site, operations->frames + operations->frames_used);
    operations->frames_used += operation->depth;
}

/* The copy of the instruction at a site; NULL: there is none. */
static const uint8_t *copy_of(const struct log *log, uintptr_t site) {
    for (size_t i = 0; i < log->sites.modules_used; i++) {
        const struct module *module = &log->sites.modules[i];
        if (site < module->code || site >= module->end)
            continue;
        size_t low = module->first, high = module->first + module->sites;
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (log->sites.all[middle] < site)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < module->first + module->sites && log->sites.all[low] == site)
            return log->copies[i] + (low - module->first) * COPY_BYTES;
    }
    return NULL;
}

/* What the unwinder does in here meets breakpoints itself. */
static void trapped(int number, siginfo_t *information, void *context) {
    greg_t *now = ((ucontext_t *)context)->uc_mcontext.gregs;
    uintptr_t site = (uintptr_t)now[REG_RIP] - 1;
    const uint8_t *copy = copy_of(current, site);
    const char *part = watched;
    (void)number, (void)information;
    if (copy == NULL)
        return;
    now[REG_RIP] = (greg_t)site; /* as the unwinder needs it */
    if (part != NULL) {
        watched = NULL;
        write_down(&current->operations, part, site, copy, now);
        watched = part;
    }
    now[REG_RIP] = (greg_t)(uintptr_t)copy;
}

void breakpoints_watch(const char *part, unsigned thread) {
    watched_thread = thread;
    watched = part;
}

static void *pages(void *place, size_t bytes, int flags) {
    void *memory = mmap(place, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* So near that an operand which is relative to the next instruction is in reach from there too. */
static uint8_t *pages_near(uintptr_t code, size_t bytes) {
    uint8_t *found = NULL;
    for (uintptr_t i = 1; found == NULL && i <= PLACES / 2; i++)
        found = pages((void *)(code - i * PLACE_BYTES), bytes, MAP_FIXED_NOREPLACE);
    return found;
}

static void copy_instruction(uint8_t *copy, const uint8_t *site) {
    struct instruction instruction = instruction_at(site);
    uint64_t back = (uintptr_t)site + instruction.length;
    const uint8_t jump[6] = {0xFF, 0x25}; /* to the address behind it */
    memcpy(copy, site, instruction.length);
    memcpy(copy + instruction.length, jump, sizeof jump);
    memcpy(copy + instruction.length + sizeof jump, &back, sizeof back);
    if (instruction.relative_at == 0)
        return;
    int32_t distance;
    memcpy(&distance, site + instruction.relative_at, sizeof distance);
    distance += (int32_t)(site - copy);
    memcpy(copy + instruction.relative_at, &distance, sizeof distance);
}

static bool writable(const struct module *module, bool yes) {
    return mprotect((void *)module->code, module->end - module->code,
                    yes ? PROT_READ | PROT_WRITE | PROT_EXEC : PROT_READ | PROT_EXEC) == 0;
}

static size_t copies_bytes(const struct module *module) {
    return module->sites * COPY_BYTES;
}

static bool make_copies(struct log *log, const struct module *module, uint8_t **out) {
    uint8_t *copies = pages_near(module->code, copies_bytes(module));
    if (copies == NULL)
        return false;
    for (size_t i = 0; i < module->sites; i++)
        copy_instruction(copies + i * COPY_BYTES, (const uint8_t *)log->sites.all[module->first + i]);
    *out = copies;
    return mprotect(copies, copies_bytes(module), PROT_READ | PROT_EXEC) == 0;
}

/* ThreadSanitizer follows each write, and code is nowhere in its map of memory. */
#if defined(__SANITIZE_THREAD__)
static const bool follows_writes = true;
#elif defined(__has_feature)
static const bool follows_writes = __has_feature(thread_sanitizer);
#else
static const bool follows_writes = false;
#endif

static bool set(struct log *log) {
    for (size_t i = 0; i < log->sites.modules_used; i++) {
        if (!make_copies(log, &log->sites.modules[i], &log->copies[i]))
            return false;
    }
    for (size_t i = 0; i < log->sites.modules_used; i++) {
        const struct module *module = &log->sites.modules[i];
        if (!writable(module, true))
            return false;
        for (size_t j = 0; j < module->sites; j++)
            *(uint8_t *)log->sites.all[module->first + j] = INT3;
        writable(module, false);
    }
    return true;
}

/* A byte that was never replaced is replaced by itself. */
static void unset(const struct log *log) {
    for (size_t i = 0; i < log->sites.modules_used; i++) {
        const struct module *module = &log->sites.modules[i];
        if (log->copies[i] == NULL || !writable(module, true))
            continue;
        for (size_t j = 0; j < module->sites; j++)
            *(uint8_t *)log->sites.all[module->first + j] = log->copies[i][j * COPY_BYTES];
        writable(module, false);
    }
}

/* One operation whose address is known: some emulators keep the code that they have seen before. */
static bool sees(struct operations *operations) {
    static atomic_int changed;
    breakpoints_watch("", 0);
    atomic_fetch_add(&changed, 1);
    breakpoints_watch(NULL, 0);
    bool seen = operations->used == 1 && operations->all[0].address == (uintptr_t)&changed &&
                operations->all[0].depth > 1;
    operations->used = operations->frames_used = 0;
    return seen;
}

struct operations *breakpoints_open(struct fault *fault) {
    struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_NODEFER};
    if (follows_writes) {
        fault_set(fault, FAULT_UNSUPPORTED, "no breakpoints may be set here: a sanitizer follows each write");
        return NULL;
    }
    struct log *log = calloc(1, sizeof *log);
    void *loaded[1];
    backtrace(loaded, 1); /* loads the unwinder, where it is not yet */
    if (log == NULL || sigaction(SIGTRAP, &action, &log->before) != 0) {
        free(log);
        fault_set(fault, FAULT_ERROR, "out of memory");
        return NULL;
    }
    current = log;
    log->operations.all = pages(NULL, OPERATIONS_MAX * sizeof *log->operations.all, 0);
    log->operations.frames = pages(NULL, FRAMES_MAX * sizeof *log->operations.frames, 0);
    if (log->operations.all == NULL || log->operations.frames == NULL || !sites_find(&log->sites) ||
        (log->copies = calloc(log->sites.modules_used + 1, sizeof *log->copies)) == NULL)
        fault_set(fault, FAULT_ERROR, "out of memory");
    else if (!set(log))
        fault_set(fault, FAULT_UNSUPPORTED,
                  "no breakpoints may be set here: this system forbids changing code");
    else if (sees(&log->operations))
        return &log->operations;
    else
        fault_set(fault, FAULT_UNSUPPORTED, "breakpoints have no effect here, as under an emulator");
    breakpoints_close(&log->operations);
    return NULL;
}

void breakpoints_close(struct operations *operations) {
    struct log *log = (struct log *)operations;
    if (log->copies != NULL)
        unset(log);
    for (size_t i = 0; log->copies != NULL && i < log->sites.modules_used; i++) {
        if (log->copies[i] != NULL)
            munmap(log->copies[i], copies_bytes(&log->sites.modules[i]));
    }
    sigaction(SIGTRAP, &log->before, NULL);
    if (operations->all != NULL)
        munmap(operations->all, OPERATIONS_MAX * sizeof *operations->all);
    if (operations->frames != NULL)
        munmap(operations->frames, FRAMES_MAX * sizeof *operations->frames);
    free(log->copies);
    sites_free(&log->sites);
    free(log);
}

#else

struct operations *breakpoints_open(struct fault *fault) {
    fault_set(fault, FAULT_UNSUPPORTED, "atomic operations are counted on x86-64 alone");
    return NULL;
}
void breakpoints_close(struct operations *operations) {
    (void)operations;
}
void breakpoints_watch(const char *part, unsigned thread) {
    (void)part, (void)thread;
}

#endif
