/* Reads along on one direction of a handshake: counts TLS records, and parses the server's
 * first message, which is in the clear in every version of TLS. So two facts that no library
 * tells are proven by the bytes themselves: that a HelloRetryRequest was sent, and whether a
 * resumption came with a key share. */
#ifndef KEXBENCH_WIRE_H
#define KEXBENCH_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WIRE_HEAD_BYTES = 4096 };

/* RFC 8446, section 4.1.3: the random of a ServerHello that is a HelloRetryRequest. */
extern const unsigned char WIRE_HELLO_RETRY_RANDOM[32];

struct wire {
    uint64_t records;
    size_t left_in_record; /* of the record that is being written */
    size_t header_bytes;   /* how much of the next record's header was seen */
    unsigned char header[5];
    size_t head_length;
    unsigned char head[WIRE_HEAD_BYTES]; /* the first bytes of the direction */
};

struct server_hello {
    bool hello_retry;
    bool key_share;
    bool pre_shared_key;
};

void wire_reset(struct wire *wire);
void wire_feed(struct wire *wire, const unsigned char *bytes, size_t length);

/* False: the head holds no whole ServerHello. */
bool wire_server_hello(const struct wire *wire, struct server_hello *out);

#endif
