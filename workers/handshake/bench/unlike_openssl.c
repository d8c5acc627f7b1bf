/* What OpenSSL does and GnuTLS doesn't, each alone: the key share that a client makes in a resumption which
 * the server answers without one, and the two tickets that a server sends by default.
 *
 *   unlike_openssl CERTIFICATE KEY
 *
 * Prints the medians over batches in nanoseconds of this thread's CPU time: a key pair of X25519; a whole
 * TLS 1.3 handshake without tickets; how much more it is with two, from batches that take turns. */
#include <openssl/evp.h>
#include <openssl/ssl.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCHES = 201, KEYS = 100, HANDSHAKES = 10 };

static void need(int good, const char *what) {
    if (!good) {
        fprintf(stderr, "unlike_openssl: %s\n", what);
        exit(1);
    }
}

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int by_size(const void *one, const void *other) {
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

static double median(double *values) {
    qsort(values, BATCHES, sizeof *values, by_size);
    return values[BATCHES / 2];
}

static double key_pairs(void) {
    double before = now_ns();
    for (int i = 0; i < KEYS; i++) {
        EVP_PKEY *key = NULL;
        EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_id(EVP_PKEY_X25519, NULL);
        need(ctx != NULL && EVP_PKEY_keygen_init(ctx) == 1 && EVP_PKEY_keygen(ctx, &key) == 1, "no key");
        EVP_PKEY_free(key);
        EVP_PKEY_CTX_free(ctx);
    }
    return (now_ns() - before) / KEYS;
}

static double handshakes(SSL_CTX *ctx, size_t tickets) {
    double before = now_ns();
    for (int i = 0; i < HANDSHAKES; i++) {
        SSL *client = SSL_new(ctx), *server = SSL_new(ctx);
        BIO *client_bio = NULL, *server_bio = NULL;
        need(client != NULL && server != NULL && BIO_new_bio_pair(&client_bio, 0, &server_bio, 0), "objects");
        SSL_set_bio(client, client_bio, client_bio);
        SSL_set_bio(server, server_bio, server_bio);
        SSL_set_connect_state(client);
        SSL_set_accept_state(server);
        need(SSL_set_num_tickets(server, tickets), "tickets");
        int done = 0;
        for (int turn = 0; turn < 16 && done != 3; turn++) {
            done |= SSL_do_handshake(client) == 1 ? 1 : 0;
            done |= SSL_do_handshake(server) == 1 ? 2 : 0;
        }
        need(done == 3, "handshake");
        SSL_free(client);
        SSL_free(server);
    }
    return (now_ns() - before) / HANDSHAKES;
}

int main(int argc, char **argv) {
    static double keys[BATCHES], without[BATCHES], more[BATCHES];
    need(argc == 3, "usage: unlike_openssl CERTIFICATE KEY");
    SSL_CTX *ctx = SSL_CTX_new(TLS_method());
    need(ctx != NULL && SSL_CTX_use_certificate_file(ctx, argv[1], SSL_FILETYPE_PEM) == 1 &&
             SSL_CTX_use_PrivateKey_file(ctx, argv[2], SSL_FILETYPE_PEM) == 1,
         "material");
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    for (int i = -5; i < BATCHES; i++) { /* the first few warm up */
        double key = key_pairs(), none = handshakes(ctx, 0), two = handshakes(ctx, 2);
        if (i < 0)
            continue;
        keys[i] = key;
        without[i] = none;
        more[i] = two - none;
    }
    printf("key pair %.0f ns, handshake %.0f ns, two tickets %.0f ns\n", median(keys), median(without),
           median(more));
    SSL_CTX_free(ctx);
    return 0;
}
