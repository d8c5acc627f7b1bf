/* What the verb `path` is compared with: the same emulated path, and nothing else of the worker. Blocking
 * sockets, two threads for each connection, libssl, times by the clock of its own: no loop, no pipes, no
 * epoll.
 *
 *   plain_path CERT KEY ROUND_TRIP_NS LOSS_PPM SEED CONNECTIONS INTERVAL_NS    one line for each connection:
 * until TCP was connected, the handshake done, the answer's first byte there, in ns plain_path CERT KEY
 * ROUND_TRIP_NS LOSS_PPM SEED 0 0                   serves HTTP on https://10.65.0.1 until its input ends,
 * for a client such as: nsenter -t PID -n curl --interface 10.64.0.1 ... */
#include "emulator.h"
#include "tun.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { REQUEST_BYTES = 100 };
static const char ANSWER[] = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\n1";

static SSL_CTX *server_context, *client_context;
static int listener;

struct visit {
    int socket;
    bool done;
    uint64_t connect_ns, handshake_ns, first_byte_ns;
};

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void block(int socket) {
    fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) & ~O_NONBLOCK);
}

static SSL_CTX *context(const SSL_METHOD *method) {
    SSL_CTX *made = SSL_CTX_new(method);
    if (made == NULL || !SSL_CTX_set_min_proto_version(made, TLS1_3_VERSION) ||
        !SSL_CTX_set_ciphersuites(made, "TLS_AES_128_GCM_SHA256") ||
        !SSL_CTX_set1_groups_list(made, "X25519") || !SSL_CTX_set_num_tickets(made, 0))
        exit(1);
    return made;
}

static void *serve(void *argument) {
    int socket = *(int *)argument;
    char bytes[4096];
    SSL *ssl = SSL_new(server_context);
    free(argument);
    if (SSL_set_fd(ssl, socket) && SSL_accept(ssl) == 1 && SSL_read(ssl, bytes, sizeof bytes) > 0 &&
        SSL_write(ssl, ANSWER, sizeof ANSWER - 1) > 0)
        SSL_read(ssl, bytes, sizeof bytes); /* until the client closes */
    SSL_free(ssl);
    close(socket);
    return NULL;
}

static pthread_t start(void *(*work)(void *), void *argument, bool detached) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 * 1024);
    pthread_attr_setdetachstate(&attributes, detached ? PTHREAD_CREATE_DETACHED : PTHREAD_CREATE_JOINABLE);
    if (pthread_create(&thread, &attributes, work, argument) != 0)
        exit(1);
    pthread_attr_destroy(&attributes);
    return thread;
}

_Noreturn static void *accept_all(void *nothing) {
    (void)nothing;
    for (;;) {
        int *socket = malloc(sizeof *socket);
        *socket = accept(listener, NULL, NULL);
        if (*socket >= 0)
            start(serve, socket, true);
        else
            free(socket);
    }
}

static void *visit(void *argument) {
    struct visit *v = argument;
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_addr = tun_server(), .sin_port = htons(TUN_SERVER_PORT)};
    char request[REQUEST_BYTES] = {0}, answer[sizeof ANSWER];
    SSL *ssl = SSL_new(client_context);
    uint64_t begun = now_ns();
    if (connect(v->socket, (const struct sockaddr *)&to, sizeof to) == 0) {
        v->connect_ns = now_ns() - begun;
        if (SSL_set_fd(ssl, v->socket) && SSL_connect(ssl) == 1) {
            v->handshake_ns = now_ns() - begun;
            v->done = SSL_write(ssl, request, sizeof request) > 0 && SSL_read(ssl, answer, sizeof answer) > 0;
            v->first_byte_ns = now_ns() - begun;
        }
    }
    SSL_free(ssl);
    close(v->socket);
    return NULL;
}

static void visit_all(struct emulator *emulator, unsigned connections, uint64_t interval_ns) {
    struct visit *visits = calloc(connections, sizeof *visits);
    pthread_t *threads = calloc(connections, sizeof *threads);
    uint64_t started = now_ns();
    for (unsigned i = 0; i < connections; i++) {
        uint64_t at = started + i * interval_ns;
        struct timespec until = {(time_t)(at / 1000000000u), (long)(at % 1000000000u)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
        visits[i].socket = emulator_socket(emulator);
        block(visits[i].socket);
        threads[i] = start(visit, &visits[i], false);
    }
    for (unsigned i = 0; i < connections; i++) {
        pthread_join(threads[i], NULL);
        if (visits[i].done)
            printf("%llu %llu %llu\n", (unsigned long long)visits[i].connect_ns,
                   (unsigned long long)visits[i].handshake_ns, (unsigned long long)visits[i].first_byte_ns);
    }
}

int main(int argc, char **argv) {
    struct emulator emulator;
    struct fault fault;
    if (argc != 8)
        return 2;
    struct path path = {.round_trip_ns = strtoull(argv[3], NULL, 10),
                        .loss_ppm = strtoull(argv[4], NULL, 10),
                        .mtu = 1500,
                        .initial_window = 10,
                        .seed = strtoull(argv[5], NULL, 10)};
    unsigned connections = (unsigned)strtoul(argv[6], NULL, 10);
    server_context = context(TLS_server_method());
    client_context = context(TLS_client_method());
    if (SSL_CTX_use_certificate_chain_file(server_context, argv[1]) != 1 ||
        SSL_CTX_use_PrivateKey_file(server_context, argv[2], SSL_FILETYPE_PEM) != 1)
        return 1;
    if (!emulator_open(&emulator, &path, connections, false, &fault)) {
        fprintf(stderr, "%s\n", fault.reason);
        return 1;
    }
    listener = emulator.server;
    block(listener);
    start(accept_all, NULL, true);
    if (connections > 0) {
        visit_all(&emulator, connections, strtoull(argv[7], NULL, 10));
    } else {
        printf("%d\n", (int)emulator.child);
        fflush(stdout);
        while (getchar() != EOF)
            ;
    }
    fflush(stdout);
    _exit(0); /* whoever still waits for a packet waits no more */
}
