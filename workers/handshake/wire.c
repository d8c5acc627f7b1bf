/* The record layer and both hellos, as far as they are in the clear (RFC 8446, sections 5.1, 4.1.2
 * and 4.1.3).
 */
#include "wire.h"

#include <string.h>

const unsigned char WIRE_HELLO_RETRY_RANDOM[32] = {
    0xCF, 0x21, 0xAD, 0x74, 0xE5, 0x9A, 0x61, 0x11, 0xBE, 0x1D, 0x8C, 0x02, 0x1E, 0x65, 0xB8, 0x91,
    0xC2, 0xA2, 0x11, 0x16, 0x7A, 0xBB, 0x8C, 0x5E, 0x07, 0x9E, 0x09, 0xE2, 0xC8, 0xA8, 0x33, 0x9C};
enum { RECORD_HEADER = 5, CHANGE_CIPHER_SPEC_RECORD = 20, HANDSHAKE_RECORD = 22 };
enum { CLIENT_HELLO = 1, SERVER_HELLO = 2, NEW_SESSION_TICKET = 4 };
enum {
    SERVER_NAME = 0,
    ENCRYPT_THEN_MAC = 22,
    EXTENDED_MASTER_SECRET = 23,
    SESSION_TICKET = 35,
    PRE_SHARED_KEY = 41,
    COOKIE = 44,
    KEY_SHARE = 51
};

void wire_reset(struct wire *wire) {
    wire->records = 0;
    wire->largest_record = 0;
    wire->left_in_record = wire->header_bytes = wire->head_length = wire->next_length = 0;
    wire->head_whole = wire->dtls = wire->asked_for_cookie = wire->asked_to_retry = false;
}

static size_t number(const unsigned char *at, size_t bytes) {
    size_t value = 0;
    while (bytes-- > 0)
        value = value << 8 | *at++;
    return value;
}

/* As much of the first record as these bytes hold and as there is room for. */
static size_t keep_up_to(struct wire *wire, const unsigned char *bytes, size_t length, size_t end) {
    size_t missing = wire->head_length < end ? end - wire->head_length : 0;
    size_t taken = length < missing ? length : missing;
    memcpy(wire->head + wire->head_length, bytes, taken);
    wire->head_length += taken;
    return taken;
}

/* How many of the bytes are of the first record. */
static size_t keep_head(struct wire *wire, const unsigned char *bytes, size_t length) {
    size_t taken = keep_up_to(wire, bytes, length, RECORD_HEADER);
    if (wire->head_length < RECORD_HEADER)
        return taken;
    size_t end = RECORD_HEADER + number(wire->head + 3, 2);
    end = end < WIRE_HEAD_BYTES ? end : WIRE_HEAD_BYTES;
    taken += keep_up_to(wire, bytes + taken, length - taken, end);
    wire->head_whole = wire->head_length == end;
    return taken;
}

static void keep_next(struct wire *wire, const unsigned char *bytes, size_t length) {
    size_t missing = WIRE_NEXT_BYTES - wire->next_length;
    size_t taken = length < missing ? length : missing;
    memcpy(wire->next + wire->next_length, bytes, taken);
    wire->next_length += taken;
}

void wire_datagram(struct wire *wire) {
    wire->records += wire->counts_records;
}

/* The first message gets a record's header, which QUIC does without. A client may send its first bytes apart.
 */
void wire_feed_initial(struct wire *wire, const unsigned char *bytes, size_t length) {
    enum { MESSAGE_HEADER = 4 };
    while (wire->header_bytes < MESSAGE_HEADER && length > 0) {
        wire->header[wire->header_bytes++] = *bytes++;
        length--;
        if (wire->header_bytes < MESSAGE_HEADER)
            continue;
        size_t message = MESSAGE_HEADER + number(wire->header + 1, MESSAGE_HEADER - 1);
        unsigned char header[RECORD_HEADER] = {HANDSHAKE_RECORD, 3, 3, (unsigned char)(message >> 8),
                                               (unsigned char)message};
        keep_head(wire, header, sizeof header);
        keep_head(wire, wire->header, MESSAGE_HEADER);
    }
    if (wire->header_bytes == MESSAGE_HEADER && !wire->head_whole)
        keep_head(wire, bytes, length);
}

void wire_feed(struct wire *wire, const unsigned char *bytes, size_t length) {
    size_t of_head = wire->head_whole ? 0 : keep_head(wire, bytes, length);
    if (wire->head_whole && wire->next_length < WIRE_NEXT_BYTES)
        keep_next(wire, bytes + of_head, length - of_head);
    if (!wire->counts_records)
        return;
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
            if (wire->left_in_record > wire->largest_record)
                wire->largest_record = wire->left_in_record;
        }
    }
}

/* What is left to read of a message. */
struct rest {
    const unsigned char *at;
    size_t length;
};

static bool skip(struct rest *rest, size_t bytes) {
    if (rest->length < bytes)
        return false;
    rest->at += bytes;
    rest->length -= bytes;
    return true;
}

/* A vector whose length stands before it in so many bytes. */
static bool vector(struct rest *rest, size_t length_bytes, struct rest *out) {
    if (rest->length < length_bytes)
        return false;
    size_t length = number(rest->at, length_bytes);
    *out = (struct rest){rest->at + length_bytes, length};
    return skip(rest, length_bytes + length);
}

/* The body of the first message, up to behind its session id; and what is behind it in its record. */
static bool hello(const struct wire *wire, unsigned char type, struct rest *body, struct rest *behind,
                  const unsigned char **random, struct session_id *id) {
    struct rest record = {wire->head, wire->head_length}, id_bytes;
    if (record.length < RECORD_HEADER + 1 || record.at[0] != HANDSHAKE_RECORD ||
        record.at[RECORD_HEADER] != type)
        return false;
    if (!skip(&record, RECORD_HEADER + 1) || !vector(&record, 3, body) || !skip(body, 2))
        return false;
    *behind = record;
    *random = body->at;
    if (!skip(body, sizeof WIRE_HELLO_RETRY_RANDOM) || !vector(body, 1, &id_bytes))
        return false;
    *id = (struct session_id){id_bytes.at, id_bytes.length};
    return true;
}

/* The next extension. False: there is none, or `extensions` ends in the middle of one, which `whole` tells.
 */
static bool extension(struct rest *extensions, size_t *type, struct rest *out, bool *whole) {
    *whole = extensions->length == 0;
    if (extensions->length < 2)
        return false;
    *type = number(extensions->at, 2);
    return skip(extensions, 2) && vector(extensions, 2, out);
}

static bool count_key_shares(struct rest extension_body, unsigned *out) {
    struct rest list, key;
    if (!vector(&extension_body, 2, &list))
        return false;
    while (list.length > 0) {
        if (!skip(&list, 2) || !vector(&list, 2, &key))
            return false;
        ++*out;
    }
    return true;
}

/* RFC 8446, section 4.2.11: a list of identities, each with its age, before the list of binders. Of a long
 * message not all of it may have been kept. */
static void first_identity(struct rest extension_body, struct session_id *out) {
    const unsigned char *at = extension_body.at;
    size_t length = extension_body.length < 4 ? 0 : number(at + 2, 2);
    if (length > 0 && length <= extension_body.length - 4)
        *out = (struct session_id){at + 4, length};
}

/* RFC 6066, section 3: a list of names, each behind its type. */
static void first_name(struct rest extension_body, struct session_id *out) {
    enum { HOST_NAME = 0 };
    struct rest list, name;
    if (vector(&extension_body, 2, &list) && list.length > 0 && list.at[0] == HOST_NAME && skip(&list, 1) &&
        vector(&list, 2, &name))
        *out = (struct session_id){name.at, name.length};
}

bool wire_client_hello(const struct wire *wire, struct client_hello *out) {
    struct rest body, behind, unused, extensions, one;
    const unsigned char *random;
    size_t type;
    bool whole;
    *out = (struct client_hello){0};
    if (!hello(wire, CLIENT_HELLO, &body, &behind, &random, &out->session_id) ||
        (wire->dtls && !vector(&body, 1, &unused)) ||             /* the cookie */
        !vector(&body, 2, &unused) || !vector(&body, 1, &unused)) /* cipher suites and compression */
        return false;
    if (body.length == 0)
        return true;
    if (!vector(&body, 2, &extensions))
        return false;
    while (extension(&extensions, &type, &one, &whole)) {
        if (type == KEY_SHARE && !count_key_shares(one, &out->key_shares))
            return false;
        if (type == SERVER_NAME)
            first_name(one, &out->server_name);
        if (type == PRE_SHARED_KEY)
            first_identity(one, &out->psk_identity);
        out->ticket |= type == SESSION_TICKET && one.length > 0;
    }
    return whole;
}

/* The message may be in the same record. */
static bool issues_ticket(const struct wire *wire, const struct rest *behind) {
    if (behind->length > 0)
        return behind->at[0] == NEW_SESSION_TICKET;
    return wire->next_length == WIRE_NEXT_BYTES && wire->next[0] == HANDSHAKE_RECORD &&
           wire->next[RECORD_HEADER] == NEW_SESSION_TICKET;
}

bool wire_server_hello(const struct wire *wire, struct server_hello *out) {
    struct rest body, behind, extensions, one;
    const unsigned char *random;
    size_t type;
    bool whole;
    *out = (struct server_hello){0};
    if (!hello(wire, SERVER_HELLO, &body, &behind, &random, &out->session_id) ||
        !skip(&body, 3)) /* cipher suite and compression */
        return false;
    out->new_ticket = issues_ticket(wire, &behind);
    /* RFC 5077, section 3.1: an abbreviated handshake has no certificate. */
    out->resumes = out->new_ticket || (behind.length == 0 && wire->next_length == WIRE_NEXT_BYTES &&
                                       wire->next[0] == CHANGE_CIPHER_SPEC_RECORD);
    out->hello_retry =
        wire->asked_to_retry || memcmp(random, WIRE_HELLO_RETRY_RANDOM, sizeof WIRE_HELLO_RETRY_RANDOM) == 0;
    out->cookie = wire->asked_for_cookie;
    if (body.length == 0)
        return true;
    if (!vector(&body, 2, &extensions))
        return false;
    while (extension(&extensions, &type, &one, &whole)) {
        out->key_share |= type == KEY_SHARE;
        out->cookie |= type == COOKIE;
        out->pre_shared_key |= type == PRE_SHARED_KEY;
        out->encrypt_then_mac |= type == ENCRYPT_THEN_MAC;
        out->extended_master_secret |= type == EXTENDED_MASTER_SECRET;
    }
    return whole;
}
