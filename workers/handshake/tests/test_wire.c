/* What is read off the wire: records across any cut of the bytes, and the facts of a ServerHello. */
#include "pipe.h"
#include "wire.h"

#include "check.h"

static struct wire wire;

/* A ServerHello in one record, with a session id of two bytes and the extensions given as types. */
static size_t hello(unsigned char *out, bool retry, const unsigned char *types, size_t count) {
    size_t body = 2 + 32 + 1 + 2 + 3 + 2 + 4 * count;
    unsigned char head[] = {22, 3, 3, 0, (unsigned char)(body + 4), 2, 0, 0, (unsigned char)body, 3, 3};
    memcpy(out, head, sizeof head);
    memset(out + sizeof head, 7, 32);
    if (retry)
        memcpy(out + sizeof head, WIRE_HELLO_RETRY_RANDOM, 32);
    unsigned char *at = out + sizeof head + 32;
    memcpy(at, "\x02\x01\x01\x13\x01\x00\x00", 7);
    at[7] = (unsigned char)(4 * count);
    for (size_t i = 0; i < count; i++)
        memcpy(at + 8 + 4 * i, (unsigned char[]){0, types[i], 0, 0}, 4);
    return body + 4 + 5;
}

static void records(void) {
    unsigned char bytes[300] = {0};
    size_t sizes[] = {1, 100, 0, 160}, length = 0;
    wire.counts_records = true;
    for (size_t i = 0; i < 4; i++) {
        bytes[length + 4] = (unsigned char)sizes[i];
        length += 5 + sizes[i];
    }
    for (size_t step = 1; step <= length; step++) {
        wire_reset(&wire);
        for (size_t at = 0; at < length; at += step)
            wire_feed(&wire, bytes + at, length - at < step ? length - at : step);
        CHECK_NUMBER(wire.records, 4);
    }
}

static void facts(void) {
    unsigned char bytes[128];
    struct server_hello found;
    wire_reset(&wire);
    wire_feed(&wire, bytes, hello(bytes, false, (unsigned char[]){43, 51}, 2));
    CHECK(wire_server_hello(&wire, &found));
    CHECK(found.key_share && !found.pre_shared_key && !found.hello_retry && !found.extended_master_secret);
    wire_reset(&wire);
    wire_feed(&wire, bytes, hello(bytes, true, (unsigned char[]){41}, 1));
    CHECK(wire_server_hello(&wire, &found));
    CHECK(!found.key_share && found.pre_shared_key && found.hello_retry && !found.encrypt_then_mac);
    wire_reset(&wire);
    wire_feed(&wire, bytes, hello(bytes, false, (unsigned char[]){23, 22}, 2));
    CHECK(wire_server_hello(&wire, &found) && found.encrypt_then_mac && found.extended_master_secret);
}

/* What stands behind the ServerHello, in its record or in the next one. */
static void what_follows(void) {
    static const struct {
        unsigned char record, message;
        bool resumes;
    } next[] = {{20, 1, true}, {22, 4, true}, {22, 11, false}, {21, 4, false}};
    unsigned char bytes[128];
    struct server_hello found;
    for (size_t i = 0; i < sizeof next / sizeof next[0]; i++) {
        size_t length = hello(bytes, false, (unsigned char[]){23}, 1);
        memcpy(bytes + length, (unsigned char[]){next[i].record, 3, 3, 0, 9, next[i].message, 0}, 7);
        wire_reset(&wire);
        for (size_t at = 0; at < length + 7; at++) {
            CHECK(!wire_server_hello(&wire, &found) || !found.resumes || at == length + 6);
            wire_feed(&wire, bytes + at, 1);
        }
        CHECK(wire_server_hello(&wire, &found) && found.resumes == next[i].resumes);
        CHECK(found.new_ticket == (next[i].record == 22 && next[i].message == 4));
        bytes[4] += 2; /* in the same record */
        memcpy(bytes + length, (unsigned char[]){next[i].message, 0}, 2);
        wire_reset(&wire);
        wire_feed(&wire, bytes, length + 2);
        CHECK(wire_server_hello(&wire, &found) && found.resumes == (next[i].message == 4));
        CHECK(found.new_ticket == found.resumes);
    }
}

/* A session id of two bytes, one cipher suite, then these extensions. */
static size_t client_hello(unsigned char *out, const unsigned char *extensions, size_t length) {
    unsigned char body[] = {22, 3, 3, 0, 0, 1, 0, 0, 0, 3, 3};
    size_t size = 2 + 32 + 3 + 4 + 2 + 2 + length;
    body[4] = (unsigned char)(size + 4);
    body[8] = (unsigned char)size;
    memcpy(out, body, sizeof body);
    memset(out + sizeof body, 7, 32);
    memcpy(out + sizeof body + 32, (unsigned char[]){2, 8, 9, 0, 2, 0x13, 1, 1, 0, 0, (unsigned char)length},
           11);
    memcpy(out + sizeof body + 43, extensions, length);
    return size + 9;
}

static void client_facts(void) {
    /* An empty ticket asks for one; two key shares, of one byte and of two. */
    static const unsigned char asks[] = {0, 35, 0, 0, 0, 51, 0, 13, 0, 11, 0, 29, 0, 1, 5, 0, 23, 0, 2, 5, 5};
    static const unsigned char shows[] = {0, 35, 0, 2, 1, 1};
    unsigned char bytes[128];
    struct client_hello found;
    size_t length = client_hello(bytes, asks, sizeof asks);
    for (size_t kept = 0; kept <= length; kept++) {
        wire_reset(&wire);
        for (size_t at = 0; at < kept; at++)
            wire_feed(&wire, bytes + at, 1);
        CHECK(wire_client_hello(&wire, &found) == (kept == length));
    }
    CHECK_NUMBER(found.key_shares, 2);
    CHECK(!found.ticket && found.session_id.length == 2 &&
          memcmp(found.session_id.bytes, "\x08\x09", 2) == 0);
    wire_reset(&wire);
    wire_feed(&wire, bytes, client_hello(bytes, shows, sizeof shows));
    CHECK(wire_client_hello(&wire, &found) && found.ticket && found.key_shares == 0);
    bytes[5] = 2; /* a ServerHello */
    wire_reset(&wire);
    wire_feed(&wire, bytes, length);
    CHECK(!wire_client_hello(&wire, &found));
}

static void first_record_alone(void) {
    unsigned char bytes[256];
    struct server_hello found;
    size_t length = hello(bytes, false, (unsigned char[]){51}, 1);
    memset(bytes + length, 22, 100);
    wire_reset(&wire);
    wire_feed(&wire, bytes, length + 100);
    CHECK_NUMBER(wire.head_length, length);
    CHECK(wire_server_hello(&wire, &found) && found.key_share);
}

/* QUIC's CRYPTO frames hold the same message without a record's header. */
static void in_initial_packets(void) {
    unsigned char bytes[256];
    struct server_hello found;
    size_t length = hello(bytes, true, (unsigned char[]){43, 51}, 2), header = 5, half = length / 2;
    wire_reset(&wire);
    for (size_t i = header; i < length; i++) /* newer clients send the first bytes apart */
        wire_feed_initial(&wire, bytes + i, 1);
    CHECK(wire_server_hello(&wire, &found) && found.key_share && found.hello_retry);
    CHECK_NUMBER(wire.head_length, length);
    wire_reset(&wire);
    wire_feed_initial(&wire, bytes + header, half - header);
    CHECK(!wire_server_hello(&wire, &found));
    wire_feed_initial(&wire, bytes + half, length - half);
    wire_feed_initial(&wire, bytes + header, length - header); /* the next message is not kept */
    CHECK(wire_server_hello(&wire, &found) && found.key_share && found.hello_retry);
    CHECK_NUMBER(wire.head_length, length);
    wire.counts_records = true;
    wire_datagram(&wire);
    CHECK_NUMBER(wire.records, 1);
}

static void datagrams(void) {
    static struct pipe pipe = {.wire = &wire};
    static unsigned char bytes[65535];
    char got[8] = "";
    pipe_reset(&pipe);
    CHECK_NUMBER(pipe_write_datagram(&pipe, "first", 5), 5);
    CHECK_NUMBER(pipe_write_datagram(&pipe, "longer than eight", 17), 17);
    CHECK_NUMBER(pipe_write_datagram(&pipe, "last", 4), 4);
    CHECK_NUMBER(pipe.written, 26);
    CHECK_NUMBER(pipe_read_datagram(&pipe, got, sizeof got), 5);
    CHECK(memcmp(got, "first", 5) == 0);
    CHECK_NUMBER(pipe_read_datagram(&pipe, got, sizeof got), 8);
    CHECK_NUMBER(pipe_read_datagram(&pipe, got, sizeof got), 4);
    CHECK(memcmp(got, "last", 4) == 0);
    CHECK_NUMBER(pipe_read_datagram(&pipe, got, sizeof got), 0);
    CHECK_NUMBER(pipe_write_datagram(&pipe, bytes, sizeof bytes), sizeof bytes);
    CHECK_NUMBER(pipe_write_datagram(&pipe, bytes, sizeof bytes), 0); /* whole or not at all */
    CHECK_NUMBER(pipe_pending(&pipe), sizeof bytes + 2);
}

/* A datagram with one fragment of a message of DTLS, whose body begins behind the header of TLS. */
static size_t fragment(unsigned char *out, const unsigned char *message, size_t from, size_t bytes) {
    const unsigned char header[13] = {22, 0xFE, 0xFD, [12] = (unsigned char)(12 + bytes)};
    memcpy(out, header, sizeof header);
    memcpy(out + 13, message, 4);
    memcpy(out + 17, (unsigned char[]){0, 0, 0, 0, (unsigned char)from, 0, 0, (unsigned char)bytes}, 8);
    memcpy(out + 25, message + 4 + from, bytes);
    return 25 + bytes;
}

static void in_datagrams(void) {
    static const unsigned char verify[] = {3, 0, 0, 3, 0xFE, 0xFF, 0}, certificate[] = {11, 0, 0, 1, 0};
    unsigned char bytes[128], out[160];
    struct server_hello found;
    wire_reset(&wire);
    wire.counts_records = true;
    wire_feed_dtls(&wire, out, fragment(out, verify, 0, 3));
    CHECK(!wire_server_hello(&wire, &found));
    size_t body = hello(bytes, false, (unsigned char[]){23, 35}, 2) - 9;
    wire_feed_dtls(&wire, out, fragment(out, bytes + 5, 0, 20));
    CHECK(!wire_server_hello(&wire, &found));
    wire_feed_dtls(&wire, out, fragment(out, bytes + 5, 0, 20)); /* sent again */
    wire_feed_dtls(&wire, out, fragment(out, bytes + 5, 20, body - 20));
    CHECK(wire_server_hello(&wire, &found));
    CHECK(found.cookie && found.extended_master_secret && !found.hello_retry && !found.resumes);
    wire_feed_dtls(&wire, out, fragment(out, certificate, 0, 1));
    CHECK(wire_server_hello(&wire, &found) && !found.new_ticket && !found.resumes);
    /* Two encrypted records in one datagram, the second without a length. */
    wire_feed_dtls(&wire, (unsigned char[]){0x2F, 0, 1, 0, 2, 9, 9, 0x23, 0, 9, 9, 9}, 12);
    CHECK_NUMBER(wire.records, 7);
}

static void retried_in_datagrams(void) {
    unsigned char bytes[128], out[160];
    struct server_hello found;
    wire_reset(&wire);
    size_t body = hello(bytes, true, (unsigned char[]){44}, 1) - 9;
    wire_feed_dtls(&wire, out, fragment(out, bytes + 5, 0, body));
    CHECK(!wire_server_hello(&wire, &found));
    body = hello(bytes, false, (unsigned char[]){51, 41}, 2) - 9;
    wire_feed_dtls(&wire, out, fragment(out, bytes + 5, 0, body));
    CHECK(wire_server_hello(&wire, &found));
    CHECK(found.hello_retry && found.cookie && found.key_share && found.pre_shared_key);
}

static void cut_short(void) {
    unsigned char bytes[128];
    struct server_hello found;
    size_t length = hello(bytes, false, (unsigned char[]){43, 51, 41}, 3);
    for (size_t kept = 0; kept < length; kept++) {
        wire_reset(&wire);
        wire_feed(&wire, bytes, kept);
        CHECK(!wire_server_hello(&wire, &found));
    }
    bytes[5] = 1; /* a ClientHello */
    wire_reset(&wire);
    wire_feed(&wire, bytes, length);
    CHECK(!wire_server_hello(&wire, &found));
}

int main(void) {
    sentence("records are counted however the bytes are cut", records);
    sentence("a ServerHello tells its extensions and whether it is a HelloRetryRequest", facts);
    sentence("a ClientHello tells its session id, its key shares and whether it shows a ticket",
             client_facts);
    sentence("what follows the first record is not kept", first_record_alone);
    sentence("whether a resumption or a certificate follows a ServerHello is told", what_follows);
    sentence("a hello in QUIC's Initial packets is read like one in a record", in_initial_packets);
    sentence("a hello of DTLS is put together from fragments, behind the request of a cookie", in_datagrams);
    sentence("behind a HelloRetryRequest of DTLS the ServerHello is read", retried_in_datagrams);
    sentence("a pipe gives datagrams as it took them, and counts their own bytes", datagrams);
    sentence("half a ServerHello, or another message, tells nothing", cut_short);
    return check_failures != 0;
}
