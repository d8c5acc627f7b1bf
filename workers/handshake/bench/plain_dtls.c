/* What one open connection of DTLS 1.2 with a pre-shared key holds, by side, counted in a program that shares
 * no code with the worker: UDP sockets, the library's own datagram BIO, and its hooks of allocation.
 *
 *     plain_dtls [CONNECTIONS]    prints {"client_held_bytes": B, "server_held_bytes": B}, each of a
 * connection
 */
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 64, KEY = 32, MTU = 1400 };

static long long live;

static void *count_malloc(size_t size, const char *file, int line) {
    void *got = malloc(size);
    (void)file, (void)line;
    live += (long long)malloc_usable_size(got);
    return got;
}

static void *count_realloc(void *old, size_t size, const char *file, int line) {
    (void)file, (void)line;
    live -= (long long)malloc_usable_size(old);
    void *got = realloc(old, size);
    live += (long long)malloc_usable_size(got);
    return got;
}

static void count_free(void *old, const char *file, int line) {
    (void)file, (void)line;
    live -= (long long)malloc_usable_size(old);
    free(old);
}

static void die(const char *what) {
    ERR_print_errors_fp(stderr);
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static unsigned client_psk(SSL *ssl, const char *hint, char *identity, unsigned identity_most,
                           unsigned char *key, unsigned key_most) {
    (void)ssl, (void)hint, (void)key_most;
    snprintf(identity, identity_most, "plain");
    memset(key, 7, KEY);
    return KEY;
}

static unsigned server_psk(SSL *ssl, const char *identity, unsigned char *key, unsigned key_most) {
    (void)ssl, (void)identity, (void)key_most;
    memset(key, 7, KEY);
    return KEY;
}

static SSL_CTX *new_context(void) {
    SSL_CTX *ctx = SSL_CTX_new(DTLS_method());
    if (ctx == NULL || SSL_CTX_set_min_proto_version(ctx, DTLS1_2_VERSION) != 1 ||
        SSL_CTX_set_cipher_list(ctx, "PSK-AES256-GCM-SHA384") != 1)
        die("no context");
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET | SSL_OP_NO_QUERY_MTU);
    SSL_CTX_set_psk_client_callback(ctx, client_psk);
    SSL_CTX_set_psk_server_callback(ctx, server_psk);
    return ctx;
}

static int new_socket(struct sockaddr_in *at) {
    socklen_t size = sizeof *at;
    *at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int made = socket(AF_INET, SOCK_DGRAM, 0);
    if (made < 0 || bind(made, (struct sockaddr *)at, sizeof *at) != 0 ||
        getsockname(made, (struct sockaddr *)at, &size) != 0 || fcntl(made, F_SETFL, O_NONBLOCK) != 0)
        die("no socket");
    return made;
}

static SSL *open_side(SSL_CTX *ctx, int own, struct sockaddr_in *peer, int is_server) {
    SSL *ssl = SSL_new(ctx);
    BIO *bio = BIO_new_dgram(own, BIO_CLOSE);
    if (ssl == NULL || bio == NULL || connect(own, (struct sockaddr *)peer, sizeof *peer) != 0)
        die("no connection");
    BIO_ctrl(bio, BIO_CTRL_DGRAM_SET_CONNECTED, 0, peer);
    SSL_set_bio(ssl, bio, bio);
    SSL_set_mtu(ssl, MTU);
    if (is_server)
        SSL_set_accept_state(ssl);
    else
        SSL_set_connect_state(ssl);
    return ssl;
}

/* What this connection's sides hold once both are done. */
static void hold(SSL_CTX *contexts[2], long long held[2]) {
    struct sockaddr_in at[2];
    int sockets[2] = {new_socket(&at[0]), new_socket(&at[1])}, done[2] = {0, 0};
    SSL *sides[2];
    for (int s = 0; s < 2; s++) {
        long long before = live;
        sides[s] = open_side(contexts[s], sockets[s], &at[1 - s], s);
        held[s] += live - before;
    }
    for (int turn = 0; turn < 1000 && !(done[0] && done[1]); turn++) {
        int s = turn % 2;
        long long before = live;
        done[s] = done[s] || SSL_do_handshake(sides[s]) == 1;
        held[s] += live - before;
    }
    if (!done[0] || !done[1])
        die("the handshake was not done");
}

int main(int argc, char **argv) {
    int connections = argc > 1 ? atoi(argv[1]) : 16;
    long long held[2] = {0, 0}, first[2] = {0, 0};
    if (connections < 1 || connections > MOST ||
        CRYPTO_set_mem_functions(count_malloc, count_realloc, count_free) != 1)
        die("usage: plain_dtls [CONNECTIONS]");
    SSL_CTX *contexts[2] = {new_context(), new_context()};
    hold(contexts, first); /* what is made once is not a connection's */
    for (int i = 0; i < connections; i++)
        hold(contexts, held);
    printf("{\"version\": \"%s\", \"client_held_bytes\": %lld, \"server_held_bytes\": %lld}\n",
           OpenSSL_version(OPENSSL_VERSION), held[0] / connections, held[1] / connections);
    return 0;
}
