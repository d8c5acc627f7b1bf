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

size_t pipe_pending(const struct pipe *pipe) {
    return pipe->end - pipe->start;
}
