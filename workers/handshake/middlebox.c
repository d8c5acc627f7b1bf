/* Which packets of a client are the rest of its ClientHello. */
#include "middlebox.h"

/* A record of TLS (RFC 8446, section 5.1); the first byte of a QUIC packet with a long header (RFC 9000,
 * section 17.2), whose other bits are encrypted. */
enum { RECORD_HEADER = 5, HANDSHAKE_RECORD = 22, LONG_HEADER = 0xF0, INITIAL = 0xC0 };
/* A server's datagram with more than acknowledgements has so many bytes (RFC 9000, section 14.1). */
enum { QUIC_ANSWER_LEAST = 1200 };

static bool is_answer(const struct headers *h) {
    return h->is_tcp ? h->payload_bytes > 0 : h->payload_bytes >= QUIC_ANSWER_LEAST;
}

/* All of the hello's record, however many packets it takes. */
static uint32_t hello_bytes(const struct headers *h) {
    const unsigned char *record = h->payload;
    if (h->payload_bytes < RECORD_HEADER || record[0] != HANDSHAKE_RECORD)
        return (uint32_t)h->payload_bytes;
    return RECORD_HEADER + ((uint32_t)record[3] << 8 | record[4]);
}

/* TCP repeats the first packet too; its numbers go round. */
static bool is_rest(const struct hello *hello, const struct headers *h) {
    if (!h->is_tcp)
        return (h->payload[0] & LONG_HEADER) == INITIAL;
    return h->sequence != hello->first && (int32_t)(h->sequence - hello->end) < 0;
}

enum judged middlebox_judge(struct middlebox *box, struct packet *packet, enum direction direction,
                            const struct headers *headers, uint64_t now_ns) {
    struct hello *hello = &box->hellos[headers->connection];
    if (direction == FROM_SERVER) {
        hello->answered = hello->answered || is_answer(headers);
        return MIDDLEBOX_PASSES;
    }
    if (headers->payload_bytes == 0 || hello->answered)
        return MIDDLEBOX_PASSES;
    if (!hello->begun) {
        *hello = (struct hello){.begun = true, .first = headers->sequence};
        hello->end = headers->sequence + hello_bytes(headers);
        return MIDDLEBOX_PASSES;
    }
    if (!is_rest(hello, headers))
        return MIDDLEBOX_PASSES;
    box->packets++;
    if (box->delay_ns == PATH_SPLIT_DROPPED)
        return MIDDLEBOX_DROPS;
    packet->due_ns = now_ns + box->delay_ns;
    packet->next = NULL;
    if (box->first == NULL)
        box->first = packet;
    else
        box->last->next = packet;
    box->last = packet;
    return MIDDLEBOX_HOLDS;
}

uint64_t middlebox_due_ns(const struct middlebox *box) {
    return box->first == NULL ? UINT64_MAX : box->first->due_ns;
}

struct packet *middlebox_let_go(struct middlebox *box) {
    struct packet *packet = box->first;
    box->first = packet->next;
    return packet;
}
