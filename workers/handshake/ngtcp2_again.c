/* Which packets had data that an earlier one had had. The library counts none before its version 1.16, but
 * logs each packet with its frames (draft-ietf-quic-qlog-quic-events). */
#include "ngtcp2_backend.h"

#include <stdlib.h>
#include <string.h>

/* What follows `word`, or NULL. Whoever reads a number there finds its end: the event is whole. */
static const char *after(const char *text, const char *end, const char *word) {
    const char *found = text == NULL ? NULL : memmem(text, (size_t)(end - text), word, strlen(word));
    return found == NULL ? NULL : found + strlen(word);
}

static int kind_of(const char *event, const char *end) {
    if (after(event, end, "\"packet_type\":\"initial\"") != NULL)
        return SENT_INITIAL;
    return after(event, end, "\"packet_type\":\"handshake\"") != NULL ? SENT_HANDSHAKE : SENT_LATER;
}

/* Are the frame's first bytes such as were sent? */
static bool note_frame(uint64_t *until, const char *frame, const char *end) {
    const char *offset = after(frame, end, "\"offset\":"), *length = after(offset, end, "\"length\":");
    if (length == NULL)
        return false;
    uint64_t begins = strtoull(offset, NULL, 10), ends = begins + strtoull(length, NULL, 10);
    bool again = begins < *until;
    *until = ends > *until ? ends : *until;
    return again;
}

void quic_note_sent(void *user, uint32_t flags, const void *data, size_t bytes) {
    struct quic_side *side = user;
    const char *event = data, *end = event + bytes, *frame;
    bool again = false;
    (void)flags;
    if (after(event, end, "\"transport:packet_sent\"") == NULL)
        return;
    int kind = kind_of(event, end);
    for (frame = event; (frame = after(frame, end, "\"frame_type\":\"crypto\"")) != NULL;)
        again = note_frame(&side->sent_until[kind], frame, end) || again;
    for (frame = event; (frame = after(frame, end, "\"frame_type\":\"stream\"")) != NULL;)
        again = note_frame(&side->sent_until[SENT_STREAM], frame, end) || again;
    side->sent_again += again;
}
