/* UDP sockets. */
#include "datagram.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

static enum moved not_moved(void) {
    return errno == EAGAIN || errno == EINTR || errno == ENOBUFS ? MOVED_NOTHING : MOVED_BROKEN;
}

enum moved datagram_receive(int socket, unsigned char out[DATAGRAM_MOST], uint16_t *length,
                            struct sockaddr_in *from) {
    socklen_t size = sizeof *from;
    ssize_t got =
        recvfrom(socket, out, DATAGRAM_MOST, 0, (struct sockaddr *)from, from == NULL ? NULL : &size);
    if (got < 0)
        return not_moved();
    *length = (uint16_t)got;
    return MOVED_SOME;
}

enum moved datagram_send(int socket, struct pipe *out, const struct sockaddr_in *to) {
    while (pipe_pending(out) > 0) {
        uint16_t length;
        const unsigned char *next = pipe_peek_datagram(out, &length);
        if (sendto(socket, next, length, MSG_NOSIGNAL, (const struct sockaddr *)to,
                   to == NULL ? 0 : sizeof *to) < 0)
            return not_moved();
        pipe_drop_datagram(out);
    }
    return MOVED_SOME;
}
