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

/* Does the frame have bytes that were sent? As long as none is sent again, no more are sent than there are up
 * to the last one, in whatever order: since 1.12 a client sends its hello in pieces and shuffles them. */
static bool note_frame(struct sent *sent, const char *frame, const char *end) {
    const char *offset = after(frame, end, "\"offset\":"), *length = after(offset, end, "\"length\":");
    if (length == NULL)
        return false;
    uint64_t bytes = strtoull(length, NULL, 10), ends = strtoull(offset, NULL, 10) + bytes;
    sent->until = ends > sent->until ? ends : sent->until;
    sent->bytes += bytes;
    bool again = sent->bytes > sent->until;
    sent->bytes = again ? sent->until : sent->bytes;
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
        again = note_frame(&side->sent[kind], frame, end) || again;
    for (frame = event; (frame = after(frame, end, "\"frame_type\":\"stream\"")) != NULL;)
        again = note_frame(&side->sent[SENT_STREAM], frame, end) || again;
    side->sent_again += again;
}
