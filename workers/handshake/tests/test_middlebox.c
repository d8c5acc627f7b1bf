/* A middlebox in made-up time, with packets written byte by byte: what it takes for the rest of a
 * ClientHello. */
#include "middlebox.h"
#include "tun.h"

#include "check.h"

#include <stdlib.h>

enum { IP = 20, TCP = 32, UDP = 8, CONNECTION = 7 };

static struct middlebox box;
static struct headers headers;

static void put_32(unsigned char *to, uint32_t value) {
    value = htonl(value);
    memcpy(to, &value, sizeof value);
}

/* Its payload begins with `record`. */
static struct packet *packet_of(enum direction direction, bool is_tcp, uint32_t sequence, const char *record,
                                size_t payload) {
    size_t own = is_tcp ? TCP : UDP, length = IP + own + payload;
    struct packet *packet = calloc(1, sizeof *packet + length);
    unsigned char *at = packet->bytes;
    struct in_addr client = tun_client(CONNECTION);
    packet->length = (uint16_t)length;
    at[0] = 0x45;
    at[9] = is_tcp ? 6 : 17;
    memcpy(at + (direction == FROM_CLIENT ? 12 : 16), &client, sizeof client);
    if (is_tcp) {
        put_32(at + IP + 4, sequence);
        at[IP + 12] = TCP / 4 << 4;
    }
    for (size_t i = 0; record[i] != '\0' && i < payload; i++)
        at[IP + own + i] = (unsigned char)record[i];
    return packet;
}

/* What is not held is freed. */
static enum judged judge(enum direction direction, struct packet *packet, uint64_t now_ns) {
    CHECK(headers_read(packet, direction, &headers) && headers.connection == CONNECTION);
    enum judged judged = middlebox_judge(&box, packet, direction, &headers, now_ns);
    if (judged != MIDDLEBOX_HOLDS)
        free(packet);
    return judged;
}

static void begin(uint64_t delay_ns) {
    memset(&box, 0, sizeof box);
    box.delay_ns = delay_ns;
}

/* A record of 0x0605 bytes, so its last byte is 1,546 behind the first one's number. */
#define HELLO "\x16\x03\x01\x06\x05"
static enum judged client_sends(uint32_t sequence, const char *record, size_t payload) {
    return judge(FROM_CLIENT, packet_of(FROM_CLIENT, true, sequence, record, payload), 0);
}

static void drops(void) {
    static const uint32_t firsts[] = {1, 0x7FFFFF00, 0xFFFFFFF0, 0xFFFFFB00}; /* numbers go round */
    for (size_t i = 0; i < sizeof firsts / sizeof firsts[0]; i++) {
        uint32_t first = firsts[i];
        begin(PATH_SPLIT_DROPPED);
        CHECK(client_sends(first, "", 0) == MIDDLEBOX_PASSES);
        CHECK(client_sends(first, HELLO, 1000) == MIDDLEBOX_PASSES);
        CHECK(client_sends(first + 1000, "", 550) == MIDDLEBOX_DROPS);
        CHECK(client_sends(first, HELLO, 1000) == MIDDLEBOX_PASSES); /* again */
        CHECK(client_sends(first + 1000, "", 550) == MIDDLEBOX_DROPS);
        CHECK(client_sends(first + 1550, "", 100) == MIDDLEBOX_PASSES); /* early data */
        CHECK(judge(FROM_SERVER, packet_of(FROM_SERVER, true, 9, "", 0), 0) == MIDDLEBOX_PASSES);
        CHECK(client_sends(first + 1000, "", 550) == MIDDLEBOX_DROPS); /* an acknowledgement is no answer */
        CHECK(judge(FROM_SERVER, packet_of(FROM_SERVER, true, 9, "", 1), 0) == MIDDLEBOX_PASSES);
        CHECK(client_sends(first + 1000, "", 550) == MIDDLEBOX_PASSES);
        CHECK_NUMBER(box.packets, 3);
    }
}

static void short_hello(void) {
    begin(PATH_SPLIT_DROPPED);
    CHECK(client_sends(5, "\x16\x03\x01\x01\x00", 261) == MIDDLEBOX_PASSES);
    CHECK(client_sends(266, "\x17\x03\x03\x40\x00", 1400) == MIDDLEBOX_PASSES);
    CHECK_NUMBER(box.packets, 0);
}

static enum judged client_datagram(const char *bytes, size_t payload) {
    return judge(FROM_CLIENT, packet_of(FROM_CLIENT, false, 0, bytes, payload), 0);
}

static void quic(void) {
    begin(PATH_SPLIT_DROPPED);
    CHECK(client_datagram("\xC3", 1200) == MIDDLEBOX_PASSES);
    CHECK(client_datagram("\xC1", 1200) == MIDDLEBOX_DROPS);
    CHECK(client_datagram("\xD1", 1200) == MIDDLEBOX_PASSES); /* 0-RTT */
    CHECK(judge(FROM_SERVER, packet_of(FROM_SERVER, false, 0, "\xC1", 60), 0) == MIDDLEBOX_PASSES);
    CHECK(client_datagram("\xC1", 1200) == MIDDLEBOX_DROPS);
    CHECK(judge(FROM_SERVER, packet_of(FROM_SERVER, false, 0, "\xC1", 1200), 0) == MIDDLEBOX_PASSES);
    CHECK(client_datagram("\xC1", 1200) == MIDDLEBOX_PASSES);
    CHECK_NUMBER(box.packets, 2);
}

static void holds(void) {
    begin(200);
    CHECK(middlebox_due_ns(&box) == UINT64_MAX);
    CHECK(client_sends(1, HELLO, 700) == MIDDLEBOX_PASSES);
    struct packet *second = packet_of(FROM_CLIENT, true, 701, "", 700);
    struct packet *third = packet_of(FROM_CLIENT, true, 1401, "", 150);
    CHECK(judge(FROM_CLIENT, second, 1000) == MIDDLEBOX_HOLDS);
    CHECK(judge(FROM_CLIENT, third, 1010) == MIDDLEBOX_HOLDS);
    CHECK(middlebox_due_ns(&box) == 1200 && middlebox_let_go(&box) == second);
    CHECK(middlebox_due_ns(&box) == 1210 && middlebox_let_go(&box) == third);
    CHECK(middlebox_due_ns(&box) == UINT64_MAX);
    CHECK_NUMBER(box.packets, 2);
    free(second);
    free(third);
}

/* Whatever a length says, nothing behind the packet is read. */
static void cut_short(void) {
    for (int is_tcp = 0; is_tcp <= 1; is_tcp++) {
        struct packet *whole = packet_of(FROM_CLIENT, is_tcp, 1, "\xFF\xFF\xFF\xFF\xFF\xFF", 6);
        for (uint16_t length = 0; length <= whole->length; length++) {
            struct packet *cut = malloc(sizeof *cut + length);
            memcpy(cut, whole, sizeof *cut + length);
            cut->length = length;
            CHECK(headers_read(cut, FROM_CLIENT, &headers) == (length >= IP + (is_tcp ? TCP : UDP)));
            free(cut);
        }
        free(whole);
    }
}

int main(void) {
    sentence("what follows the first packet of a ClientHello is dropped until the server answers", drops);
    sentence("a ClientHello in one packet passes, and so does what is behind it", short_hello);
    sentence("of QUIC these are further datagrams with Initial packets", quic);
    sentence("or it is held back for a while, in its order", holds);
    sentence("a packet that is cut short is nobody's", cut_short);
    return check_failures != 0;
}
