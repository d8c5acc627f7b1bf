/* The comparison that `make bench` sets the worker's threads beside: OpenSSL handshakes in threads of its
 * own, sharing no code with the worker. The threads are made once.
 *
 *   plain_threads CERTIFICATE KEY THREADS shared|pool|library [CPU...]
 *
 * They share a client's and a server's context, or as many such pairs as a quarter of them and at least two,
 * or each thread has a pair in a library context of its own.
 *
 * With as many CPUs as threads each keeps one to itself; with none the threads go where the kernel puts them.
 * TLS 1.3, AES-128-GCM, X25519, ECDSA P-256, no tickets, no verification; both sides in one thread over a
 * pair of memory BIOs, made and freed for each handshake.
 *
 * For each line on standard input, a number of nanoseconds, all threads make one handshake that does not
 * count, wait for each other, and make handshakes for at least as long. It prints their number, and the sum
 * of the threads' rates a second. */
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_THREADS = 1024 };

struct pair {
    SSL_CTX *client, *server;
};
static struct pair pairs[MOST_THREADS];
static pthread_barrier_t begins, ready, ends;
static long long turn_ns;
static struct worker {
    pthread_t thread;
    const struct pair *pair;
    int cpu; /* -1: any */
    long long handshakes;
    double rate;
} workers[MOST_THREADS];

static void die(const char *what) {
    fprintf(stderr, "plain_threads: %s\n", what);
    ERR_print_errors_fp(stderr);
    exit(1);
}

static long long now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static int accept_any(X509_STORE_CTX *store, void *argument) {
    (void)store, (void)argument;
    return 1;
}

#if OPENSSL_VERSION_NUMBER >= 0x30000000L
#define new_context(library) SSL_CTX_new_ex(library, NULL, TLS_method())
#define new_library OSSL_LIB_CTX_new
#else
typedef void OSSL_LIB_CTX;
#define new_context(library) ((void)(library), SSL_CTX_new(TLS_method()))
static OSSL_LIB_CTX *new_library(void) {
    die("this version has no library contexts");
    return NULL;
}
#endif

static SSL_CTX *make_context(OSSL_LIB_CTX *library) {
    SSL_CTX *ctx = new_context(library);
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

static void make_pair(struct pair *pair, OSSL_LIB_CTX *library, const char *certificate, const char *key) {
    pair->client = make_context(library);
    pair->server = make_context(library);
    if (SSL_CTX_use_certificate_file(pair->server, certificate, SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_use_PrivateKey_file(pair->server, key, SSL_FILETYPE_PEM) != 1)
        die("material");
}

static void handshake(const struct pair *pair) {
    SSL *client = SSL_new(pair->client), *server = SSL_new(pair->server);
    BIO *client_bio = NULL, *server_bio = NULL;
    int client_done = 0, server_done = 0;
    if (client == NULL || server == NULL || !BIO_new_bio_pair(&client_bio, 0, &server_bio, 0))
        die("objects");
    SSL_set_bio(client, client_bio, client_bio);
    SSL_set_bio(server, server_bio, server_bio);
    SSL_set_connect_state(client);
    SSL_set_accept_state(server);
    for (int turn = 0; turn < 32 && !(client_done && server_done); turn++) {
        client_done = client_done || SSL_do_handshake(client) == 1;
        server_done = server_done || SSL_do_handshake(server) == 1;
    }
    if (!client_done || !server_done || SSL_session_reused(client))
        die("handshake");
    SSL_free(client);
    SSL_free(server);
}

static void *work(void *argument) {
    struct worker *own = argument;
    if (own->cpu >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET((size_t)own->cpu, &set);
        if (sched_setaffinity(0, sizeof set, &set) != 0)
            die("pinning");
    }
    for (;;) {
        pthread_barrier_wait(&begins);
        handshake(own->pair);
        pthread_barrier_wait(&ready);
        long long start = now_ns(), now = start, handshakes = 0;
        while (now - start < turn_ns) {
            handshake(own->pair);
            handshakes++;
            now = now_ns();
        }
        own->handshakes = handshakes;
        own->rate = 1e9 * (double)handshakes / (double)(now - start);
        pthread_barrier_wait(&ends);
    }
    return NULL;
}

int main(int argc, char **argv) {
    char line[64];
    int threads = argc < 4 ? 0 : atoi(argv[3]);
    if (threads < 1 || threads > MOST_THREADS || (argc != 5 && argc != 5 + threads))
        die("usage: plain_threads CERTIFICATE KEY THREADS shared|pool|library [CPU...]");
    int has_pool = strcmp(argv[4], "pool") == 0, has_libraries = strcmp(argv[4], "library") == 0;
    int quarter = threads < 8 ? 2 : threads / 4, count = has_libraries ? threads : has_pool ? quarter : 1;
    for (int i = 0; i < count; i++)
        make_pair(&pairs[i], has_libraries ? new_library() : NULL, argv[1], argv[2]);
    pthread_barrier_init(&begins, NULL, (unsigned)threads + 1);
    pthread_barrier_init(&ready, NULL, (unsigned)threads);
    pthread_barrier_init(&ends, NULL, (unsigned)threads + 1);
    for (int i = 0; i < threads; i++) {
        workers[i].cpu = argc == 5 ? -1 : atoi(argv[5 + i]);
        workers[i].pair = &pairs[i % count];
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
            die("threads");
    }
    while (fgets(line, sizeof line, stdin) != NULL) {
        long long handshakes = 0;
        double rate = 0;
        turn_ns = atoll(line);
        pthread_barrier_wait(&begins);
        pthread_barrier_wait(&ends);
        for (int i = 0; i < threads; i++) {
            handshakes += workers[i].handshakes;
            rate += workers[i].rate;
        }
        printf("%lld %.3f\n", handshakes, rate);
        fflush(stdout);
    }
    return 0; /* the threads end with the process */
}
