/* The two hellos, of any bytes: what they tell lies inside what was kept, and does not depend on how the
 * bytes were cut. The first byte says how, the second how many zeros follow. */
#include "wire.h"

#include "fuzz.h"

#include <sanitizer/asan_interface.h>

enum { ZEROS_MAX = 32 * 255 };

static struct wire whole, cut, of_datagram;

static void demand_inside(const struct wire *wire, const struct session_id *id) {
    demand(id->length < 256);
    demand(id->length == 0 ||
           (id->bytes >= wire->head && id->bytes + id->length <= wire->head + wire->head_length));
}

static void demand_same(const struct session_id *a, const struct session_id *b) {
    demand(a->length == b->length && (a->length == 0 || memcmp(a->bytes, b->bytes, a->length) == 0));
}

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* The bytes and the zeros behind them, at most `step` at a time. What is not kept must not be read. */
static void feed(struct wire *wire, const uint8_t *data, size_t size, size_t zeros, size_t step) {
    static const uint8_t zero[ZEROS_MAX];
    ASAN_UNPOISON_MEMORY_REGION(wire->head, sizeof wire->head);
    wire->counts_records = true;
    wire_reset(wire);
    for (size_t at = 0; at < size; at += step)
        wire_feed(wire, data + at, least(step, size - at));
    for (size_t at = 0; at < zeros; at += step)
        wire_feed(wire, zero, least(step, zeros - at));
    ASAN_POISON_MEMORY_REGION(wire->head + wire->head_length, sizeof wire->head - wire->head_length);
}

/* The same bytes as a datagram of DTLS. */
static void feed_datagram(const uint8_t *data, size_t size) {
    struct client_hello client;
    struct server_hello server;
    ASAN_UNPOISON_MEMORY_REGION(of_datagram.head, sizeof of_datagram.head);
    wire_reset(&of_datagram);
    wire_feed_dtls(&of_datagram, data, size);
    ASAN_POISON_MEMORY_REGION(of_datagram.head + of_datagram.head_length,
                              sizeof of_datagram.head - of_datagram.head_length);
    demand(of_datagram.head_length <= WIRE_HEAD_BYTES && of_datagram.records <= size);
    if (wire_client_hello(&of_datagram, &client))
        demand_inside(&of_datagram, &client.session_id);
    if (wire_server_hello(&of_datagram, &server))
        demand_inside(&of_datagram, &server.session_id);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct client_hello client, client_cut;
    struct server_hello server, server_cut;
    if (size < 2)
        return 0;
    size_t zeros = 32u * data[1], step = 1u + data[0];
    feed(&whole, data + 2, size - 2, zeros, SIZE_MAX / 2);
    feed(&cut, data + 2, size - 2, zeros, step);
    feed_datagram(data + 2, size - 2);
    size += zeros;
    demand(whole.head_length <= size && whole.head_length <= WIRE_HEAD_BYTES);
    demand(whole.records == cut.records && whole.head_length == cut.head_length);
    demand(whole.records <= size / 5);
    bool is_client = wire_client_hello(&whole, &client), is_server = wire_server_hello(&whole, &server);
    demand(!is_client || !is_server);
    demand(wire_client_hello(&cut, &client_cut) == is_client &&
           wire_server_hello(&cut, &server_cut) == is_server);
    if (is_client) {
        demand_inside(&whole, &client.session_id);
        demand_same(&client.session_id, &client_cut.session_id);
        demand(client.key_shares == client_cut.key_shares && client.ticket == client_cut.ticket);
        demand(client.key_shares <= size / 4);
    }
    if (is_server) {
        demand_inside(&whole, &server.session_id);
        demand_same(&server.session_id, &server_cut.session_id);
    }
    return 0;
}
