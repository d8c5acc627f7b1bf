/* The records and handshake messages of DTLS, as far as they are in the clear (RFC 6347, section 4; RFC 9147,
 * sections 4 and 5). A hello is put together from its fragments, which come in order here, and kept as a
 * record of TLS would have it. */
#include "wire.h"

#include <string.h>

enum { RECORD_HEADER = 13, MESSAGE_HEADER = 12, TLS_RECORD_HEADER = 5, TLS_MESSAGE_HEADER = 4 };
enum { CHANGE_CIPHER_SPEC_RECORD = 20, HANDSHAKE_RECORD = 22, LAST_PLAIN_RECORD = 26 };
enum { CLIENT_HELLO = 1, SERVER_HELLO = 2, HELLO_VERIFY_REQUEST = 3 };
/* RFC 9147, section 4: the first byte of a ciphertext's header, which begins with the bits 001. */
enum { UNIFIED_MASK = 0xE0, UNIFIED = 0x20, CONNECTION_ID = 0x10, LONG_NUMBER = 0x08, HAS_LENGTH = 0x04 };

static size_t number(const unsigned char *at, size_t bytes) {
    size_t value = 0;
    while (bytes-- > 0)
        value = value << 8 | *at++;
    return value;
}

/* Bytes of a record's header, and of all of it; 0: it is none, or cut off. */
static size_t record_bytes(const unsigned char *at, size_t length, size_t *header) {
    size_t body;
    if (at[0] >= CHANGE_CIPHER_SPEC_RECORD && at[0] <= LAST_PLAIN_RECORD) {
        *header = RECORD_HEADER;
        if (length < RECORD_HEADER)
            return 0;
        body = number(at + 11, 2);
    } else if ((at[0] & UNIFIED_MASK) == UNIFIED && (at[0] & CONNECTION_ID) == 0) {
        size_t before = 1 + (at[0] & LONG_NUMBER ? 2 : 1);
        *header = before + (at[0] & HAS_LENGTH ? 2 : 0);
        if (length < *header)
            return 0;
        body = at[0] & HAS_LENGTH ? number(at + before, 2) : length - *header;
    } else {
        return 0;
    }
    return *header + body <= length ? *header + body : 0;
}

static void keep(struct wire *wire, const unsigned char *bytes, size_t length) {
    size_t room = WIRE_HEAD_BYTES - wire->head_length, taken = length < room ? length : room;
    memcpy(wire->head + wire->head_length, bytes, taken);
    wire->head_length += taken;
}

/* The server asks for a cookie first: by a message of its own, or in TLS 1.3 by a HelloRetryRequest, behind
 * which its ServerHello comes. */
static void end_hello(struct wire *wire) {
    struct server_hello hello;
    wire->head_whole = true;
    if (wire->asked_to_retry || !wire_server_hello(wire, &hello) || !hello.hello_retry)
        return; /* there is one at most (RFC 8446, section 4.1.4) */
    wire->asked_to_retry = true;
    wire->asked_for_cookie |= hello.cookie;
    wire->head_length = 0;
    wire->head_whole = false;
}

static void feed_fragment(struct wire *wire, const unsigned char *message, size_t length) {
    size_t whole = number(message + 1, 3), offset = number(message + 6, 3);
    unsigned char type = message[0];
    if (type == HELLO_VERIFY_REQUEST)
        wire->asked_for_cookie = true;
    if (wire->head_whole && wire->next_length == 0 && offset == 0) {
        wire->next[0] = HANDSHAKE_RECORD;
        wire->next[TLS_RECORD_HEADER] = type;
        wire->next_length = WIRE_NEXT_BYTES;
    }
    if (wire->head_whole || (type != CLIENT_HELLO && type != SERVER_HELLO))
        return;
    if (wire->head_length == 0 && offset == 0) {
        size_t body = TLS_MESSAGE_HEADER + whole;
        unsigned char header[TLS_RECORD_HEADER] = {HANDSHAKE_RECORD, 3, 3, (unsigned char)(body >> 8),
                                                   (unsigned char)body};
        keep(wire, header, sizeof header);
        keep(wire, message, TLS_MESSAGE_HEADER);
    }
    if (wire->head_length != TLS_RECORD_HEADER + TLS_MESSAGE_HEADER + offset)
        return; /* sent again */
    keep(wire, message + MESSAGE_HEADER, length);
    if (offset + length == whole)
        end_hello(wire);
}

static void feed_messages(struct wire *wire, const unsigned char *at, size_t length) {
    while (length >= MESSAGE_HEADER) {
        size_t fragment = number(at + 9, 3);
        if (length < MESSAGE_HEADER + fragment)
            return;
        feed_fragment(wire, at, fragment);
        at += MESSAGE_HEADER + fragment;
        length -= MESSAGE_HEADER + fragment;
    }
}

void wire_feed_dtls(struct wire *wire, const unsigned char *bytes, size_t length) {
    bool all_read = wire->head_whole && wire->next_length == WIRE_NEXT_BYTES;
    wire->dtls = true;
    while (length > 0 && (wire->counts_records || !all_read)) {
        size_t header, record = record_bytes(bytes, length, &header);
        if (record == 0)
            return;
        bool plain = header == RECORD_HEADER && number(bytes + 3, 2) == 0; /* of the first epoch */
        wire->records += wire->counts_records;
        if (plain && bytes[0] == HANDSHAKE_RECORD)
            feed_messages(wire, bytes + header, record - header);
        if (plain && bytes[0] == CHANGE_CIPHER_SPEC_RECORD && wire->head_whole && wire->next_length == 0) {
            wire->next[0] = CHANGE_CIPHER_SPEC_RECORD;
            wire->next_length = WIRE_NEXT_BYTES;
        }
        bytes += record;
        length -= record;
    }
}
