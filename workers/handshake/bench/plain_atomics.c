/* What `atomics` is compared with: atomic operations of OpenSSL handshakes, sharing no code with the worker.
 * A debugger steps through the program by ptrace, an instruction at a time, and objdump says what is atomic
 * and where.
 *
 *   plain_atomics CERTIFICATE KEY HANDSHAKES
 *
 * Two threads make so many handshakes each, in turn, after some that do not count. TLS 1.3, AES-128-GCM,
 * X25519, ECDSA P-256, no tickets, no verification; both sides in one thread over a pair of memory BIOs, made
 * and freed for each. Prints, for one handshake: all atomic operations, those on addresses that both threads
 * changed, and those on the address with most of these. A handshake takes millions of steps. x86-64. */
#include <openssl/ssl.h>

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 2, WARM_UP = 10, SITES_MAX = 4096, OPERATIONS_MAX = 1 << 20, LONGEST = 15 };

static SSL_CTX *client_ctx, *server_ctx;
static pthread_barrier_t turn;
static int handshakes;

static void die(const char *what) {
    fprintf(stderr, "plain_atomics: %s\n", what);
    exit(1);
}

/* --- The program that is stepped. --- */

static int accept_any(X509_STORE_CTX *store, void *argument) {
    (void)store, (void)argument;
    return 1;
}

static SSL_CTX *make_context(void) {
    SSL_CTX *ctx = SSL_CTX_new(TLS_method());
    if (ctx == NULL || !SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) ||
        !SSL_CTX_set_ciphersuites(ctx, "TLS_AES_128_GCM_SHA256") ||
        !SSL_CTX_set1_groups_list(ctx, "X25519") || !SSL_CTX_set1_sigalgs_list(ctx, "ECDSA+SHA256"))
        die("configuration");
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(ctx, 0);
    SSL_CTX_set_mode(ctx, SSL_MODE_NO_AUTO_CHAIN);
    SSL_CTX_set_cert_verify_callback(ctx, accept_any, NULL);
    return ctx;
}

static void handshake(void) {
    SSL *client = SSL_new(client_ctx), *server = SSL_new(server_ctx);
    BIO *client_bio = NULL, *server_bio = NULL;
    int client_done = 0, server_done = 0;
    if (client == NULL || server == NULL || !BIO_new_bio_pair(&client_bio, 0, &server_bio, 0))
        die("objects");
    SSL_set_bio(client, client_bio, client_bio);
    SSL_set_bio(server, server_bio, server_bio);
    SSL_set_connect_state(client);
    SSL_set_accept_state(server);
    for (int i = 0; i < 32 && !(client_done && server_done); i++) {
        client_done = client_done || SSL_do_handshake(client) == 1;
        server_done = server_done || SSL_do_handshake(server) == 1;
    }
    if (!client_done || !server_done)
        die("handshake");
    SSL_free(client);
    SSL_free(server);
}

/* Between two of these the debugger steps. */
static void mark(void) {
    __asm__ volatile("int3");
}

static void *work(void *number) {
    for (int i = 0; i < WARM_UP; i++)
        handshake();
    for (int i = 0; i < THREADS * handshakes; i++) {
        pthread_barrier_wait(&turn);
        if (i % THREADS == *(int *)number) {
            mark();
            handshake();
            mark();
        }
        pthread_barrier_wait(&turn);
    }
    return NULL;
}

static void stepped(char **argv) {
    pthread_t threads[THREADS];
    int numbers[THREADS];
    client_ctx = make_context();
    server_ctx = make_context();
    if (SSL_CTX_use_certificate_file(server_ctx, argv[1], SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_use_PrivateKey_file(server_ctx, argv[2], SSL_FILETYPE_PEM) != 1)
        die("material");
    pthread_barrier_init(&turn, NULL, THREADS);
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0 || raise(SIGSTOP) != 0)
        die("ptrace");
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, work, &numbers[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    exit(0);
}

/* --- The debugger. --- */

/* An instruction that objdump was asked about. */
static struct site {
    unsigned long long at;
    int atomic;
    unsigned long long next; /* instruction */
    char operand[64];        /* `%fs:0x10(%rax,%rcx,4)` */
} sites[SITES_MAX];
static int known;

static struct operation {
    unsigned long long address;
    int thread;
} operations[OPERATIONS_MAX];
static int used;

static const struct site *ask(unsigned long long at, const unsigned char *bytes) {
    for (int i = 0; i < known; i++)
        if (sites[i].at == at)
            return &sites[i];
    struct site *site = &sites[known++];
    char path[] = "/tmp/plain_atomics.XXXXXX", command[256], line[256];
    int file = mkstemp(path), length = 0;
    if (known == SITES_MAX || file < 0 || write(file, bytes, LONGEST) != LONGEST)
        die("too many sites");
    close(file);
    snprintf(command, sizeof command,
             "objdump -D -b binary -m i386:x86-64 --insn-width=15 --adjust-vma=0x%llx %s", at, path);
    FILE *dump = popen(command, "r");
    site->at = at;
    while (fgets(line, sizeof line, dump) != NULL && strchr(line, '\t') == NULL)
        ;
    pclose(dump);
    unlink(path);
    char *text = strrchr(line, '\t'), *open = text == NULL ? NULL : strchr(text, '(');
    if (text == NULL || (strstr(text, "lock ") == NULL &&
                         (strstr(text, "xchg") == NULL || (open == NULL && strstr(text, "%fs:") == NULL)))) {
        return site;
    }
    for (const char *byte = strchr(line, '\t') + 1; byte[0] != ' ' && byte < text; byte += 3)
        length++;
    site->atomic = 1;
    site->next = at + (unsigned long long)length;
    /* The operand in memory is the only one with a bracket, or with a segment. */
    char *from = strstr(text, "%fs:") != NULL ? strstr(text, "%fs:") : open;
    while (from > text && from[-1] != ',' && from[-1] != ' ')
        from--;
    snprintf(site->operand, sizeof site->operand, "%.*s",
             (int)(strchr(from, '(') != NULL ? strchr(from, ')') - from + 1 : (long)strcspn(from, ", \n#")),
             from);
    return site;
}

static unsigned long long value(const char *name, size_t length, const struct user_regs_struct *r,
                                const struct site *site) {
    const struct {
        const char *name;
        unsigned long long value;
    } all[] = {{"rax", r->rax}, {"rbx", r->rbx},    {"rcx", r->rcx}, {"rdx", r->rdx}, {"rsi", r->rsi},
               {"rdi", r->rdi}, {"rbp", r->rbp},    {"rsp", r->rsp}, {"r8", r->r8},   {"r9", r->r9},
               {"r10", r->r10}, {"r11", r->r11},    {"r12", r->r12}, {"r13", r->r13}, {"r14", r->r14},
               {"r15", r->r15}, {"rip", site->next}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strlen(all[i].name) == length && strncmp(all[i].name, name, length) == 0)
            return all[i].value;
    fprintf(stderr, "%s\n", site->operand);
    die("an operand with another register");
    return 0;
}

static unsigned long long address_of(const struct site *site, const struct user_regs_struct *r) {
    const char *at = site->operand;
    unsigned long long sum = 0;
    if (strncmp(at, "%fs:", 4) == 0) {
        sum = r->fs_base;
        at += 4;
    }
    if (*at != '(')
        sum += *at == '-' ? 0 - strtoull(at + 1, NULL, 16) : strtoull(at, NULL, 16);
    if ((at = strchr(at, '(')) == NULL)
        return sum;
    if (*++at == '%') {
        size_t length = strcspn(++at, ",)");
        sum += value(at, length, r, site);
        at += length;
    }
    if (*at != ',')
        return sum;
    at += 2;
    size_t length = strcspn(at, ",)");
    return sum + value(at, length, r, site) * (at[length] == ',' ? strtoull(at + length + 1, NULL, 10) : 1);
}

/* Whether it is worth asking: nearly no other instruction has these first bytes. */
static int may_be_atomic(const unsigned char *byte) {
    while (strchr("\x66\x67\xF2\xF3\x2E\x36\x3E\x26\x64\x65", *byte) != NULL || (*byte & 0xF0) == 0x40)
        byte++;
    return *byte == 0xF0 || *byte == 0x86 || *byte == 0x87;
}

/* From one mark to the next. */
static void step(pid_t process, pid_t thread, int number) {
    for (;;) {
        struct user_regs_struct registers;
        unsigned char bytes[LONGEST + 1] = {0};
        int status;
        if (ptrace(PTRACE_SINGLESTEP, thread, NULL, NULL) != 0 ||
            waitpid(thread, &status, __WALL) != thread || !WIFSTOPPED(status) ||
            ptrace(PTRACE_GETREGS, thread, NULL, &registers) != 0)
            die("a step");
        struct iovec here = {bytes, LONGEST}, there = {(void *)registers.rip, LONGEST};
        if (process_vm_readv(process, &here, 1, &there, 1, 0) <= 0)
            die("reading code");
        if (bytes[0] == 0xCC) /* the next mark */
            return;
        if (!may_be_atomic(bytes))
            continue;
        const struct site *site = ask(registers.rip, bytes);
        if (site->atomic) {
            if (used == OPERATIONS_MAX)
                die("too many operations");
            operations[used++] = (struct operation){address_of(site, &registers), number};
        }
    }
}

static int by_address(const void *left, const void *right) {
    const struct operation *a = left, *b = right;
    return a->address < b->address ? -1 : a->address > b->address;
}

int main(int argc, char **argv) {
    if (argc != 4 || (handshakes = atoi(argv[3])) < 1)
        die("usage: plain_atomics CERTIFICATE KEY HANDSHAKES");
    pid_t process = fork();
    if (process == 0)
        stepped(argv);
    int status, marks = 0;
    if (waitpid(process, &status, 0) != process ||
        ptrace(PTRACE_SETOPTIONS, process, NULL, PTRACE_O_TRACECLONE) != 0)
        die("ptrace");
    ptrace(PTRACE_CONT, process, NULL, NULL);
    for (pid_t thread; (thread = waitpid(-1, &status, __WALL)) > 0;) {
        if (!WIFSTOPPED(status))
            continue;
        int sent = WSTOPSIG(status);
        if (sent == SIGTRAP && status >> 16 == 0) {
            int number = marks++ % THREADS;
            step(process, thread, number);
            struct user_regs_struct registers;
            ptrace(PTRACE_GETREGS, thread, NULL, &registers);
            registers.rip++; /* over the second mark */
            ptrace(PTRACE_SETREGS, thread, NULL, &registers);
            sent = 0;
        }
        ptrace(PTRACE_CONT, thread, NULL, (void *)(intptr_t)(sent == SIGTRAP || sent == SIGSTOP ? 0 : sent));
    }
    qsort(operations, (size_t)used, sizeof *operations, by_address);
    int shared = 0, busiest = 0;
    for (int from = 0, to; from < used; from = to) {
        int seen = 0;
        for (to = from; to < used && operations[to].address == operations[from].address; to++)
            seen |= 1 << operations[to].thread;
        if (seen == (1 << THREADS) - 1) {
            shared += to - from;
            busiest = to - from > busiest ? to - from : busiest;
        }
    }
    double count = THREADS * handshakes;
    printf("%.2f %.2f %.2f\n", used / count, shared / count, busiest / count);
    return 0;
}
