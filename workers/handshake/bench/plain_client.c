/* What `make bench` sets the worker's percentiles of latencies beside: a client of a web server on this
 * machine that makes one connection of TLS 1.3 after the other over blocking sockets, and keeps every time.
 * It shares no code with the worker.
 *
 *   plain_client PORT PATH RESPONSE_BYTES GROUPS SIGNATURE
 *
 * Each line on standard input is a number of connections. The answer is one line of JSON: percentiles of the
 * time from the beginning of connecting to the end of the handshake, and to the last byte of the body. */
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 100000 };

static void die(const char *what) {
    fprintf(stderr, "plain_client: %s\n", what);
    ERR_print_errors_fp(stderr);
    exit(1);
}

static long now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000l + now.tv_nsec;
}

static int accept_any(X509_STORE_CTX *store, void *argument) {
    (void)store, (void)argument;
    return 1;
}

static long handshake_ns[MOST], response_ns[MOST];

static void visit(SSL_CTX *ctx, int port, const char *request, long body_bytes, int number) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    char answer[65536];
    long start = now_ns(), got = 0, wanted = -1;
    int yes = 1, made = socket(AF_INET, SOCK_STREAM, 0);
    if (made < 0 || setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) != 0 ||
        connect(made, (struct sockaddr *)&to, sizeof to) != 0)
        die("no connection");
    SSL *ssl = SSL_new(ctx);
    if (ssl == NULL || SSL_set_fd(ssl, made) != 1 || SSL_connect(ssl) != 1)
        die("no handshake");
    handshake_ns[number] = now_ns() - start;
    if (SSL_write(ssl, request, (int)strlen(request)) <= 0)
        die("no request");
    while (wanted < 0 || got < wanted) {
        int more = got < (long)sizeof answer - 1
                       ? SSL_read(ssl, answer + got, (int)((long)sizeof answer - 1 - got))
                       : -1;
        if (more <= 0)
            die("half an answer");
        got += more;
        answer[got] = '\0';
        const char *end = wanted < 0 ? strstr(answer, "\r\n\r\n") : NULL;
        if (end != NULL)
            wanted = end + 4 - answer + body_bytes;
    }
    response_ns[number] = now_ns() - start;
    if (got != wanted || strncmp(answer, "HTTP/1.1 200", 12) != 0)
        die("another answer");
    SSL_shutdown(ssl);
    SSL_shutdown(ssl); /* until the server closes, too */
    SSL_free(ssl);
    close(made);
}

static int by_size(const void *first, const void *second) {
    long a = *(const long *)first, b = *(const long *)second;
    return a < b ? -1 : a > b;
}

/* The smallest time that so many percent of all do not exceed. */
static long percentile(long *times, int count, int percent) {
    qsort(times, (size_t)count, sizeof *times, by_size);
    int within = 0;
    while (within * 100l < (long)percent * count)
        within++;
    return times[within - 1];
}

int main(int argc, char **argv) {
    char line[64], request[512];
    if (argc != 6)
        die("usage: plain_client PORT PATH RESPONSE_BYTES GROUPS SIGNATURE");
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    if (ctx == NULL || !SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) ||
        !SSL_CTX_set_ciphersuites(ctx, "TLS_AES_128_GCM_SHA256") || !SSL_CTX_set1_groups_list(ctx, argv[4]) ||
        !SSL_CTX_set1_sigalgs_list(ctx, argv[5]))
        die("context");
    SSL_CTX_set_security_level(ctx, 0);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_cert_verify_callback(ctx, accept_any, NULL);
    snprintf(request, sizeof request,
             "GET /%s HTTP/1.1\r\nHost: kexbench.invalid\r\nConnection: close\r\n\r\n", argv[2]);
    while (fgets(line, sizeof line, stdin) != NULL) {
        int connections = atoi(line);
        if (connections < 1 || connections > MOST)
            die("a number of connections");
        for (int i = 0; i < connections; i++)
            visit(ctx, atoi(argv[1]), request, atol(argv[3]), i);
        printf("{\"handshake_p50_ns\": %ld, \"handshake_p99_ns\": %ld, \"response_p50_ns\": %ld, "
               "\"response_p99_ns\": %ld}\n",
               percentile(handshake_ns, connections, 50), percentile(handshake_ns, connections, 99),
               percentile(response_ns, connections, 50), percentile(response_ns, connections, 99));
        fflush(stdout);
    }
    SSL_CTX_free(ctx);
    return 0;
}
