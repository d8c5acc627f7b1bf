/* A web server of one thread with the backend's own server side, for tests of loads: it answers one
 * connection after the other, or does what servers should not. */
#ifndef KEXBENCH_WEB_SERVER_H
#define KEXBENCH_WEB_SERVER_H

#include "http.h"
#include "pair.h"

#include "check.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

enum behaviour {
    SERVES,
    DIES,             /* no longer listens after `healthy` connections; the others begin after so many */
    IS_SILENT,        /* reads a ClientHello, and nothing more happens */
    SENDS_GARBAGE,    /* instead of a ServerHello */
    LEAVES,           /* after a ClientHello, orderly */
    RESETS,           /* the same with a reset */
    HALF_CLOSES,      /* after the handshake, and reads on */
    FINDS_NOTHING,    /* 404 */
    SENDS_LESS,       /* half the body and a close_notify */
    BREAKS_OFF,       /* half the body and no close_notify */
    RESETS_IN_ANSWER, /* half the body and a reset */
    SENDS_MORE,
    NEVER_CLOSES /* after its last answer */
};

struct web_server {
    enum behaviour behaviour;
    unsigned healthy;
    size_t body_bytes;
    struct tls_case tls_case;
    struct context *context;
    int listener;
    uint16_t port;
    pthread_t thread;
    unsigned accepted, answered; /* connections and requests; to be read once it has ended */
};

/* One connection, as its server sees it. */
struct visitor {
    struct web_server *server;
    int socket;
    struct side *side;
    struct pipe sent[ROLES];
    struct wire hello;
    struct fault fault;
    bool closes; /* the last request asked for it */
};

/* False: the client has closed, or broken off. */
static bool read_some(struct visitor *v) {
    unsigned char bytes[4096];
    ssize_t got = recv(v->socket, bytes, sizeof bytes, 0);
    return got > 0 && pipe_write(&v->sent[ROLE_CLIENT], bytes, (size_t)got) == (size_t)got;
}

static bool write_all(struct visitor *v) {
    unsigned char bytes[4096];
    size_t length;
    while ((length = pipe_read(&v->sent[ROLE_SERVER], bytes, sizeof bytes)) > 0) {
        if (send(v->socket, bytes, length, MSG_NOSIGNAL) != (ssize_t)length)
            return false;
    }
    return true;
}

static bool say(struct visitor *v, const void *data, size_t length) {
    const unsigned char *at = data;
    while (length > 0) {
        long taken = linked_backend.send(v->side, at, length, &v->fault);
        if (taken <= 0 || !write_all(v))
            return false;
        at += taken;
        length -= (size_t)taken;
    }
    return true;
}

static bool shake_hands(struct visitor *v) {
    for (;;) {
        enum progress progress = linked_backend.step(v->side, &v->fault);
        if (!write_all(v) || progress == PROGRESS_FAILED)
            return false;
        if (progress == PROGRESS_DONE)
            return true;
        if (!read_some(v))
            return false;
    }
}

static bool read_request(struct visitor *v) {
    char text[1024];
    size_t length = 0;
    while (length < 4 || memcmp(text + length - 4, "\r\n\r\n", 4) != 0) {
        size_t before = pipe_pending(&v->sent[ROLE_CLIENT]);
        long got = linked_backend.receive(v->side, text + length, sizeof text - 1 - length, &v->fault);
        bool idle = got == 0 && pipe_pending(&v->sent[ROLE_CLIENT]) == before;
        if (got < 0 || (idle && !read_some(v)))
            return false;
        length += (size_t)got;
    }
    text[length] = '\0';
    v->closes = strstr(text, "\r\nConnection: close\r\n") != NULL;
    return strncmp(text, "GET /file.bin HTTP/1.1\r\n", 24) == 0;
}

static bool answer_request(struct visitor *v, enum behaviour behaviour) {
    static const unsigned char body[64 * 1024];
    char head[128];
    size_t said = v->server->body_bytes, sent = said;
    int length = snprintf(head, sizeof head, "HTTP/1.1 %s\r\nContent-Length: %zu\r\n\r\n",
                          behaviour == FINDS_NOTHING ? "404 Not Found" : "200 OK", said);
    if (behaviour == SENDS_LESS || behaviour == BREAKS_OFF || behaviour == RESETS_IN_ANSWER)
        sent /= 2;
    if (behaviour == SENDS_MORE)
        sent++;
    return say(v, head, (size_t)length) && say(v, body, sent);
}

static void reset(int socket) {
    struct linger at_once = {1, 0};
    setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

/* With close_notify, and without waiting for the client's, as nginx does it. */
static void close_orderly(struct visitor *v) {
    linked_backend.finish(v->side, &v->fault);
    (void)write_all(v);
}

static void wait_for_end(struct visitor *v) {
    while (read_some(v))
        pipe_reset(&v->sent[ROLE_CLIENT]);
}

static void serve_requests(struct visitor *v, enum behaviour behaviour) {
    do {
        if (!read_request(v) || !answer_request(v, behaviour))
            return;
        v->server->answered++;
    } while (!v->closes && behaviour == SERVES);
    if (behaviour == RESETS_IN_ANSWER)
        reset(v->socket);
    else if (behaviour == NEVER_CLOSES)
        wait_for_end(v);
    else if (behaviour != BREAKS_OFF)
        close_orderly(v);
}

/* The fake's server knows only from its client's hello whether it resumes. */
static bool resumes(const struct visitor *v) {
    struct client_hello hello;
    return linked_backend.takes_settings && wire_client_hello(&v->hello, &hello) && hello.ticket;
}

static void serve(struct visitor *v, enum behaviour behaviour) {
    struct pipe_end end = {.in = &v->sent[ROLE_CLIENT], .out = &v->sent[ROLE_SERVER]};
    if (!read_some(v) || behaviour == LEAVES)
        return;
    if (behaviour == IS_SILENT) {
        wait_for_end(v);
    } else if (behaviour == SENDS_GARBAGE) {
        /* As long as a record of its header would be: s2n-tls looks at none before it is whole. */
        (void)!send(v->socket, "SSH\0\1-2.0-OpenSSH\r\n", 20, MSG_NOSIGNAL);
    } else if (behaviour == RESETS) {
        reset(v->socket);
    } else {
        v->side = linked_backend.open(v->server->context, ROLE_SERVER, end, resumes(v), &v->fault);
        if (v->side == NULL || !shake_hands(v))
            return;
        if (behaviour == HALF_CLOSES) {
            shutdown(v->socket, SHUT_WR);
            wait_for_end(v);
        } else {
            serve_requests(v, behaviour);
        }
    }
}

static void *web_server_thread(void *argument) {
    static struct visitor visitor;
    struct web_server *s = argument;
    int socket, yes = 1;
    while ((socket = accept(s->listener, NULL, NULL)) >= 0) {
        setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes,
                   sizeof yes); /* a head and its body are written apart */
        visitor = (struct visitor){.server = s, .socket = socket};
        visitor.sent[ROLE_CLIENT].wire = &visitor.hello;
        serve(&visitor, ++s->accepted <= s->healthy ? SERVES : s->behaviour);
        if (visitor.side != NULL)
            linked_backend.close(visitor.side);
        close(socket);
        if (s->behaviour == DIES && s->accepted == s->healthy)
            break;
    }
    if (s->behaviour == DIES)
        close(s->listener);
    return NULL;
}

/* The fake's server resumes only what a client of its context kept. */
static bool keep_something(struct context *context) {
    static struct pipe unused[ROLES];
    struct pipe_end end = {.in = &unused[ROLE_SERVER], .out = &unused[ROLE_CLIENT]};
    struct fault fault = {0};
    struct side *client = linked_backend.open(context, ROLE_CLIENT, end, false, &fault);
    bool kept = client != NULL && linked_backend.keep(client, &fault);
    if (client != NULL)
        linked_backend.close(client);
    return kept;
}

static bool web_server_start(struct web_server *s, const char *material) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    struct fault fault = {0};
    s->context = linked_backend.setup(&s->tls_case, material, &fault);
    s->listener = socket(AF_INET, SOCK_STREAM, 0);
    bool good = CHECK(s->context != NULL) && CHECK(s->listener >= 0) &&
                CHECK(bind(s->listener, (struct sockaddr *)&address, size) == 0) &&
                CHECK(listen(s->listener, 128) == 0) &&
                CHECK(getsockname(s->listener, (struct sockaddr *)&address, &size) == 0);
    s->port = ntohs(address.sin_port);
    good = good && (!linked_backend.takes_settings || CHECK(keep_something(s->context)));
    return good && CHECK(pthread_create(&s->thread, NULL, web_server_thread, s) == 0);
}

/* A listener that is shut down accepts nobody any more: that ends the thread. */
static void web_server_end(struct web_server *s) {
    if (s->behaviour != DIES)
        shutdown(s->listener, SHUT_RDWR);
    pthread_join(s->thread, NULL);
    if (s->behaviour != DIES)
        close(s->listener);
    linked_backend.teardown(s->context);
}

#endif
