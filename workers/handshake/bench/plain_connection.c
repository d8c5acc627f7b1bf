/* What `make bench` checks the parts of a connection with: whole TLS 1.3 connections in a loop that shares no
 * code with the worker. Both sides are in one thread and write to plain buffers.
 *
 *   plain_connection CERTIFICATES KEY TRUST_ANCHORS|- [tickets] [transfer=BYTES] [own-context] [reload=N]
 *                    [names=N]
 *
 * The files are PEM. With TRUST_ANCHORS the client verifies the server's chain and host name. `tickets`: the
 * server sends the library's default tickets, and the client reads them. `transfer`: the server sends so many
 * bytes, then both sides close. `own-context`: each side of each connection loads an SSL_CTX of its own from
 * the files. `reload`: so does the server for every N connections, which share it. `names`: the server has a
 * context for each of so many names, and the client asks for another one in each connection.
 *
 * Each line on standard input is a number of nanoseconds. The program makes connections for at least as long,
 * and at least three, after one that does not count; with `reload`, for whole periods of it. It answers with
 * one line of JSON: how many, the CPU time of the thread in each part of them by side, all wall time, the CPU
 * time of the first one's handshake, and how often the kernel let another program run instead.
 *
 * A cycle counter is read around every call. The CPU time of a part is its share of all cycles, times the CPU
 * time of the whole turn. */
#include "hosts.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { CLIENT, SERVER, SIDES };
enum { OBJECTS, HANDSHAKE, TRANSFER, FINISH, PARTS };
enum { FLIGHT = 65536, QUEUE = 2 * FLIGHT, FEWEST = 3, MOST_CALLS = 100 };

static const char *const side_names[SIDES] = {"client", "server"};
static const char *const part_names[PARTS] = {"objects", "handshake", "transfer", "finish"};

static struct {
    const char *certificates, *key, *trust_anchors; /* no trust anchors: nothing is verified */
    int tickets, own_context;
    unsigned long reload, names;
    size_t transfer_bytes;
} options;

static void die(const char *what) {
    fprintf(stderr, "plain_connection: %s\n", what);
    ERR_print_errors_fp(stderr);
    exit(1);
}

#if OPENSSL_VERSION_NUMBER >= 0x40000000L
#define set_host_name SSL_set1_dnsname
#else
#define set_host_name SSL_set1_host
#endif

static void *allocated(size_t size) {
    void *memory = calloc(1, size);
    if (memory == NULL)
        die("out of memory");
    return memory;
}

/* --- Clocks. --- */

typedef unsigned long long cycles;

static long long now_ns(clockid_t id) {
    struct timespec now;
    clock_gettime(id, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static cycles now(void) {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    cycles counter;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(counter));
    return counter;
#else
    return (cycles)now_ns(CLOCK_MONOTONIC);
#endif
}

static long preemptions(void) {
    struct rusage usage;
    if (getrusage(RUSAGE_THREAD, &usage) != 0)
        die("getrusage");
    return usage.ru_nivcsw;
}

/* --- The transport: what one side sent and the other has not read yet. --- */

struct queue {
    size_t first, last;
    char bytes[QUEUE];
};

/* One side of a connection. */
struct side {
    SSL *ssl;
    struct queue *to, *from;
};

static struct queue *sent[SIDES];

static int queue_write(BIO *bio, const char *data, int length) {
    struct queue *to = ((struct side *)BIO_get_data(bio))->to;
    BIO_clear_retry_flags(bio);
    if (length <= 0 || (size_t)length > QUEUE - to->last)
        return -1;
    memcpy(to->bytes + to->last, data, (size_t)length);
    to->last += (size_t)length;
    return length;
}

static int queue_read(BIO *bio, char *data, int room) {
    struct queue *from = ((struct side *)BIO_get_data(bio))->from;
    int waiting = (int)(from->last - from->first), taken = waiting < room ? waiting : room;
    BIO_clear_retry_flags(bio);
    if (taken <= 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    memcpy(data, from->bytes + from->first, (size_t)taken);
    from->first += (size_t)taken;
    if (from->first == from->last)
        from->first = from->last = 0;
    return taken;
}

static long queue_control(BIO *bio, int command, long number, void *pointer) {
    (void)bio, (void)number, (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static BIO_METHOD *queue_method(void) {
    BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOURCE_SINK | BIO_get_new_index(), "queue");
    if (method == NULL || !BIO_meth_set_write(method, queue_write) ||
        !BIO_meth_set_read(method, queue_read) || !BIO_meth_set_ctrl(method, queue_control))
        die("BIO method");
    return method;
}

/* --- Contexts. --- */

static int accept_any(X509_STORE_CTX *store, void *argument) {
    (void)store, (void)argument;
    return 1;
}

static SSL_CTX *make_context(int side) {
    SSL_CTX *ctx = SSL_CTX_new(side == CLIENT ? TLS_client_method() : TLS_server_method());
    if (ctx == NULL)
        die("SSL_CTX");
    SSL_CTX_set_security_level(ctx, 0);
    SSL_CTX_set_mode(ctx, SSL_MODE_NO_AUTO_CHAIN);
    if (!SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) ||
        !SSL_CTX_set_max_proto_version(ctx, TLS1_3_VERSION) ||
        !SSL_CTX_set_ciphersuites(ctx, "TLS_AES_128_GCM_SHA256") ||
        !SSL_CTX_set1_groups_list(ctx, side == CLIENT ? "X25519:P-256" : "X25519") ||
        !SSL_CTX_set1_sigalgs_list(ctx, "ecdsa_secp256r1_sha256"))
        die("protocol, cipher suite, group or signature");
    if (!options.tickets) {
        SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
        SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
        SSL_CTX_set_num_tickets(ctx, 0);
    }
    if (side == SERVER && (SSL_CTX_use_certificate_chain_file(ctx, options.certificates) != 1 ||
                           SSL_CTX_use_PrivateKey_file(ctx, options.key, SSL_FILETYPE_PEM) != 1 ||
                           SSL_CTX_check_private_key(ctx) != 1))
        die("certificates or key");
    if (side == CLIENT && options.trust_anchors != NULL) {
        SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
        if (SSL_CTX_load_verify_locations(ctx, options.trust_anchors, NULL) != 1)
            die("trust anchors");
    } else {
        SSL_CTX_set_cert_verify_callback(ctx, accept_any, NULL);
    }
    return ctx;
}

static SSL_CTX *shared[SIDES];

/* --- The server's names. The first one's context is the shared one. --- */

static int serve_name(SSL *ssl, int *alert, void *argument) {
    (void)alert, (void)argument;
    const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    SSL_CTX *context = name == NULL ? NULL : slot_of(name)->context;
    if (context == NULL)
        die("no such name");
    return SSL_set_SSL_CTX(ssl, context) != NULL ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

static void make_hosts(void) {
    make_room_for(options.names);
    for (unsigned long i = 0; i < options.names; i++)
        add_host(i, i == 0 ? shared[SERVER] : make_context(SERVER), NULL);
    SSL_CTX_set_tlsext_servername_callback(shared[SERVER], serve_name);
}

/* --- One connection. --- */

static BIO_METHOD *method;
static unsigned long opened;
static const char *asked;        /* NULL: the client names no server */
static char *content, *received; /* FLIGHT bytes each */
static cycles spent[PARTS][SIDES];

static struct side *make_side(int number) {
    if (number == SERVER && options.reload > 0 && opened > 0 && opened % options.reload == 0) {
        SSL_CTX_free(shared[SERVER]);
        shared[SERVER] = make_context(SERVER);
    }
    SSL_CTX *ctx = options.own_context ? make_context(number) : shared[number];
    struct side *side = malloc(sizeof *side);
    BIO *bio = BIO_new(method);
    if (side == NULL || bio == NULL || (side->ssl = SSL_new(ctx)) == NULL)
        die("no side");
    side->to = sent[number];
    side->from = sent[!number];
    if (options.own_context)
        SSL_CTX_free(ctx); /* the SSL holds it from here on */
    BIO_set_data(bio, side);
    BIO_set_init(bio, 1);
    SSL_set_bio(side->ssl, bio, bio);
    if (number == SERVER) {
        SSL_set_accept_state(side->ssl);
        return side;
    }
    SSL_set_connect_state(side->ssl);
    if (options.trust_anchors != NULL && set_host_name(side->ssl, "kexbench.invalid") != 1)
        die("host name");
    if (asked != NULL && SSL_set_tlsext_host_name(side->ssl, asked) != 1)
        die("server name");
    return side;
}

static void free_side(struct side *side) {
    SSL_free(side->ssl);
    free(side);
}

/* 1 when it is done, 0 when it waits for the other side. */
static int went_on(SSL *ssl, int result, const char *what) {
    if (result <= 0 && SSL_get_error(ssl, result) != SSL_ERROR_WANT_READ)
        die(what);
    return result > 0;
}

static void shake_hands(SSL *client, SSL *server) {
    int client_done = 0, server_done = 0;
    for (int call = 0; call < MOST_CALLS && !(client_done && server_done); call++) {
        cycles begin = now();
        if (!client_done)
            client_done = went_on(client, SSL_connect(client), "the client's handshake");
        cycles middle = now();
        if (!server_done)
            server_done = went_on(server, SSL_accept(server), "the server's handshake");
        spent[HANDSHAKE][CLIENT] += middle - begin;
        spent[HANDSHAKE][SERVER] += now() - middle;
    }
    if (!client_done || !server_done)
        die("the handshake does not end");
    if (!options.tickets)
        return;
    char nothing;
    cycles begin = now();
    if (went_on(client, SSL_read(client, &nothing, 1), "reading tickets"))
        die("data without a transfer");
    spent[HANDSHAKE][CLIENT] += now() - begin;
}

/* The client has the server's certificate, a signature with its key, and a key share of X25519. */
static void prove_keys(SSL *client, SSL *server) {
    unsigned char *shown = NULL, *own = NULL;
    X509 *certificate = SSL_get_peer_certificate(client);
    EVP_PKEY *share = NULL;
    int digest = NID_undef, length = i2d_X509(certificate, &shown);
    if (length <= 0 || i2d_X509(SSL_get_certificate(server), &own) != length ||
        memcmp(shown, own, (size_t)length) != 0)
        die("another certificate");
    if (SSL_get_peer_signature_nid(client, &digest) != 1 || digest != NID_sha256 ||
        EVP_PKEY_base_id(X509_get0_pubkey(certificate)) != EVP_PKEY_EC)
        die("another signature");
    for (int side = CLIENT; side < SIDES; side++) {
        if (SSL_get_peer_tmp_key(side == CLIENT ? client : server, &share) != 1 ||
            EVP_PKEY_base_id(share) != EVP_PKEY_X25519)
            die("another group");
        EVP_PKEY_free(share);
    }
    OPENSSL_free(shown);
    OPENSSL_free(own);
    X509_free(certificate);
}

/* Both sides made the connection that was asked for. What this costs counts as no part, but what comes after
 * it finds the caches as the proof leaves them. It is thorough, as a worker's proof is. */
static void prove(SSL *client, SSL *server) {
    SSL *both[SIDES] = {client, server};
    for (int side = CLIENT; side < SIDES; side++)
        if (SSL_version(both[side]) != TLS1_3_VERSION || SSL_session_reused(both[side]) ||
            strcmp(SSL_get_cipher_name(both[side]), "TLS_AES_128_GCM_SHA256") != 0)
            die("another protocol or cipher suite, or a resumption");
    prove_keys(client, server);
    if (options.trust_anchors != NULL &&
        (SSL_get_verify_result(client) != X509_V_OK ||
         sk_X509_num(SSL_get0_verified_chain(client)) != sk_X509_num(SSL_get_peer_cert_chain(client)) + 1))
        die("the chain was not verified");
    if (SSL_SESSION_has_ticket(SSL_get_session(client)) != options.tickets)
        die(options.tickets ? "no ticket" : "a ticket");
    if (asked != NULL && SSL_get_SSL_CTX(server) != slot_of(asked)->context)
        die("another name's context");
    if (sent[CLIENT]->last != 0 || sent[SERVER]->last != 0)
        die("something was not read");
}

static void transfer(SSL *client, SSL *server) {
    for (size_t left = options.transfer_bytes, flight; left > 0; left -= flight) {
        flight = left < FLIGHT ? left : FLIGHT;
        cycles begin = now();
        if (SSL_write(server, content, (int)flight) != (int)flight)
            die("SSL_write");
        cycles middle = now();
        size_t have = 0;
        for (int call = 0; call < MOST_CALLS && have < flight; call++) {
            int more = SSL_read(client, received + have, (int)(flight - have));
            have += went_on(client, more, "SSL_read") ? (size_t)more : 0;
        }
        spent[TRANSFER][SERVER] += middle - begin;
        spent[TRANSFER][CLIENT] += now() - middle;
        if (have != flight || memcmp(content, received, flight) != 0)
            die("the client received something else");
    }
}

/* The server says goodbye, the client reads that and answers, the server reads the answer. */
static void say_goodbye(SSL *client, SSL *server) {
    cycles begin = now();
    int server_sent = SSL_shutdown(server), server_waits = SSL_shutdown(server);
    int server_error = SSL_get_error(server, server_waits);
    cycles middle = now();
    int client_sent = SSL_shutdown(client), client_done = SSL_shutdown(client);
    cycles third = now();
    int server_done = SSL_shutdown(server);
    cycles end = now();
    spent[FINISH][SERVER] += middle - begin + end - third;
    spent[FINISH][CLIENT] += third - middle;
    if (server_sent != 0 || server_waits != -1 || server_error != SSL_ERROR_WANT_READ || client_sent != 0 ||
        client_done != 1 || server_done != 1)
        die("SSL_shutdown");
}

static void connection(void) {
    if (options.names > 1)
        asked = name_of((opened % options.names * 2654435761ul) % options.names);
    cycles begin = now();
    struct side *client = make_side(CLIENT);
    cycles middle = now();
    struct side *server = make_side(SERVER);
    cycles end = now();
    spent[OBJECTS][CLIENT] += middle - begin;
    spent[OBJECTS][SERVER] += end - middle;
    shake_hands(client->ssl, server->ssl);
    prove(client->ssl, server->ssl);
    if (options.transfer_bytes > 0) {
        transfer(client->ssl, server->ssl);
        say_goodbye(client->ssl, server->ssl);
    }
    begin = now();
    free_side(client);
    middle = now();
    free_side(server);
    end = now();
    spent[OBJECTS][CLIENT] += middle - begin;
    spent[OBJECTS][SERVER] += end - middle;
    opened++;
}

/* --- Turns. --- */

/* CPU time of both sides' handshake in a connection after a pause. */
static double first_handshake_ns(void) {
    memset(spent, 0, sizeof spent);
    long long cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
    cycles all = now();
    connection();
    all = now() - all;
    cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
    return (double)cpu_ns * (double)(spent[HANDSHAKE][CLIENT] + spent[HANDSHAKE][SERVER]) / (double)all;
}

static void turn(long long least_ns) {
    long long connections = 0;
    double first_ns = first_handshake_ns();
    memset(spent, 0, sizeof spent);
    long long cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
    long preempted = preemptions();
    long long start_ns = now_ns(CLOCK_MONOTONIC);
    cycles all = now();
    do {
        connection();
        connections++;
    } while (connections < FEWEST || now_ns(CLOCK_MONOTONIC) - start_ns < least_ns ||
             (options.reload > 0 && connections % (long long)options.reload != 0));
    all = now() - all;
    preempted = preemptions() - preempted;
    long long elapsed_ns = now_ns(CLOCK_MONOTONIC) - start_ns;
    cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
    printf("{\"connections\": %lld, \"preemptions\": %ld, \"thread_cpu_ns\": %lld, \"elapsed_ns\": %lld, "
           "\"first_handshake_ns\": %.0f",
           connections, preempted, cpu_ns, elapsed_ns, first_ns);
    for (int part = OBJECTS; part < PARTS; part++)
        for (int side = CLIENT; side < SIDES; side++)
            printf(", \"%s_%s_ns\": %.0f", side_names[side], part_names[part],
                   (double)cpu_ns * (double)spent[part][side] / (double)all);
    printf("}\n");
    fflush(stdout);
}

static void read_options(int count, char **words) {
    if (count < 4)
        die("usage: plain_connection CERTIFICATES KEY TRUST_ANCHORS|- [tickets] [transfer=BYTES] "
            "[own-context] [reload=N] [names=N]");
    options.certificates = words[1];
    options.key = words[2];
    options.trust_anchors = strcmp(words[3], "-") == 0 ? NULL : words[3];
    for (int i = 4; i < count; i++) {
        if (strcmp(words[i], "tickets") == 0)
            options.tickets = 1;
        else if (strcmp(words[i], "own-context") == 0)
            options.own_context = 1;
        else if (strncmp(words[i], "transfer=", 9) == 0)
            options.transfer_bytes = strtoul(words[i] + 9, NULL, 10);
        else if (strncmp(words[i], "reload=", 7) == 0)
            options.reload = strtoul(words[i] + 7, NULL, 10);
        else if (strncmp(words[i], "names=", 6) == 0)
            options.names = strtoul(words[i] + 6, NULL, 10);
        else
            die(words[i]);
    }
    if (options.names > MOST_NAMES)
        die("more names than there is room for");
}

int main(int argc, char **argv) {
    char line[64];
    read_options(argc, argv);
    method = queue_method();
    content = allocated(FLIGHT);
    received = allocated(FLIGHT);
    for (size_t i = 0; i < FLIGHT; i++)
        content[i] = (char)(i * 7 + i / 256);
    for (int side = CLIENT; side < SIDES; side++) {
        shared[side] = make_context(side);
        sent[side] = allocated(sizeof *sent[side]);
    }
    if (options.names > 1)
        make_hosts();
    while (fgets(line, sizeof line, stdin) != NULL)
        turn(atoll(line));
    return 0;
}
