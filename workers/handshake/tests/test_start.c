/* Processes that this one starts, with every backend: it is one of them where its words say so. The folder
 * with the material is the first argument. */
#include "start.h"

#include "matrix.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const char BEHAVIOUR[] = "KEXBENCH_TEST_START"; /* how a process that is started behaves */
static const char *material, *usual;
static struct start out;
static struct fault fault;

/* --- As one that is started. --- */

static bool inspect_another(struct side *side, struct negotiated *seen, struct fault *why) {
    bool good = linked_backend.inspect(side, seen, why);
    seen->cipher = "another";
    return good;
}

static void wait_for_ever(void) {
    if (write(3, "x", 1) == 1)
        while (true)
            pause();
}

static int started(struct process_time entered, const char *clocks) {
    struct backend backend = linked_backend;
    struct process_time before = {0};
    unsigned long long cpu_ns, wall_ns;
    const char *behaviour = getenv(BEHAVIOUR);
    if (sscanf(clocks, "%llu,%llu", &cpu_ns, &wall_ns) == 2)
        before = (struct process_time){cpu_ns, wall_ns};
    if (behaviour != NULL && strcmp(behaviour, "lies") == 0)
        backend.inspect = inspect_another;
    if (behaviour != NULL && strcmp(behaviour, "crashes") == 0)
        abort();
    if (behaviour != NULL && strcmp(behaviour, "hangs") == 0)
        wait_for_ever();
    return start_and_report(&backend, backend.takes_settings ? "noise=0,start_ns=8000" : NULL, material,
                            before, entered);
}

/* --- As the one that starts it. --- */

static char setup_line[LINE_MAX_BYTES];

static bool set_up(struct prepared *p, const char *further) {
    struct row row = {usual, "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", further};
    struct tls_case c = case_of(&row);
    struct negotiated seen;
    line_of(&row, setup_line, sizeof setup_line);
    memset(&fault, 0, sizeof fault);
    return prepare(p, &linked_backend, &c, material, -1, &seen, &fault) ||
           (CHECK(fault.kind == FAULT_UNSUPPORTED), false);
}

static int open_files(void) {
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder != NULL && readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count;
}

static bool start_so_many(const char *further, uint64_t processes, const char *behaviour) {
    struct prepared p;
    setenv(BEHAVIOUR, behaviour, 1);
    if (!set_up(&p, further))
        return false;
    bool good = start_processes(&p, setup_line, processes, &out, &fault);
    release(&p);
    return good;
}

static void steps(void) {
    int files = open_files();
    if (!CHECK(start_so_many("", 3, "")))
        printf("      %s (%s)\n", fault.reason, fault.detail);
    CHECK_NUMBER(out.processes, 3);
    for (uint64_t i = 0; i < out.processes; i++) {
        const struct step_times *times = &out.each[i].times;
        CHECK(out.each[i].good && times->begun[STEP_LIBRARY] && times->begun[STEP_HANDSHAKE]);
        CHECK(times->cpu_ns[STEP_LOAD] > 100000 && times->wall_ns[STEP_LOAD] > 100000);
        CHECK(times->cpu_ns[STEP_LIBRARY] > 0 && times->cpu_ns[STEP_HANDSHAKE] > 0);
        CHECK(!times->begun[STEP_CONTEXT] || times->cpu_ns[STEP_KEYS] > 0);
        CHECK(out.each[i].has_read && out.each[i].read_bytes > 0 && out.each[i].read_bytes < 1000000);
        CHECK(out.each[i].has_resident && out.each[i].resident_bytes > 100000);
        CHECK(!out.each[i].has_heap);
    }
    start_free(&out);
    CHECK_NUMBER(open_files(), files);
    CHECK(waitpid(-1, NULL, 0) == -1 && errno == ECHILD);
}

/* Anchors cost what they cost in the step of their own, whether or not it is the library's first work. */
static void trust(void) {
    static const char *const stores[] = {"", " trust_store=folder"};
    for (int i = 0; i < 2; i++) {
        char further[256];
        snprintf(further, sizeof further,
                 "chain_length=2 verification=yes trust_anchors_file=three-roots.pem trust_anchors=3%s",
                 stores[i]);
        if (!start_so_many(further, 1, ""))
            CHECK(fault.kind == FAULT_UNSUPPORTED);
        else if (out.each[0].times.begun[STEP_CONTEXT])
            CHECK(out.each[0].times.cpu_ns[STEP_TRUST] > 0);
        start_free(&out);
    }
}

static void mismatch(void) {
    CHECK(!start_so_many("", 2, "lies"));
    CHECK(fault.kind == FAULT_MISMATCH);
    CHECK(strstr(fault.reason, "cipher: wanted AES-128-GCM, the client got another") == fault.reason);
    CHECK_NUMBER(out.processes, 0);
    start_free(&out);
}

static void crash(void) {
    CHECK(!start_so_many("", 2, "crashes"));
    CHECK(fault.kind == FAULT_ERROR);
    CHECK_TEXT(fault.reason, "a process that starts was ended by signal 6");
    start_free(&out);
}

/* The pipe's end is closed when the last process that has it is gone. */
static void killed(void) {
    int ends[2];
    char byte;
    if (!CHECK(pipe(ends) == 0))
        return;
    pid_t starter = fork();
    if (starter == 0) {
        close(ends[0]);
        dup2(ends[1], 3);
        if (ends[1] != 3)
            close(ends[1]);
        start_so_many("", 1, "hangs");
        _exit(0);
    }
    close(ends[1]);
    CHECK(read(ends[0], &byte, 1) == 1);
    kill(starter, SIGKILL);
    waitpid(starter, NULL, 0);
    CHECK(read(ends[0], &byte, 1) == 0);
    close(ends[0]);
}

static void no_start(const char *further, const char *reason) {
    struct row row = {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", further};
    struct prepared p = {.backend = &linked_backend, .tls_case = case_of(&row)};
    CHECK(!start_processes(&p, "", 1, &out, &fault));
    CHECK_TEXT(fault.reason, reason);
    start_free(&out);
}

static void is_refused(void) {
    no_start("roles=client", "a start needs roles=both");
    no_start("threads=2", "a start takes no threads");
    no_start("context=connection", "a start needs context=shared: it has one of each side");
}

int main(int argc, char **argv) {
    struct process_time entered = process_time_now();
    material = argc > 1 ? argv[1] : ".";
    if (argc > 3)
        return started(entered, argv[3]);
    usual = linked_backend.datagrams == NULL ? "TLSv1.3" : "QUICv1";
    if (!linked_backend.start(linked_backend.takes_settings ? "noise=0" : NULL, &fault)) {
        printf("%s %s\n", fault.reason, fault.detail);
        return 1;
    }
    sentence("processes start one after the other, and tell what each step took", steps);
    sentence("trust anchors come from a file or a folder", trust);
    sentence("a process that negotiates something else ends the start as a mismatch", mismatch);
    sentence("a process that crashes ends the start", crash);
    sentence("what is started ends with the process that started it", killed);
    sentence("a case that has no start is refused with its reason", is_refused);
    return check_failures != 0;
}
