/* The comparison that `make bench` sets the worker beside: OpenSSL handshakes in the plainest loop there is,
 * sharing no code with the worker. Both sides in one thread over a pair of memory BIOs.
 *
 *   plain_openssl TLSv1.2|TLSv1.3 CIPHER GROUP SIGNATURE CERTIFICATE KEY [chainless] [ticket]
 *
 * By default the library does what it does for everybody: the server looks for issuers of its certificate,
 * the client tries to verify what it got. `chainless` leaves out both, as the worker does. With `ticket`
 * every handshake but the first resumes the first one's session, of TLS 1.2, by its ticket.
 *
 * For each line on standard input, a number of nanoseconds, it makes handshakes for at least as long and
 * prints how many, the CPU time of this thread, making and freeing the objects included, and the part of it
 * that went into the calls of SSL_do_handshake. */
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef OPENSSL_IS_BORINGSSL
/* It takes no names of TLS 1.3 suites, and prefers AES-128-GCM on a CPU with AES. */
#define SSL_CTX_set_ciphersuites(ctx, list) ((ctx) != NULL && strcmp(list, "TLS_AES_128_GCM_SHA256") == 0)
#endif

static void die(const char *what) {
    fprintf(stderr, "plain_openssl: %s\n", what);
    ERR_print_errors_fp(stderr);
    exit(1);
}

static long long now_ns(clockid_t id) {
    struct timespec now;
    clock_gettime(id, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static int accept_any(X509_STORE_CTX *store, void *argument) {
    (void)store, (void)argument;
    return 1;
}

static SSL_CTX *make_context(char **argv, int chainless, int ticket) {
    SSL_CTX *ctx = SSL_CTX_new(TLS_method());
    uint16_t version = strcmp(argv[1], "TLSv1.3") == 0 ? TLS1_3_VERSION : TLS1_2_VERSION;
    if (ctx == NULL || !SSL_CTX_set_min_proto_version(ctx, version) ||
        !SSL_CTX_set_max_proto_version(ctx, version))
        die("protocol");
    if (version == TLS1_3_VERSION ? !SSL_CTX_set_ciphersuites(ctx, argv[2])
                                  : !SSL_CTX_set_cipher_list(ctx, argv[2]))
        die("cipher");
    if (!SSL_CTX_set1_groups_list(ctx, argv[3]) || !SSL_CTX_set1_sigalgs_list(ctx, argv[4]))
        die("group or signature");
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    if (!ticket)
        SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
    SSL_CTX_set_num_tickets(ctx, 0);
    if (chainless) {
        SSL_CTX_set_mode(ctx, SSL_MODE_NO_AUTO_CHAIN);
        SSL_CTX_set_cert_verify_callback(ctx, accept_any, NULL);
    }
    return ctx;
}

/* `session` is what a handshake resumes, NULL for none. Returns the nanoseconds of wall time in turns. */
static long long handshake(SSL_CTX *client_ctx, SSL_CTX *server_ctx, SSL_SESSION *session,
                           SSL_SESSION **kept) {
    SSL *client = SSL_new(client_ctx), *server = SSL_new(server_ctx);
    BIO *client_bio = NULL, *server_bio = NULL;
    if (client == NULL || server == NULL || !BIO_new_bio_pair(&client_bio, 0, &server_bio, 0))
        die("objects");
    SSL_set_bio(client, client_bio, client_bio);
    SSL_set_bio(server, server_bio, server_bio);
    SSL_set_connect_state(client);
    SSL_set_accept_state(server);
    if (session != NULL && !SSL_set_session(client, session))
        die("session");
    int client_done = 0, server_done = 0;
    long long start = now_ns(CLOCK_MONOTONIC);
    for (int turn = 0; turn < 32 && !(client_done && server_done); turn++) {
        client_done = client_done || SSL_do_handshake(client) == 1;
        server_done = server_done || SSL_do_handshake(server) == 1;
    }
    long long turns_ns = now_ns(CLOCK_MONOTONIC) - start;
    if (!client_done || !server_done || SSL_session_reused(client) != (session != NULL))
        die("handshake");
    if (kept != NULL)
        *kept = SSL_get1_session(client);
    SSL_set_shutdown(client,
                     SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN); /* else its session is no more resumed */
    SSL_free(client);
    SSL_free(server);
    return turns_ns;
}

static int named(int argc, char **argv, const char *word) {
    for (int i = 7; i < argc; i++)
        if (strcmp(argv[i], word) == 0)
            return 1;
    return 0;
}

int main(int argc, char **argv) {
    char line[64];
    int chainless = named(argc, argv, "chainless"), ticket = named(argc, argv, "ticket");
    if (argc != 7 + chainless + ticket)
        die("usage: plain_openssl PROTOCOL CIPHER GROUP SIGNATURE CERTIFICATE KEY [chainless] [ticket]");
    SSL_CTX *client = make_context(argv, chainless, ticket), *server = make_context(argv, chainless, ticket);
    SSL_SESSION *session = NULL;
    if (SSL_CTX_use_certificate_file(server, argv[5], SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_use_PrivateKey_file(server, argv[6], SSL_FILETYPE_PEM) != 1)
        die("material");
    if (ticket)
        handshake(client, server, NULL, &session);
    while (fgets(line, sizeof line, stdin) != NULL) {
        handshake(client, server, session, NULL);
        long long start = now_ns(CLOCK_MONOTONIC), until = start + atoll(line), handshakes = 0, turns_ns = 0;
        long long cpu_start = now_ns(CLOCK_THREAD_CPUTIME_ID);
        do {
            turns_ns += handshake(client, server, session, NULL);
            handshakes++;
        } while (now_ns(CLOCK_MONOTONIC) < until);
        long long cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_start,
                  wall_ns = now_ns(CLOCK_MONOTONIC) - start;
        printf("%lld %lld %lld\n", handshakes, cpu_ns,
               (long long)((double)cpu_ns * (double)turns_ns / (double)wall_ns));
        fflush(stdout);
    }
    SSL_SESSION_free(session);
    SSL_CTX_free(client);
    SSL_CTX_free(server);
    return 0;
}
