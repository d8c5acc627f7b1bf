/* The record layer and the ServerHello, as far as they are in the clear (RFC 8446, sections 5.1 and 4.1.3).
 */
#include "wire.h"

#include <string.h>

const unsigned char WIRE_HELLO_RETRY_RANDOM[32] = {
    0xCF, 0x21, 0xAD, 0x74, 0xE5, 0x9A, 0x61, 0x11, 0xBE, 0x1D, 0x8C, 0x02, 0x1E, 0x65, 0xB8, 0x91,
    0xC2, 0xA2, 0x11, 0x16, 0x7A, 0xBB, 0x8C, 0x5E, 0x07, 0x9E, 0x09, 0xE2, 0xC8, 0xA8, 0x33, 0x9C};
enum { RECORD_HEADER = 5, HANDSHAKE_RECORD = 22, SERVER_HELLO = 2, PRE_SHARED_KEY = 41, KEY_SHARE = 51 };

void wire_reset(struct wire *wire) {
    wire->records = 0;
    wire->left_in_record = wire->header_bytes = wire->head_length = 0;
}

static void keep_head(struct wire *wire, const unsigned char *bytes, size_t length) {
    size_t room = WIRE_HEAD_BYTES - wire->head_length;
    size_t taken = length < room ? length : room;
    memcpy(wire->head + wire->head_length, bytes, taken);
    wire->head_length += taken;
}

void wire_feed(struct wire *wire, const unsigned char *bytes, size_t length) {
    keep_head(wire, bytes, length);
    while (length > 0) {
        if (wire->left_in_record > 0) {
            size_t skipped = length < wire->left_in_record ? length : wire->left_in_record;
            wire->left_in_record -= skipped;
            bytes += skipped;
            length -= skipped;
            continue;
        }
        wire->header[wire->header_bytes++] = *bytes++;
        length--;
        if (wire->header_bytes == RECORD_HEADER) {
            wire->header_bytes = 0;
            wire->records++;
            wire->left_in_record = (size_t)wire->header[3] << 8 | wire->header[4];
        }
    }
}

static size_t number(const unsigned char *at, size_t bytes) {
    size_t value = 0;
    while (bytes-- > 0)
        value = value << 8 | *at++;
    return value;
}

bool wire_server_hello(const struct wire *wire, struct server_hello *out) {
    const unsigned char *at = wire->head, *end = wire->head + wire->head_length;
    *out = (struct server_hello){0};
    if (end - at < RECORD_HEADER + 4 + 2 + 32 + 1 || at[0] != HANDSHAKE_RECORD ||
        at[RECORD_HEADER] != SERVER_HELLO)
        return false;
    size_t length = number(at + RECORD_HEADER + 1, 3);
    at += RECORD_HEADER + 4;
    if ((size_t)(end - at) < length)
        return false;
    end = at + length;
    out->hello_retry = memcmp(at + 2, WIRE_HELLO_RETRY_RANDOM, sizeof WIRE_HELLO_RETRY_RANDOM) == 0;
    at += 2 + 32;
    if ((size_t)(end - at) < 1u + at[0] + 3)
        return false;
    at += 1 + at[0] + 3; /* session id, cipher suite, compression */
    if (end - at < 2)
        return true; /* no extensions */
    at += 2;
    while (end - at >= 4) {
        size_t type = number(at, 2), size = number(at + 2, 2);
        if ((size_t)(end - at) < 4 + size)
            return false;
        out->key_share |= type == KEY_SHARE;
        out->pre_shared_key |= type == PRE_SHARED_KEY;
        at += 4 + size;
    }
    return true;
}
