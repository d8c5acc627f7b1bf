/* Streams. In memory there are only those of early data. */
#include "ngtcp2_backend.h"

#include <stdlib.h>
#include <string.h>

unsigned char quic_early_data[EARLY_DATA_MAX];

static int take_early(struct quic_side *side, uint32_t flags, uint64_t offset, const uint8_t *data,
                      size_t length) {
    if (!(flags & STREAM_DATA_EARLY) && !side->tls.pipes.over_path)
        return 0;
    side->early_bytes += length;
    side->early_ended = side->early_ended || (flags & NGTCP2_STREAM_DATA_FLAG_FIN) != 0;
    if (offset > EARLY_DATA_MAX || length > EARLY_DATA_MAX - offset ||
        memcmp(data, quic_early_data + offset, length) != 0)
        side->early_differs = true;
    return 0;
}

/* Bounded by the limits that this side gave the other. */
int quic_take_stream(ngtcp2_conn *connection, uint32_t flags, int64_t stream, uint64_t offset,
                     const uint8_t *data, size_t length, void *user, void *stream_user) {
    struct quic_side *side = user;
    (void)connection, (void)stream, (void)stream_user;
    if (side->tls.takes_early)
        return take_early(side, flags, offset, data, length);
    if (length == 0)
        return 0;
    unsigned char *came = realloc(side->came, side->came_bytes + length);
    if (came == NULL)
        return NGTCP2_ERR_CALLBACK_FAILURE;
    memcpy(came + side->came_bytes, data, length);
    side->came = came;
    side->came_bytes += length;
    return 0;
}

long quic_receive(struct quic_side *side, void *data, size_t size) {
    size_t left = side->came_bytes - side->taken_bytes, given = left < size ? left : size;
    if (given > 0)
        memcpy(data, side->came + side->taken_bytes, given);
    side->taken_bytes += given;
    return (long)given;
}
