/* A byte queue in memory. It starts over at its front whenever it is drained, which a
 * handshake does on every turn, so bytes are never moved. */
#include "pipe.h"

#include "wire.h"

#include <string.h>

void pipe_reset(struct pipe *pipe) {
    pipe->start = pipe->end = 0;
    pipe->written = 0;
    if (pipe->wire != NULL)
        wire_reset(pipe->wire);
}

size_t pipe_write(struct pipe *pipe, const void *data, size_t length) {
    size_t room = PIPE_BYTES - pipe->end;
    size_t taken = length < room ? length : room;
    if (taken == 0)
        return 0;
    memcpy(pipe->bytes + pipe->end, data, taken);
    if (pipe->wire != NULL)
        wire_feed(pipe->wire, data, taken);
    pipe->end += taken;
    pipe->written += taken;
    return taken;
}

size_t pipe_read(struct pipe *pipe, void *data, size_t length) {
    size_t held = pipe_pending(pipe);
    size_t given = length < held ? length : held;
    if (given > 0)
        memcpy(data, pipe->bytes + pipe->start, given);
    pipe->start += given;
    if (pipe->start == pipe->end)
        pipe->start = pipe->end = 0;
    return given;
}

size_t pipe_write_datagram(struct pipe *pipe, const void *data, uint16_t length) {
    if (length == 0 || PIPE_BYTES - pipe->end < sizeof length + (size_t)length)
        return 0;
    memcpy(pipe->bytes + pipe->end, &length, sizeof length);
    memcpy(pipe->bytes + pipe->end + sizeof length, data, length);
    pipe->end += sizeof length + length;
    pipe->written += length;
    if (pipe->wire != NULL && pipe->wire->reads_dtls)
        wire_feed_dtls(pipe->wire, data, length);
    else if (pipe->wire != NULL)
        wire_datagram(pipe->wire);
    return length;
}

const unsigned char *pipe_peek_datagram(const struct pipe *pipe, uint16_t *length) {
    memcpy(length, pipe->bytes + pipe->start, sizeof *length);
    return pipe->bytes + pipe->start + sizeof *length;
}

void pipe_drop_datagram(struct pipe *pipe) {
    uint16_t length;
    pipe_peek_datagram(pipe, &length);
    pipe->start += sizeof length + length;
    if (pipe->start == pipe->end)
        pipe->start = pipe->end = 0;
}

size_t pipe_read_datagram(struct pipe *pipe, void *data, size_t size) {
    uint16_t length;
    if (pipe_pending(pipe) == 0)
        return 0;
    const unsigned char *bytes = pipe_peek_datagram(pipe, &length);
    size_t given = length < size ? length : size;
    memcpy(data, bytes, given);
    pipe_drop_datagram(pipe);
    return given;
}

size_t pipe_pending(const struct pipe *pipe) {
    return pipe->end - pipe->start;
}
