/* Their options. */
#include "path_socket.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static bool set_options(int file, bool datagrams) {
    int yes = 1, bytes = 8 << 20;
    struct linger reset = {.l_onoff = 1, .l_linger = 0};
    if (datagrams)
        return (setsockopt(file, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) == 0 ||
                setsockopt(file, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes) == 0) &&
               (setsockopt(file, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes) == 0 ||
                setsockopt(file, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes) == 0);
    return setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) == 0 &&
           setsockopt(file, IPPROTO_TCP, TCP_CONGESTION, "cubic", strlen("cubic")) == 0 &&
           setsockopt(file, SOL_SOCKET, SO_LINGER, &reset, sizeof reset) == 0;
}

int path_socket(bool datagrams, struct in_addr address, uint16_t port) {
    int type = datagrams ? SOCK_DGRAM : SOCK_STREAM;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = address, .sin_port = htons(port)};
    int file = socket(AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (file >= 0 && set_options(file, datagrams) && bind(file, (const struct sockaddr *)&at, sizeof at) == 0)
        return file;
    int why = errno;
    if (file >= 0)
        close(file);
    errno = why;
    return -1;
}
