/* Sockets. What is read goes into the side's pipe itself, so that a download is copied no more than it has to
 * be. */
#include "loopback.h"

#include "wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SOURCES = 64 };
static const in_addr_t FIRST_SOURCE = 0x7F400001; /* 127.64.0.1 */

bool loopback_address(const char *text, struct in_addr *out) {
    return inet_pton(AF_INET, text, out) == 1 && ntohl(out->s_addr) >> 24 == IN_LOOPBACKNET;
}

/* The side that closes first keeps a connection's pair of addresses and ports in TIME_WAIT for a minute. One
 * address has some 28,000 ports, which a server of 1,000 connections a second uses up in half a minute. So
 * each connection comes from the next of 64 addresses: all of 127.0.0.0/8 is local. The other way, a reset by
 * SO_LINGER, would save the ports as well, but the server would see its clients break off, as real ones
 * don't. The option leaves the choice of the port to connect, which knows the whole pair, where bind would
 * have to find one that is free for any server. */
static bool bind_source(int socket, uint64_t number) {
    struct sockaddr_in source = {.sin_family = AF_INET,
                                 .sin_addr.s_addr = htonl(FIRST_SOURCE + (in_addr_t)(number % SOURCES))};
    int yes = 1;
    return setsockopt(socket, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof yes) == 0 &&
           bind(socket, (const struct sockaddr *)&source, sizeof source) == 0;
}

int loopback_connect(struct in_addr to, uint16_t port, uint64_t number) {
    struct sockaddr_in server = {.sin_family = AF_INET, .sin_addr = to, .sin_port = htons(port)};
    int made = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), yes = 1;
    if (made < 0)
        return -1;
    /* A flight and a request are each written at once, and wait for nothing. */
    if (setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) == 0 && bind_source(made, number) &&
        (connect(made, (const struct sockaddr *)&server, sizeof server) == 0 || errno == EINPROGRESS))
        return made;
    int why = errno;
    close(made);
    errno = why;
    return -1;
}

int loopback_connected(int socket) {
    int error = 0;
    socklen_t size = sizeof error;
    return getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

static enum moved not_moved(void) {
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? MOVED_NOTHING : MOVED_BROKEN;
}

enum moved loopback_receive(int socket, struct pipe *in, uint64_t *bytes) {
    if (in->start > 0) { /* the first bytes of a record, whose others come now */
        memmove(in->bytes, in->bytes + in->start, pipe_pending(in));
        in->end -= in->start;
        in->start = 0;
    }
    if (in->end == PIPE_BYTES)
        return MOVED_FULL;
    ssize_t got = recv(socket, in->bytes + in->end, PIPE_BYTES - in->end, 0);
    if (got <= 0)
        return got == 0 ? MOVED_END : not_moved();
    if (in->wire != NULL)
        wire_feed(in->wire, in->bytes + in->end, (size_t)got);
    in->end += (size_t)got;
    in->written += (uint64_t)got;
    *bytes += (uint64_t)got;
    return MOVED_SOME;
}

enum moved loopback_send(int socket, struct pipe *out, uint64_t *bytes) {
    while (pipe_pending(out) > 0) {
        ssize_t sent = send(socket, out->bytes + out->start, pipe_pending(out), MSG_NOSIGNAL);
        if (sent < 0)
            return not_moved();
        out->start += (size_t)sent;
        *bytes += (uint64_t)sent;
    }
    out->start = out->end = 0;
    return MOVED_SOME;
}
