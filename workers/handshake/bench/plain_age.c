/* What `make bench` sets an ageing context beside: connections of TLS 1.2 that resume one session by its id,
 * or full ones whose sessions stay in the server's cache, one after the other on one pair of contexts. It
 * shares no code with the worker and knows nothing of the preloaded counter: OpenSSL's own allocation
 * functions tell its heap, and one reading of the CPU clock a point its time.
 *
 *   plain_age CIPHER GROUPS SIGNATURE CERTIFICATE KEY resumed|cached CONNECTIONS POINTS time|heap
 *
 * It prints the CPU time of a connection in the first fifth of the points without the very first, and in the
 * last one (medians), or with `heap` the live bytes at the first and the last point and what a
 * connection of the second half left, as one line of JSON. */
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { QUEUE = 65536, MOST_POINTS = 1000, MOST_TURNS = 8 };

static void die(const char *what) {
    fprintf(stderr, "plain_age: %s\n", what);
    ERR_print_errors_fp(stderr);
    exit(1);
}

static long live;

static void *note(void *block) {
    live += block == NULL ? 0 : (long)malloc_usable_size(block);
    return block;
}

static void *note_malloc(size_t size, const char *file, int line) {
    (void)file, (void)line;
    return note(malloc(size));
}

static void note_free(void *block, const char *file, int line) {
    (void)file, (void)line;
    live -= (long)malloc_usable_size(block);
    free(block);
}

static void *note_realloc(void *block, size_t size, const char *file, int line) {
    (void)file, (void)line;
    live -= (long)malloc_usable_size(block);
    return note(realloc(block, size));
}

/* --- Two queues between the sides; a BIO's data is the one that it writes. --- */

struct queue {
    size_t first, last;
    char bytes[QUEUE];
};
static struct queue to_server, to_client;

static int queue_write(BIO *bio, const char *data, int length) {
    struct queue *queue = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (length <= 0 || (size_t)length > QUEUE - queue->last)
        return -1;
    memcpy(queue->bytes + queue->last, data, (size_t)length);
    queue->last += (size_t)length;
    return length;
}

static int queue_read(BIO *bio, char *data, int room) {
    struct queue *queue = BIO_get_data(bio) == &to_server ? &to_client : &to_server;
    size_t waiting = queue->last - queue->first, taken = waiting < (size_t)room ? waiting : (size_t)room;
    BIO_clear_retry_flags(bio);
    if (taken == 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    memcpy(data, queue->bytes + queue->first, taken);
    queue->first += taken;
    if (queue->first == queue->last)
        queue->first = queue->last = 0;
    return (int)taken;
}

static long queue_control(BIO *bio, int command, long number, void *pointer) {
    (void)bio, (void)number, (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static BIO_METHOD *method;
static SSL_CTX *client_context, *server_context;
static SSL_SESSION *session;
static int resumes;

static int accept_any(X509_STORE_CTX *store, void *argument) {
    (void)store, (void)argument;
    return 1;
}

static SSL_CTX *make_context(char **argv) {
    SSL_CTX *ctx = SSL_CTX_new(TLS_method());
    if (ctx == NULL || !SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) ||
        !SSL_CTX_set_max_proto_version(ctx, TLS1_2_VERSION) || !SSL_CTX_set_cipher_list(ctx, argv[1]) ||
        !SSL_CTX_set1_groups_list(ctx, argv[2]) || !SSL_CTX_set1_sigalgs_list(ctx, argv[3]))
        die("context");
    SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_SERVER);
    SSL_CTX_set_timeout(ctx, 86400);
    SSL_CTX_set_cert_verify_callback(ctx, accept_any, NULL);
    return ctx;
}

static SSL *make_side(SSL_CTX *ctx, struct queue *writes) {
    SSL *ssl = SSL_new(ctx);
    BIO *bio = BIO_new(method);
    if (ssl == NULL || bio == NULL)
        die("objects");
    BIO_set_data(bio, writes);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl, bio, bio);
    return ssl;
}

static int turn(SSL *ssl) {
    int result = SSL_do_handshake(ssl);
    if (result != 1 && SSL_get_error(ssl, result) != SSL_ERROR_WANT_READ)
        die("handshake");
    return result == 1;
}

static void connection(void) {
    SSL *client = make_side(client_context, &to_server), *server = make_side(server_context, &to_client);
    int client_done = 0, server_done = 0;
    SSL_set_connect_state(client);
    SSL_set_accept_state(server);
    if (session != NULL && SSL_set_session(client, session) != 1)
        die("session");
    for (int i = 0; i < MOST_TURNS && !(client_done && server_done); i++) {
        client_done = client_done || turn(client);
        server_done = server_done || turn(server);
    }
    if (!client_done || !server_done || SSL_session_reused(client) != (session != NULL))
        die("the handshake resumes, or does not");
    if (resumes && session == NULL)
        session = SSL_get1_session(client);
    SSL_set_shutdown(client, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_set_shutdown(server, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(client);
    SSL_free(server);
}

static double cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int ascending(const void *one, const void *other) {
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

static double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, ascending);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

int main(int argc, char **argv) {
    static double each_ns[MOST_POINTS];
    long connections = argc == 10 ? atol(argv[7]) : 0, first_live = 0, middle_live = 0;
    int points = argc == 10 ? atoi(argv[8]) : 0;
    if (points < 10 || points > MOST_POINTS || connections < points)
        die("usage: plain_age CIPHER GROUPS SIGNATURE CERTIFICATE KEY resumed|cached CONNECTIONS POINTS "
            "time|heap");
    int heap = strcmp(argv[9], "heap") == 0;
    resumes = strcmp(argv[6], "resumed") == 0;
    if (heap && !CRYPTO_set_mem_functions(note_malloc, note_realloc, note_free))
        die("OpenSSL has allocated before");
    method = BIO_meth_new(BIO_TYPE_SOURCE_SINK | BIO_get_new_index(), "queue");
    if (method == NULL || !BIO_meth_set_write(method, queue_write) ||
        !BIO_meth_set_read(method, queue_read) || !BIO_meth_set_ctrl(method, queue_control))
        die("BIO method");
    client_context = make_context(argv);
    server_context = make_context(argv);
    if (SSL_CTX_use_certificate_chain_file(server_context, argv[4]) != 1 ||
        SSL_CTX_use_PrivateKey_file(server_context, argv[5], SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_set_session_id_context(server_context, (const unsigned char *)"plain", 5) != 1)
        die("material");
    connection(); /* the full handshake */
    for (int point = 0, made = 0; point < points; point++) {
        int until = (int)(connections * (point + 1) / points), before = made;
        double start = cpu_ns();
        for (; made < until; made++)
            connection();
        each_ns[point] = (cpu_ns() - start) / (until - before);
        first_live = point == 0 ? live : first_live;
        middle_live = point == points / 2 - 1 ? live : middle_live;
    }
    int end = points / 5;
    if (heap)
        printf("{\"young_heap_bytes\": %ld, \"old_heap_bytes\": %ld, \"growth_bytes\": %.4f}\n", first_live,
               live, (double)(live - middle_live) / (double)(connections - connections / 2));
    else
        printf("{\"young_cpu_ns\": %.0f, \"old_cpu_ns\": %.0f}\n", median(each_ns + 1, end - 1),
               median(each_ns + points - end, end));
    return 0;
}
