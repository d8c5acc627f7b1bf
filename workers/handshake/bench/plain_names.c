/* What servers with many names are set beside: TLS 1.3 with X25519 and ECDSA P-256 on a server that has an
 * SSL_CTX for each name, each with key and chain from the files, and finds the one that a client asks for in
 * a hash table. It shares no code with the worker.
 *
 *   plain_names CERTIFICATE KEY NAMES CONNECTIONS time|heap
 *
 * It prints the CPU time of all contexts without and of their keys, that of a connection with its objects
 * (without the very first), and with `heap` the live bytes before that, as one line of JSON. With one name
 * clients ask for none. */
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { QUEUE = 65536, SLOTS = 32768, MOST_NAMES = 10000 };

static void die(const char *what) {
    fprintf(stderr, "plain_names: %s\n", what);
    ERR_print_errors_fp(stderr);
    exit(1);
}

static double cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static long live;

static void *counted(void *block) {
    live += block == NULL ? 0 : (long)malloc_usable_size(block);
    return block;
}

static void *count_malloc(size_t size, const char *file, int line) {
    (void)file, (void)line;
    return counted(malloc(size));
}

static void count_free(void *block, const char *file, int line) {
    (void)file, (void)line;
    live -= (long)malloc_usable_size(block);
    free(block);
}

static void *count_realloc(void *block, size_t size, const char *file, int line) {
    (void)file, (void)line;
    live -= (long)malloc_usable_size(block);
    return counted(realloc(block, size));
}

/* --- The queues between both sides. --- */

static struct queue {
    size_t first, last;
    char bytes[QUEUE];
} queues[2]; /* by who writes */

static int queue_write(BIO *bio, const char *data, int length) {
    struct queue *queue = BIO_get_data(bio);
    if (length <= 0 || (size_t)length > QUEUE - queue->last)
        return -1;
    memcpy(queue->bytes + queue->last, data, (size_t)length);
    queue->last += (size_t)length;
    return length;
}

static int queue_read(BIO *bio, char *data, int room) {
    struct queue *queue = BIO_get_data(bio) == &queues[0] ? &queues[1] : &queues[0];
    size_t waiting = queue->last - queue->first, taken = waiting < (size_t)room ? waiting : (size_t)room;
    BIO_clear_retry_flags(bio);
    if (taken == 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    memcpy(data, queue->bytes + queue->first, taken);
    queue->first += taken;
    return (int)taken;
}

static long queue_control(BIO *bio, int command, long number, void *pointer) {
    (void)bio, (void)number, (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static BIO_METHOD *method;

/* --- The hosts, in a hash table with open addresses. --- */

static struct host {
    char name[40];
    SSL_CTX *context;
} hosts[SLOTS];

static struct host *slot_of(const char *name) {
    unsigned hash = 2166136261u;
    for (const char *c = name; *c != '\0'; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    struct host *slot = &hosts[hash % SLOTS];
    while (slot->context != NULL && strcmp(slot->name, name) != 0)
        slot = slot == &hosts[SLOTS - 1] ? hosts : slot + 1;
    return slot;
}

static const char *name_of(unsigned number) {
    static char name[40];
    snprintf(name, sizeof name, "name-%05u.kexbench.invalid", number);
    return name;
}

static int by_name(SSL *ssl, int *alert, void *argument) {
    (void)alert, (void)argument;
    const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    SSL_CTX *context = name == NULL ? NULL : slot_of(name)->context;
    if (context == NULL)
        die("no such host");
    return SSL_set_SSL_CTX(ssl, context) != NULL ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

static int any(X509_STORE_CTX *store, void *argument) {
    (void)store, (void)argument;
    return 1;
}

static double contexts_ns, keys_ns;

static SSL_CTX *make_context(const char *certificate, const char *key) {
    double begun = cpu_ns();
    SSL_CTX *ctx = SSL_CTX_new(TLS_method());
    if (ctx == NULL || SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) != 1 ||
        SSL_CTX_set_max_proto_version(ctx, TLS1_3_VERSION) != 1 ||
        SSL_CTX_set_ciphersuites(ctx, "TLS_AES_128_GCM_SHA256") != 1 ||
        SSL_CTX_set1_groups_list(ctx, certificate == NULL ? "X25519:P-256" : "X25519") != 1 ||
        SSL_CTX_set1_sigalgs_list(ctx, "ecdsa_secp256r1_sha256") != 1 || SSL_CTX_set_num_tickets(ctx, 0) != 1)
        die("no context");
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
    SSL_CTX_set_cert_verify_callback(ctx, any, NULL);
    double made = cpu_ns();
    if (certificate != NULL && (SSL_CTX_use_certificate_chain_file(ctx, certificate) != 1 ||
                                SSL_CTX_use_PrivateKey_file(ctx, key, SSL_FILETYPE_PEM) != 1))
        die("no key");
    contexts_ns += made - begun;
    keys_ns += cpu_ns() - made;
    return ctx;
}

static SSL *side(SSL_CTX *ctx, int who) {
    SSL *ssl = SSL_new(ctx);
    BIO *bio = BIO_new(method);
    if (ssl == NULL || bio == NULL)
        die("no object");
    queues[who].first = queues[who].last = 0;
    BIO_set_data(bio, &queues[who]);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl, bio, bio);
    return ssl;
}

static void connect_once(SSL_CTX *clients, SSL_CTX *server, unsigned names, unsigned number) {
    SSL *ssl[2] = {side(clients, 0), side(server, 1)};
    SSL_set_connect_state(ssl[0]);
    SSL_set_accept_state(ssl[1]);
    if (names > 1 && SSL_set_tlsext_host_name(ssl[0], name_of(number)) != 1)
        die("no name");
    for (int turn = 0; turn < 4; turn++)
        SSL_do_handshake(ssl[turn % 2]);
    if (!SSL_is_init_finished(ssl[0]) || !SSL_is_init_finished(ssl[1]))
        die("no handshake");
    if (names > 1 && SSL_get_SSL_CTX(ssl[1]) != slot_of(name_of(number))->context)
        die("another host");
    SSL_free(ssl[0]);
    SSL_free(ssl[1]);
}

int main(int argc, char **argv) {
    unsigned names = argc == 6 ? (unsigned)atoi(argv[3]) : 0,
             connections = argc == 6 ? (unsigned)atoi(argv[4]) : 0;
    if (names < 1 || names > MOST_NAMES || connections < 2)
        die("CERTIFICATE KEY NAMES CONNECTIONS time|heap");
    if (strcmp(argv[5], "heap") == 0 &&
        CRYPTO_set_mem_functions(count_malloc, count_realloc, count_free) != 1)
        die("OpenSSL has allocated before");
    if (!OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, NULL))
        die("OpenSSL did not start");
    method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "queue");
    BIO_meth_set_write(method, queue_write);
    BIO_meth_set_read(method, queue_read);
    BIO_meth_set_ctrl(method, queue_control);
    SSL_CTX *clients = make_context(NULL, NULL), *server = NULL;
    for (unsigned i = 0; i < names; i++) {
        SSL_CTX *context = make_context(argv[1], argv[2]);
        struct host *slot = slot_of(name_of(i));
        strcpy(slot->name, name_of(i));
        slot->context = context;
        server = i == 0 ? context : server;
    }
    if (names > 1)
        SSL_CTX_set_tlsext_servername_callback(server, by_name);
    long heap = live;
    connect_once(clients, server, names, names / 2);
    printf("{\"contexts_ns\": %.0f, \"keys_ns\": %.0f, \"heap_bytes\": %ld}\n", contexts_ns, keys_ns, heap);
    fflush(stdout);
    for (unsigned long made = 1; getchar() == '\n'; made += connections) {
        double begun = cpu_ns();
        for (unsigned i = 0; i < connections; i++)
            connect_once(clients, server, names,
                         (unsigned)((names / 2 + (made + i) % names * 2654435761ul) % names));
        printf("{\"connection_ns\": %.0f}\n", (cpu_ns() - begun) / connections);
        fflush(stdout);
    }
    return 0;
}
