/* What the worker's starts are set beside: a program that starts another one again and again and says what
 * its steps took. It shares no code with the worker.
 *
 *   plain_start PROCESSES [LOADER...] PROGRAM CERTIFICATE KEY ANCHORS NAMES    starts PROGRAM so often,
 * which prints a line
 *
 * PROGRAM is this one compiled with -DINSIDE_OPENSSL or -DINSIDE_GNUTLS. It gets the clocks before execve in
 * the environment, and prints CPU microseconds from there to main, to the end of the library's start, of
 * contexts, of keys, of trust anchors and of a handshake in memory, TLS 1.3 with X25519 and ECDSA P-256, then
 * wall microseconds of all of it, bytes read, resident bytes and bytes of the heap. ANCHORS "-": nothing is
 * verified. The server has a context and a key for each of so many NAMES; with one, no name is asked for.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double clock_us(clockid_t id) {
    struct timespec now;
    clock_gettime(id, &now);
    return 1e6 * (double)now.tv_sec + (double)now.tv_nsec / 1e3;
}

static void die(const char *what) {
    fprintf(stderr, "plain_start: %s\n", what);
    exit(1);
}

#if !defined(INSIDE_OPENSSL) && !defined(INSIDE_GNUTLS)

int main(int argc, char **argv) {
    static char before[64] = "BEFORE=";
    char *environment[] = {before, NULL};
    if (argc < 3)
        die("PROCESSES PROGRAM WORDS...");
    for (int left = atoi(argv[1]); left > 0; left--) {
        int status;
        pid_t child = vfork();
        if (child == 0) {
            long cpu_ns = (long)(1e3 * clock_us(CLOCK_PROCESS_CPUTIME_ID));
            sprintf(before, "BEFORE=%ld,%ld", cpu_ns, (long)(1e3 * clock_us(CLOCK_MONOTONIC)));
            execve(argv[2], argv + 2, environment);
            _exit(127);
        }
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
            die("a process did not come to its end");
    }
    return 0;
}

#else

#include "hosts.h"

#include <dlfcn.h>
#include <malloc.h>

/* --- The heap, where the program counts it: compiled with -DCOUNTS. --- */

static long heap_bytes;

#ifdef COUNTS
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void __libc_free(void *block);
void *malloc(size_t size) {
    void *block = __libc_malloc(size);
    heap_bytes += (long)malloc_usable_size(block);
    return block;
}
void *calloc(size_t count, size_t size) {
    void *block = __libc_calloc(count, size);
    heap_bytes += (long)malloc_usable_size(block);
    return block;
}
void *realloc(void *old, size_t size) {
    heap_bytes -= (long)malloc_usable_size(old);
    void *block = __libc_realloc(old, size);
    heap_bytes += (long)malloc_usable_size(block);
    return block;
}
void free(void *block) {
    heap_bytes -= (long)malloc_usable_size(block);
    __libc_free(block);
}
#endif

static long number_in(const char *path, const char *before) {
    char text[1024] = "";
    FILE *file = fopen(path, "r");
    long number = -1;
    if (file == NULL)
        return -1;
    setvbuf(file, NULL, _IONBF, 0);
    size_t length = fread(text, 1, sizeof text - 1, file);
    text[length] = '\0';
    fclose(file);
    const char *at = strstr(text, before);
    if (at != NULL)
        sscanf(at + strlen(before), "%ld", &number);
    return number;
}

enum { LOAD, LIBRARY, CONTEXTS, KEYS, TRUST, HANDSHAKE, STEPS };
static double spent_us[STEPS], last_us;

static void done(int step) {
    double now = clock_us(CLOCK_PROCESS_CPUTIME_ID);
    spent_us[step] += now - last_us;
    last_us = now;
}

/* The first thing in main. Returns the wall clock before execve. */
static double begin(void) {
    double main_us = clock_us(CLOCK_PROCESS_CPUTIME_ID);
    long before_cpu_ns = 0, before_wall_ns = 0;
    sscanf(getenv("BEFORE"), "%ld,%ld", &before_cpu_ns, &before_wall_ns);
    spent_us[LOAD] = main_us - (double)before_cpu_ns / 1e3;
    last_us = clock_us(CLOCK_PROCESS_CPUTIME_ID);
    return (double)before_wall_ns / 1e3;
}

static void report(double begun_us) {
    double wall_us = clock_us(CLOCK_MONOTONIC) - begun_us;
    long heap = heap_bytes, read_bytes = number_in("/proc/self/io", "rchar: "),
         resident = number_in("/proc/self/statm", " ") * sysconf(_SC_PAGESIZE);
    for (int i = 0; i < STEPS; i++)
        printf("%.1f ", spent_us[i]);
    printf("%.1f %ld %ld %ld\n", wall_us, read_bytes, resident, heap);
}

/* What each side writes, for the other to read. */
static struct {
    size_t first, last;
    char bytes[65536];
} sent[2];

static int take(int from, void *data, size_t room) {
    size_t waiting = sent[from].last - sent[from].first, taken = waiting < room ? waiting : room;
    memcpy(data, sent[from].bytes + sent[from].first, taken);
    sent[from].first += taken;
    return (int)taken;
}

static int put(int from, const void *data, size_t length) {
    if (length > sizeof sent[from].bytes - sent[from].last)
        return -1;
    memcpy(sent[from].bytes + sent[from].last, data, length);
    sent[from].last += length;
    return (int)length;
}

enum { CLIENT, SERVER };

static unsigned long names_in(const char *word) {
    unsigned long names = strtoul(word, NULL, 10);
    if (names < 1 || names > MOST_NAMES)
        die("NAMES");
    return names;
}
#endif

#ifdef INSIDE_OPENSSL
#include <openssl/ssl.h>

static int any(X509_STORE_CTX *store, void *argument) {
    (void)store, (void)argument;
    return 1;
}

static int bio_write(BIO *bio, const char *data, int length) {
    return put(BIO_get_data(bio) == &sent[SERVER], data, (size_t)length);
}
static int bio_read(BIO *bio, char *data, int room) {
    int taken = take(BIO_get_data(bio) != &sent[SERVER], data, (size_t)room);
    BIO_clear_retry_flags(bio);
    if (taken == 0)
        BIO_set_retry_read(bio);
    return taken > 0 ? taken : -1;
}
static long bio_control(BIO *bio, int command, long number, void *pointer) {
    (void)bio, (void)number, (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static SSL_CTX *context(int side, const char *certificate, const char *key, const char *anchors) {
    int verifies = side == CLIENT && strcmp(anchors, "-") != 0;
    SSL_CTX *ctx = SSL_CTX_new(TLS_method());
    if (ctx == NULL || SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) != 1 ||
        SSL_CTX_set_max_proto_version(ctx, TLS1_3_VERSION) != 1 ||
        SSL_CTX_set_ciphersuites(ctx, "TLS_AES_128_GCM_SHA256") != 1 ||
        SSL_CTX_set1_groups_list(ctx, "X25519:P-256") != 1 ||
        SSL_CTX_set1_sigalgs_list(ctx, "ecdsa_secp256r1_sha256") != 1 || SSL_CTX_set_num_tickets(ctx, 0) != 1)
        die("no context");
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    if (verifies)
        SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
    else
        SSL_CTX_set_cert_verify_callback(ctx, any, NULL);
    done(CONTEXTS);
    if (side == SERVER && (SSL_CTX_use_certificate_chain_file(ctx, certificate) != 1 ||
                           SSL_CTX_use_PrivateKey_file(ctx, key, SSL_FILETYPE_PEM) != 1))
        die("no key");
    done(KEYS);
    if (side == SERVER)
        return ctx;
    if (verifies && SSL_CTX_load_verify_locations(ctx, anchors, NULL) != 1)
        die("no trust anchors");
    done(TRUST);
    return ctx;
}

static int serve_name(SSL *ssl, int *alert, void *argument) {
    (void)alert, (void)argument;
    const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    SSL_CTX *context = name == NULL ? NULL : slot_of(name)->context;
    if (context == NULL)
        die("no such name");
    return SSL_set_SSL_CTX(ssl, context) != NULL ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

int main(int argc, char **argv) {
    double begun_us = begin();
    if (argc != 5 || !OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, NULL))
        die("OpenSSL did not start");
    BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "plain");
    BIO_meth_set_write(method, bio_write);
    BIO_meth_set_read(method, bio_read);
    BIO_meth_set_ctrl(method, bio_control);
    done(LIBRARY);
    SSL_CTX *contexts[2];
    SSL *ssl[2];
    unsigned long names = names_in(argv[4]);
    for (int side = CLIENT; side <= SERVER; side++)
        contexts[side] = context(side, argv[1], argv[2], argv[3]);
    make_room_for(names);
    for (unsigned long i = 0; names > 1 && i < names; i++)
        add_host(i, i == 0 ? contexts[SERVER] : context(SERVER, argv[1], argv[2], argv[3]), NULL);
    if (names > 1)
        SSL_CTX_set_tlsext_servername_callback(contexts[SERVER], serve_name);
    done(CONTEXTS);
    for (int side = CLIENT; side <= SERVER; side++) {
        BIO *bio = BIO_new(method);
        ssl[side] = SSL_new(contexts[side]);
        BIO_set_data(bio, &sent[side]);
        BIO_set_init(bio, 1);
        SSL_set_bio(ssl[side], bio, bio);
    }
    SSL_set_connect_state(ssl[CLIENT]);
    SSL_set_accept_state(ssl[SERVER]);
    if (strcmp(argv[3], "-") != 0)
        SSL_set1_host(ssl[CLIENT], "kexbench.invalid");
    if (names > 1)
        SSL_set_tlsext_host_name(ssl[CLIENT], name_of(names / 2));
    for (int turn = 0; turn < 6; turn++)
        SSL_do_handshake(ssl[turn % 2]);
    done(HANDSHAKE);
    if (!SSL_is_init_finished(ssl[CLIENT]) || !SSL_is_init_finished(ssl[SERVER]))
        die("no handshake");
    if (names > 1 && SSL_get_SSL_CTX(ssl[SERVER]) != slot_of(name_of(names / 2))->context)
        die("another name's context");
    report(begun_us);
    return 0;
}
#endif

#ifdef INSIDE_GNUTLS
#include <errno.h>
#include <gnutls/gnutls.h>

static const char both[] =
    "NONE:+VERS-TLS1.3:+AES-128-GCM:+AEAD:+SHA256:+GROUP-X25519:+SIGN-ECDSA-SECP256R1-SHA256:"
    "+CTYPE-X509:+ECDHE-ECDSA:+COMP-NULL";
static gnutls_session_t sessions[2];

static ssize_t push(gnutls_transport_ptr_t at, const void *data, size_t length) {
    return put(at == &sent[SERVER], data, length);
}
static ssize_t pull(gnutls_transport_ptr_t at, void *data, size_t room) {
    int side = at == &sent[SERVER], taken = take(!side, data, room);
    if (taken > 0)
        return taken;
    gnutls_transport_set_errno(sessions[side], EAGAIN);
    return -1;
}
static int pull_timeout(gnutls_transport_ptr_t at, unsigned ms) {
    int other = at != &sent[SERVER];
    (void)ms;
    return sent[other].last > sent[other].first;
}

static void make_configuration(int side, char **words, gnutls_priority_t *priority,
                               gnutls_certificate_credentials_t *credentials) {
    gnutls_certificate_allocate_credentials(credentials);
    if (gnutls_priority_init(priority, both, NULL) < 0)
        die("no priorities");
    done(CONTEXTS);
    if (side == SERVER &&
        gnutls_certificate_set_x509_key_file(*credentials, words[1], words[2], GNUTLS_X509_FMT_PEM) < 0)
        die("no key");
    done(KEYS);
    if (side == SERVER)
        return;
    if (strcmp(words[3], "-") != 0 &&
        gnutls_certificate_set_x509_trust_file(*credentials, words[3], GNUTLS_X509_FMT_PEM) <= 0)
        die("no trust anchors");
    done(TRUST);
}

static int serve_name(gnutls_session_t session) {
    char name[sizeof hosts->name];
    size_t size = sizeof name;
    unsigned type;
    if (gnutls_server_name_get(session, name, &size, &type, 0) < 0 || slot_of(name)->context == NULL)
        die("no such name");
    gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, slot_of(name)->key);
    return gnutls_priority_set(session, slot_of(name)->context);
}

GNUTLS_SKIP_GLOBAL_INIT

int main(int argc, char **argv) {
    double begun_us = begin();
    setenv("GNUTLS_SYSTEM_PRIORITY_FILE", "/dev/null", 1);
    if (argc != 5 || gnutls_global_init() < 0)
        die("GnuTLS did not start");
    done(LIBRARY);
    int verifies = strcmp(argv[3], "-") != 0, states[2] = {1, 1};
    unsigned long names = names_in(argv[4]);
    gnutls_certificate_credentials_t credentials[2];
    gnutls_priority_t priorities[2];
    for (int side = CLIENT; side <= SERVER; side++)
        make_configuration(side, argv, &priorities[side], &credentials[side]);
    make_room_for(names);
    for (unsigned long i = 0; names > 1 && i < names; i++) {
        gnutls_certificate_credentials_t own = credentials[SERVER];
        gnutls_priority_t priority = priorities[SERVER];
        if (i > 0)
            make_configuration(SERVER, argv, &priority, &own);
        add_host(i, priority, own);
    }
    done(CONTEXTS);
    for (int side = CLIENT; side <= SERVER; side++) {
        unsigned flags = GNUTLS_NONBLOCK | GNUTLS_NO_TICKETS | GNUTLS_KEY_SHARE_TOP;
        gnutls_init(&sessions[side], flags | (side == CLIENT ? GNUTLS_CLIENT : GNUTLS_SERVER));
        gnutls_priority_set(sessions[side], priorities[side]);
        gnutls_credentials_set(sessions[side], GNUTLS_CRD_CERTIFICATE, credentials[side]);
        if (side == CLIENT && verifies)
            gnutls_session_set_verify_cert(sessions[side], "kexbench.invalid", 0);
        if (side == CLIENT && names > 1)
            gnutls_server_name_set(sessions[side], GNUTLS_NAME_DNS, name_of(names / 2), strlen(name_of(0)));
        if (side == SERVER && names > 1)
            gnutls_handshake_set_post_client_hello_function(sessions[side], serve_name);
        gnutls_transport_set_ptr(sessions[side], &sent[side]);
        gnutls_transport_set_push_function(sessions[side], push);
        gnutls_transport_set_pull_function(sessions[side], pull);
        gnutls_transport_set_pull_timeout_function(sessions[side], pull_timeout);
    }
    for (int turn = 0; turn < 8; turn++) {
        if (states[turn % 2] != 0)
            states[turn % 2] = gnutls_handshake(sessions[turn % 2]);
    }
    done(HANDSHAKE);
    if (states[CLIENT] != 0 || states[SERVER] != 0)
        die("no handshake");
    void *used = NULL;
    if (names > 1 && (gnutls_credentials_get(sessions[SERVER], GNUTLS_CRD_CERTIFICATE, &used) < 0 ||
                      used != slot_of(name_of(names / 2))->key))
        die("another name's credentials");
    report(begun_us);
    return 0;
}
#endif
