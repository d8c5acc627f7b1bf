/* What `make bench` sets the worker's counts beside: connections whose heap, bytes, records and round trips
 * OpenSSL itself tells, through its own allocation functions and message callback. It shares no code with the
 * worker and knows nothing of the preloaded counter. Both sides are in one thread and write to plain buffers.
 *
 *   plain_counts TLSv1.2|TLSv1.3 CIPHER GROUPS SIGNATURE CERTIFICATE KEY CONNECTIONS HELD
 *
 * After one connection that does not count it makes CONNECTIONS, one after the other. Then it opens HELD
 * connections, and prints totals of the former and what each side of the latter holds as one line of JSON.
 * With 0 to hold it counts neither heap nor records, which costs instructions: an instruction counter is then
 * on in `turn_of_client`, `turn_of_server` or `objects`.
 */
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLIENT, SERVER, SIDES };
enum { QUEUE = 131072, MOST_TURNS = 32, MOST_HELD = 64 };

static void die(const char *what) {
    fprintf(stderr, "plain_counts: %s\n", what);
    ERR_print_errors_fp(stderr);
    exit(1);
}

/* --- The heap: every allocation of OpenSSL comes through here. --- */

enum { OBJECTS = SIDES, PARTS }; /* turns of either side, and making and freeing */
static int counts, side_at_work = CLIENT, part_at_work = OBJECTS;
static long allocations[SIDES], live[SIDES], peak, asked[PARTS];

static void *counted(void *block) {
    if (block == NULL)
        return NULL;
    allocations[side_at_work]++;
    live[side_at_work] += (long)malloc_usable_size(block);
    if (live[CLIENT] + live[SERVER] > peak)
        peak = live[CLIENT] + live[SERVER];
    return block;
}

static void *count_malloc(size_t size, const char *file, int line) {
    (void)file, (void)line;
    asked[part_at_work] += (long)size;
    return counted(malloc(size));
}

static void count_free(void *block, const char *file, int line) {
    (void)file, (void)line;
    live[side_at_work] -= (long)malloc_usable_size(block);
    free(block);
}

static void *count_realloc(void *block, size_t size, const char *file, int line) {
    (void)file, (void)line;
    if (block != NULL)
        live[side_at_work] -= (long)malloc_usable_size(block);
    asked[part_at_work] += (long)size;
    return counted(realloc(block, size));
}

/* --- The wire. --- */

static struct {
    size_t first, last;
    char bytes[QUEUE];
} sent[SIDES];
static long bytes[SIDES], records[SIDES], round_trips;

static int side_of(BIO *bio) {
    return BIO_get_data(bio) == &sent[SERVER];
}

static int queue_write(BIO *bio, const char *data, int length) {
    int side = side_of(bio);
    BIO_clear_retry_flags(bio);
    if (length <= 0 || (size_t)length > QUEUE - sent[side].last)
        return -1;
    memcpy(sent[side].bytes + sent[side].last, data, (size_t)length);
    sent[side].last += (size_t)length;
    bytes[side] += length;
    return length;
}

static int queue_read(BIO *bio, char *data, int room) {
    int other = !side_of(bio), waiting = (int)(sent[other].last - sent[other].first);
    int taken = waiting < room ? waiting : room;
    BIO_clear_retry_flags(bio);
    if (taken <= 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    memcpy(data, sent[other].bytes + sent[other].first, (size_t)taken);
    sent[other].first += (size_t)taken;
    if (sent[other].first == sent[other].last)
        sent[other].first = sent[other].last = 0;
    return taken;
}

static long queue_control(BIO *bio, int command, long number, void *pointer) {
    (void)bio, (void)number, (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

/* OpenSSL shows the header of each record that it writes. */
static void on_message(int writes, int version, int type, const void *data, size_t length, SSL *ssl,
                       void *unused) {
    (void)version, (void)data, (void)length, (void)unused;
    if (writes && type == SSL3_RT_HEADER)
        records[SSL_is_server(ssl)]++;
}

/* --- Connections. --- */

static BIO_METHOD *method;
static SSL_CTX *contexts[SIDES];

static int accept_any(X509_STORE_CTX *store, void *argument) {
    (void)store, (void)argument;
    return 1;
}

static SSL_CTX *make_context(char **argv) {
    SSL_CTX *ctx = SSL_CTX_new(TLS_method());
    int version = strcmp(argv[1], "TLSv1.3") == 0 ? TLS1_3_VERSION : TLS1_2_VERSION;
    if (ctx == NULL || !SSL_CTX_set_min_proto_version(ctx, version) ||
        !SSL_CTX_set_max_proto_version(ctx, version))
        die("protocol");
    SSL_CTX_set_security_level(ctx, 0);
    if (version == TLS1_3_VERSION ? !SSL_CTX_set_ciphersuites(ctx, argv[2])
                                  : !SSL_CTX_set_cipher_list(ctx, argv[2]))
        die("cipher");
    if (!SSL_CTX_set1_groups_list(ctx, argv[3]) || !SSL_CTX_set1_sigalgs_list(ctx, argv[4]))
        die("group or signature");
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
    SSL_CTX_set_num_tickets(ctx, 0);
    SSL_CTX_set_mode(ctx, SSL_MODE_NO_AUTO_CHAIN);
    SSL_CTX_set_cert_verify_callback(ctx, accept_any, NULL);
    if (counts)
        SSL_CTX_set_msg_callback(ctx, on_message);
    return ctx;
}

/* Makes a side, or frees the one that is given. */
__attribute__((noinline)) static SSL *objects(int side, SSL *old) {
    side_at_work = side;
    part_at_work = OBJECTS;
    if (old != NULL) {
        SSL_free(old);
        return NULL;
    }
    SSL *ssl = SSL_new(contexts[side]);
    BIO *bio = BIO_new(method);
    if (ssl == NULL || bio == NULL)
        die("objects");
    BIO_set_data(bio, &sent[side]);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl, bio, bio);
    if (side == CLIENT)
        SSL_set_connect_state(ssl);
    else
        SSL_set_accept_state(ssl);
    return ssl;
}

static int went_on(SSL *ssl, int result) {
    if (result != 1 && SSL_get_error(ssl, result) != SSL_ERROR_WANT_READ)
        die("handshake");
    return result == 1;
}

__attribute__((noinline)) static int turn_of_client(SSL *ssl) {
    side_at_work = part_at_work = CLIENT;
    return went_on(ssl, SSL_do_handshake(ssl));
}

__attribute__((noinline)) static int turn_of_server(SSL *ssl) {
    side_at_work = part_at_work = SERVER;
    return went_on(ssl, SSL_do_handshake(ssl));
}

/* A round trip is a turn of the server that the client needs before it is done. */
static void open_connection(SSL **both) {
    int client_done = 0, server_done = 0;
    both[CLIENT] = objects(CLIENT, NULL);
    both[SERVER] = objects(SERVER, NULL);
    for (int turn = 0; turn < MOST_TURNS && !(client_done && server_done); turn++) {
        if (!client_done && !(client_done = turn_of_client(both[CLIENT])))
            round_trips++;
        if (!server_done)
            server_done = turn_of_server(both[SERVER]);
    }
    if (!client_done || !server_done || SSL_session_reused(both[CLIENT]))
        die("the handshake does not end");
}

static void close_connection(SSL **both) {
    for (int side = CLIENT; side < SIDES; side++)
        objects(side, both[side]);
}

int main(int argc, char **argv) {
    SSL *held[MOST_HELD][SIDES];
    int connections = argc == 9 ? atoi(argv[7]) : 0, to_hold = argc == 9 ? atoi(argv[8]) : 0;
    if (connections < 1 || to_hold < 0 || to_hold > MOST_HELD)
        die("usage: plain_counts PROTOCOL CIPHER GROUPS SIGNATURE CERTIFICATE KEY CONNECTIONS HELD");
    counts = to_hold > 0;
    if (counts && !CRYPTO_set_mem_functions(count_malloc, count_realloc, count_free))
        die("OpenSSL has allocated before");
    method = BIO_meth_new(BIO_TYPE_SOURCE_SINK | BIO_get_new_index(), "queue");
    if (method == NULL || !BIO_meth_set_write(method, queue_write) ||
        !BIO_meth_set_read(method, queue_read) || !BIO_meth_set_ctrl(method, queue_control))
        die("BIO method");
    for (int side = CLIENT; side < SIDES; side++)
        contexts[side] = make_context(argv);
    if (SSL_CTX_use_certificate_chain_file(contexts[SERVER], argv[5]) != 1 ||
        SSL_CTX_use_PrivateKey_file(contexts[SERVER], argv[6], SSL_FILETYPE_PEM) != 1)
        die("material");
    open_connection(held[0]);
    close_connection(held[0]);
    memset(allocations, 0, sizeof allocations);
    memset(bytes, 0, sizeof bytes);
    memset(records, 0, sizeof records);
    memset(asked, 0, sizeof asked);
    round_trips = 0;
    long most = 0, at_first = live[CLIENT] + live[SERVER];
    for (int i = 0; i < connections; i++) {
        long before = peak = live[CLIENT] + live[SERVER];
        open_connection(held[0]);
        close_connection(held[0]);
        most = peak - before > most ? peak - before : most;
    }
    printf("{\"connections\": %d, \"client_allocations\": %ld, \"server_allocations\": %ld, "
           "\"client_bytes\": %ld, "
           "\"server_bytes\": %ld, \"client_records\": %ld, \"server_records\": %ld, \"round_trips\": %ld, "
           "\"heap_peak_bytes\": %ld, \"client_allocated_bytes\": %ld, \"server_allocated_bytes\": %ld, "
           "\"objects_allocated_bytes\": %ld, \"kept_bytes\": %ld, ",
           connections, allocations[CLIENT], allocations[SERVER], bytes[CLIENT], bytes[SERVER],
           records[CLIENT], records[SERVER], round_trips, most, asked[CLIENT], asked[SERVER], asked[OBJECTS],
           live[CLIENT] + live[SERVER] - at_first);
    memset(live, 0, sizeof live);
    for (int i = 0; i < to_hold; i++)
        open_connection(held[i]);
    printf("\"held\": %d, \"client_held_bytes\": %ld, \"server_held_bytes\": %ld}\n", to_hold, live[CLIENT],
           live[SERVER]);
    for (int i = 0; i < to_hold; i++)
        close_connection(held[i]);
    return 0;
}
