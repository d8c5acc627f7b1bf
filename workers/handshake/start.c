/* A process is started as one of an application is: with execve, of the file that runs here and with the
 * words that this process was started with, so under a kit's own dynamic linker too. It ends with this
 * process, however that ends. */
#include "start.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS_MAX = 64, TEXT_MAX = 32 * 1024, LONGEST_START_S = 30, NAMES_A_SECOND = 50, DIGITS_MAX = 20 };
static const uint64_t SECOND_NS = 1000000000;
static const char self[] = "/proc/self/exe";

/* The words of this process, and behind them those that make it one whose start is timed. */
struct command {
    char text[TEXT_MAX + 1];
    char before[2 * DIGITS_MAX + 2]; /* the clocks before execve */
    char *words[WORDS_MAX + 3];
    unsigned longest_s; /* that a process may take */
};

static bool read_command(struct command *command, struct fault *fault) {
    int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    ssize_t got = 0;
    while (file >= 0 && length < TEXT_MAX &&
           (got = read(file, command->text + length, TEXT_MAX - length)) > 0)
        length += (size_t)got;
    if (file >= 0)
        close(file);
    command->text[length] = '\0';
    int words = 0;
    for (size_t at = 0; at < length && words < WORDS_MAX; at += strlen(command->text + at) + 1)
        command->words[words++] = command->text + at;
    if (words == 0 || words == WORDS_MAX || length == TEXT_MAX)
        return fault_set(fault, FAULT_ERROR, "a start needs /proc/self/cmdline with at most %d words",
                         WORDS_MAX - 1);
    command->words[words] = "--start";
    command->words[words + 1] = command->before;
    return true;
}

/* Not with snprintf: between vfork and execve. */
static char *write_number(char *at, uint64_t number) {
    char digits[DIGITS_MAX];
    int count = 0;
    do
        digits[count++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    while (count > 0)
        *at++ = digits[--count];
    return at;
}

/* vfork and not fork: else the new process's first work would be to give back the copy of this one's memory.
 */
__attribute__((noinline)) static pid_t start_one(struct command *command, const int in[2], const int out[2]) {
    pid_t here = getpid(), child = vfork();
    if (child != 0)
        return child;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != here || dup2(in[0], STDIN_FILENO) < 0 ||
        dup2(out[1], STDOUT_FILENO) < 0)
        _exit(127);
    struct process_time before = process_time_now();
    char *at = write_number(command->before, before.cpu_ns);
    *at++ = ',';
    *write_number(at, before.wall_ns) = '\0';
    execv(self, command->words);
    _exit(127);
}

/* False: nothing, or not all of it, came in time. */
static bool read_started(int from, unsigned longest_s, struct started *out) {
    uint64_t deadline_ns = real_clock.wall_ns() + longest_s * SECOND_NS, now_ns;
    size_t have = 0;
    while (have < sizeof *out && (now_ns = real_clock.wall_ns()) < deadline_ns) {
        struct pollfd ready = {.fd = from, .events = POLLIN};
        int count = poll(&ready, 1, (int)((deadline_ns - now_ns) / 1000000) + 1);
        if (count < 0 && errno != EINTR)
            return false;
        if (count <= 0)
            continue;
        ssize_t got = read(from, (char *)out + have, sizeof *out - have);
        if (got <= 0)
            return false;
        have += (size_t)got;
    }
    return have == sizeof *out;
}

static bool ended_well(pid_t process, bool reported, unsigned longest_s, struct started *out,
                       struct fault *fault) {
    int status = 0;
    if (!reported)
        kill(process, SIGKILL); /* it may have ended by itself, and is a zombie then */
    while (waitpid(process, &status, 0) < 0 && errno == EINTR)
        ;
    if (reported && !out->good) {
        *fault = out->fault;
        return false;
    }
    if (reported && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
        return fault_set(fault, FAULT_ERROR, "a process that starts was ended by signal %d",
                         WTERMSIG(status));
    return fault_set(fault, FAULT_ERROR, "a process did not start: it ended with status %d, or took %u s",
                     WIFEXITED(status) ? WEXITSTATUS(status) : -1, longest_s);
}

static void close_both(const int ends[2]) {
    for (int i = 0; i < 2; i++) {
        if (ends[i] >= 0)
            close(ends[i]);
    }
}

static bool start_with(struct command *command, const char *setup_line, int in[2], int out[2],
                       struct started *started, struct fault *fault) {
    size_t length = strlen(setup_line);
    /* A pipe takes a whole line, so this does not wait. */
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0 ||
        write(in[1], setup_line, length) != (ssize_t)length || write(in[1], "\n", 1) != 1)
        return fault_set(fault, FAULT_ERROR, "no pipe to a process that starts");
    pid_t process = start_one(command, in, out);
    if (process < 0)
        return fault_set(fault, FAULT_ERROR, "no process could be made");
    close(out[1]);
    out[1] = -1;
    bool reported = read_started(out[0], command->longest_s, started);
    return ended_well(process, reported, command->longest_s, started, fault);
}

static bool check(const struct prepared *p, struct fault *fault) {
    const struct tls_case *c = &p->tls_case;
    if (c->roles != ROLES_BOTH)
        return fault_set(fault, FAULT_ERROR, "a start needs roles=both");
    if (c->threads > 1)
        return fault_set(fault, FAULT_ERROR, "a start takes no threads");
    return c->context == CONTEXT_SHARED ||
           fault_set(fault, FAULT_ERROR, "a start needs context=shared: it has one of each side");
}

bool start_processes(const struct prepared *p, const char *setup_line, uint64_t processes, struct start *out,
                     struct fault *fault) {
    static struct command command;
    *out = (struct start){0};
    if (!check(p, fault) || !read_command(&command, fault))
        return false;
    if ((out->each = calloc(processes, sizeof *out->each)) == NULL)
        return fault_set(fault, FAULT_ERROR, "out of memory");
    command.longest_s = LONGEST_START_S + p->tls_case.server_names / NAMES_A_SECOND;
    bool good = true;
    while (good && out->processes < processes) {
        int in[2] = {-1, -1}, from[2] = {-1, -1};
        good = start_with(&command, setup_line, in, from, &out->each[out->processes], fault);
        close_both(in);
        close_both(from);
        out->processes += good;
    }
    return good;
}

void start_free(struct start *start) {
    free(start->each);
    start->each = NULL;
}
