/* The steps are below functions with names of their own, for a profiler to count in. */
#include "started.h"

#include "heap.h"
#include "lines.h"
#include "pair.h"
#include "request.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NOT_PROVEN = 4 };

struct process_time process_time_now(void) {
    return (struct process_time){real_clock.process_cpu_ns(), real_clock.wall_ns()};
}

__attribute__((noinline)) bool start_library(const struct backend *backend, const char *settings,
                                             struct fault *fault) {
    bool good = backend->start(settings, fault);
    __asm__ volatile("# library"); /* no tail call, which would leave the function before it is done */
    return good;
}

__attribute__((noinline)) struct context *first_context(const struct backend *backend,
                                                        const struct tls_case *tls_case, const char *material,
                                                        struct fault *fault) {
    struct context *context = backend->setup(tls_case, material, fault);
    __asm__ volatile("# context");
    return context;
}

__attribute__((noinline)) bool first_handshake(struct pair *pair, struct fault *fault) {
    struct spans unused = {0};
    bool good = pair_open(pair, false, false, &unused, fault) && pair_turns(pair, false, &unused, fault);
    __asm__ volatile("# handshake");
    return good;
}

/* Of a file in /proc, after `before`; false where it can't be read. */
static bool read_number(const char *path, const char *before, uint64_t *out) {
    char text[512];
    unsigned long long number;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    text[length < 0 ? 0 : length] = '\0';
    const char *at = strstr(text, before);
    if (at == NULL || sscanf(at + strlen(before), "%llu", &number) != 1)
        return false;
    *out = number;
    return true;
}

static uint64_t heap_bytes_now(void) {
    struct heap_counts counts = {0};
    if (kexbench_heap_read != NULL)
        kexbench_heap_read(&counts);
    return counts.live_bytes;
}

/* `own_bytes` of the heap are the worker's. */
static void look_at_memory(const struct backend *backend, uint64_t own_bytes, struct started *out) {
    out->has_heap = kexbench_heap_read != NULL && (backend->traits == NULL || !backend->traits->own_heap);
    out->heap_bytes = heap_bytes_now() - own_bytes;
    out->has_read = read_number("/proc/self/io", "rchar: ", &out->read_bytes);
    out->has_resident = read_number("/proc/self/statm", " ", &out->resident_bytes);
    out->resident_bytes *= (uint64_t)sysconf(_SC_PAGESIZE);
}

static bool prove(const struct backend *backend, struct pair *pair, const struct negotiated *wanted,
                  struct fault *fault) {
    return (backend->expect == NULL || backend->expect(pair->context, fault)) &&
           pair_prove(pair, wanted, NULL, fault);
}

static bool shake_hands(const struct backend *backend, struct context *context,
                        const struct tls_case *tls_case, struct started *out) {
    struct negotiated wanted = case_wanted(tls_case, false);
    struct spans unused = {0};
    uint64_t before = heap_bytes_now();
    struct pair *pair = pair_new(backend, context, tls_case, false);
    if (pair == NULL)
        return fault_set(&out->fault, FAULT_ERROR, "out of memory");
    uint64_t own_bytes = heap_bytes_now() - before;
    step_begin(STEP_HANDSHAKE);
    bool good = first_handshake(pair, &out->fault);
    step_begin(STEP_NONE);
    look_at_memory(backend, own_bytes, out);
    good = good && prove(backend, pair, &wanted, &out->fault);
    pair_close(pair, false, &unused);
    pair_free(pair);
    return good;
}

void start_here(const struct backend *backend, const char *settings, const struct tls_case *tls_case,
                const char *material, struct started *out) {
    struct context *context = NULL;
    steps_open(backend->clock, &out->times);
    step_begin(STEP_LIBRARY);
    out->good = start_library(backend, settings, &out->fault);
    if (out->good) {
        step_begin(STEP_SETUP);
        context = first_context(backend, tls_case, material, &out->fault);
    }
    step_begin(STEP_NONE);
    out->good = context != NULL && shake_hands(backend, context, tls_case, out);
    if (context != NULL)
        backend->teardown(context);
}

static bool read_setup(struct request *request, size_t *length, struct fault *fault) {
    static struct line_reader reader = {.fd = STDIN_FILENO};
    const char *line;
    char reason[REASON_MAX];
    if (next_line(&reader, &line, length) != LINE_READ || !request_parse(line, *length, request, reason) ||
        request->verb != VERB_SETUP)
        return fault_set(fault, FAULT_ERROR, "a process that starts got no line that sets up");
    return case_check(&request->tls_case, fault);
}

static bool report(const struct started *started) {
    const char *at = (const char *)started;
    size_t left = sizeof *started;
    while (left > 0) {
        ssize_t wrote = write(STDOUT_FILENO, at, left);
        if (wrote <= 0)
            return false;
        at += wrote;
        left -= (size_t)wrote;
    }
    return true;
}

int start_and_report(const struct backend *backend, const char *settings, const char *material,
                     struct process_time before, struct process_time entered) {
    struct started started = {0};
    struct request request;
    size_t length = 0;
    if (read_setup(&request, &length, &started.fault))
        start_here(backend, settings, &request.tls_case, material, &started);
    started.times.begun[STEP_LOAD] = true;
    started.times.cpu_ns[STEP_LOAD] = entered.cpu_ns - before.cpu_ns;
    started.times.wall_ns[STEP_LOAD] = entered.wall_ns - before.wall_ns;
    started.read_bytes -= length + 1; /* the request came with its newline */
    if (!started.good)
        fprintf(stderr, "worker: %s %s\n", started.fault.reason, started.fault.detail);
    return report(&started) && started.good ? 0 : NOT_PROVEN;
}
