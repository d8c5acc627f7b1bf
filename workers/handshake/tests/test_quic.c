/* The backend of QUIC: every row of TLS 1.3 as QUIC and no other protocol, early data that is taken once, and
 * what QUIC itself bounds. The folder with the material is the argument. */
#include "examine.h"
#include "measure.h"
#include "ngtcp2_backend.h"

#include "check.h"
#include "matrix.h"

#define EARLY "resumption=psk-dhe early_data_bytes=1024 anti_replay=yes"

static const char *material;
static struct fault fault;

static bool set_up(struct prepared *p, const struct tls_case *c, struct negotiated *seen) {
    memset(&fault, 0, sizeof fault);
    return prepare(p, &linked_backend, c, material, -1, seen, &fault);
}

static struct tls_case quic_case(const char *further) {
    struct row row = {"QUICv1", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", further};
    return case_of(&row);
}

static void tls_is_unsupported(void) {
    for (size_t i = 0; i < ROWS; i++) {
        struct tls_case c = case_of(&rows[i]);
        struct negotiated seen = {0};
        struct prepared p;
        CHECK(!set_up(&p, &c, &seen) && fault.kind == FAULT_UNSUPPORTED);
    }
}

static void negotiates_row(const struct tls_case *c) {
    struct negotiated seen = {0};
    struct limits limits = {2, 0, 2, true};
    struct batch batch;
    struct prepared p;
    if (!set_up(&p, c, &seen)) {
        printf("      not here: %s %s: %s\n", key_exchange_name(c->method, c->key_type), c->group_name,
               fault.reason);
        CHECK(fault.kind == FAULT_UNSUPPORTED);
        return;
    }
    if (!CHECK(measure(&p, &limits, &batch, &fault)))
        printf("      %s: %s (%s)\n", c->group_name, fault.reason, fault.detail);
    CHECK_NUMBER(batch.handshakes, 2 * c->threads);
    CHECK_TEXT(seen.protocol, "QUICv1");
    CHECK_TEXT(seen.group, p.wanted.group);
    CHECK_NUMBER(seen.early_data_bytes, c->early_data_bytes);
    CHECK(seen.hello_retry == c->hello_retry && seen.key_shares >= 0);
    CHECK(seen.resumed == (c->resumption != RESUME_NONE));
    for (enum role role = ROLE_CLIENT; role <= ROLE_SERVER; role++)
        CHECK(batch.cpu_ns[SPAN_HANDSHAKE][role] > 0 && batch.first_ns[role] > 0 &&
              batch.cpu_ns[SPAN_OBJECTS][role] > 0);
    /* Datagrams with Initial packets are padded (RFC 9000, section 14.1). */
    CHECK(batch.bytes[ROLE_CLIENT] >= batch.handshakes * (DATAGRAM_BYTES + c->early_data_bytes));
    CHECK(batch.bytes[ROLE_SERVER] >= batch.handshakes * DATAGRAM_BYTES);
    release(&p);
}

static void negotiates(void) {
    unsigned tried = 0;
    for (size_t i = 0; i < ROWS; i++) {
        struct tls_case c = case_of(&rows[i]);
        if (c.protocol != TLS_1_3 || c.fips || c.transfer_bytes > 0 || case_has_psk(&c))
            continue;
        c.protocol = QUIC_V1;
        negotiates_row(&c);
        tried++;
    }
    CHECK(tried > 40);
}

static void refutes(const char *further, void (*change)(struct negotiated *wanted), const char *reason) {
    struct tls_case c = quic_case(further);
    struct negotiated seen = {0};
    struct limits limits = {1, 0, 1, true};
    struct batch batch;
    struct prepared p;
    if (!CHECK(set_up(&p, &c, &seen)))
        return;
    change(&p.wanted);
    CHECK(!measure(&p, &limits, &batch, &fault) && fault.kind == FAULT_MISMATCH);
    CHECK_TEXT(fault.reason, reason);
    release(&p);
}

static void other_protocol(struct negotiated *wanted) {
    wanted->protocol = "TLSv1.3";
}
static void retried(struct negotiated *wanted) {
    wanted->hello_retry = 1;
}
static void two_shares(struct negotiated *wanted) {
    wanted->key_shares = 2;
}
static void more_early_data(struct negotiated *wanted) {
    wanted->early_data_bytes++;
}
static void other_signature(struct negotiated *wanted) {
    wanted->signature = "ed25519";
}

static void refuted(void) {
    refutes("", other_protocol, "protocol: wanted TLSv1.3, the client got QUICv1");
    refutes("", retried, "hello_retry: wanted 1, the client got 0");
    refutes("", two_shares, "key_shares: wanted 2, the client got 1");
    refutes("", other_signature, "signature: wanted ed25519, the client got ecdsa_secp256r1_sha256");
    refutes(EARLY, more_early_data, "early_data_bytes: wanted 1025, the client got 1024");
}

static void examines(void) {
    static const struct {
        const char *further;
        unsigned round_trips, client_datagrams, server_datagrams;
    } known[] = {
        {"", 1, 3, 2}, {"hello_retry=yes", 2, 4, 3}, {"resumption=psk-dhe", 1, 3, 2}, {EARLY, 0, 4, 3}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct tls_case c = quic_case(known[i].further);
        struct negotiated seen = {0};
        struct examined out;
        struct prepared p;
        if (!CHECK(set_up(&p, &c, &seen)))
            continue;
        CHECK(examine(&p, 3, &out, &fault));
        CHECK_NUMBER(out.round_trips, 3 * known[i].round_trips);
        CHECK(out.records[ROLE_CLIENT] >= 3 * 2 && out.records[ROLE_CLIENT] <= 3 * known[i].client_datagrams);
        CHECK(out.records[ROLE_SERVER] >= 3 * 2 && out.records[ROLE_SERVER] <= 3 * known[i].server_datagrams);
        CHECK(out.bytes[ROLE_CLIENT] <= out.records[ROLE_CLIENT] * DATAGRAM_BYTES);
        release(&p);
    }
}

/* --- First flights by hand. --- */

static enum progress step(struct pair *pair, enum role role) {
    return linked_backend.step(pair->sides[role], &fault);
}

static long early_data_of(struct side *server) {
    struct negotiated seen = {0};
    return CHECK(linked_backend.inspect(server, &seen, &fault)) ? seen.early_data_bytes : -1;
}

/* The same datagrams once more, to another connection of the same server. */
static void replays(void) {
    static struct pipe flight;
    struct tls_case c = quic_case(EARLY);
    struct negotiated seen = {0};
    struct spans unused = {0};
    struct prepared p;
    if (!CHECK(set_up(&p, &c, &seen)))
        return;
    struct pair *pair = p.pairs[0];
    CHECK(pair_open(pair, true, false, &unused, &fault));
    CHECK(step(pair, ROLE_CLIENT) == PROGRESS_WAIT);
    flight = pair->sent[ROLE_CLIENT];
    CHECK(step(pair, ROLE_SERVER) == PROGRESS_WAIT);
    CHECK_NUMBER(early_data_of(pair->sides[ROLE_SERVER]), 1024);
    pair_close(pair, false, &unused);
    CHECK(pair_open(pair, true, false, &unused, &fault));
    pair->sent[ROLE_CLIENT] = flight;
    CHECK(step(pair, ROLE_SERVER) == PROGRESS_WAIT);
    CHECK_NUMBER(early_data_of(pair->sides[ROLE_SERVER]), 0);
    pair_close(pair, false, &unused);
    release(&p);
}

static void other_early_data(void) {
    struct tls_case c = quic_case(EARLY);
    struct negotiated seen = {0};
    struct spans unused = {0};
    struct prepared p;
    if (!CHECK(set_up(&p, &c, &seen)))
        return;
    CHECK(pair_open(p.pairs[0], true, false, &unused, &fault));
    CHECK(step(p.pairs[0], ROLE_CLIENT) == PROGRESS_WAIT);
    quic_early_data[1000] ^= 1;
    CHECK(step(p.pairs[0], ROLE_SERVER) == PROGRESS_WAIT);
    quic_early_data[1000] ^= 1;
    CHECK(!linked_backend.inspect(p.pairs[0]->sides[ROLE_SERVER], &seen, &fault));
    CHECK_TEXT(fault.reason, "the server received other early data than the client sent");
    pair_close(p.pairs[0], false, &unused);
    release(&p);
}

/* A packet that was changed is dropped (RFC 9001, section 5.3), and nobody sends it again: no timer expires.
 */
static void changed_datagrams(void) {
    struct tls_case c = quic_case("");
    struct negotiated seen = {0};
    struct spans unused = {0};
    struct prepared p;
    if (!CHECK(set_up(&p, &c, &seen)))
        return;
    struct pair *pair = p.pairs[0];
    CHECK(pair_open(pair, false, false, &unused, &fault));
    CHECK(step(pair, ROLE_CLIENT) == PROGRESS_WAIT);
    pair->sent[ROLE_CLIENT].bytes[600] ^= 1;
    for (int turn = 0; turn < 10; turn++) {
        CHECK(step(pair, ROLE_SERVER) != PROGRESS_DONE);
        CHECK(step(pair, ROLE_CLIENT) == PROGRESS_WAIT);
    }
    pair_close(pair, false, &unused);
    release(&p);
}

/* RFC 9000, section 8.1: a server sends three times what it received until the client shows that it can read.
 */
static void amplification(void) {
    struct row row = {"QUICv1", "ECDHE-RSA", "AES-128-GCM", "X25519", 2048, "-", "chain_length=3"};
    struct tls_case c = case_of(&row);
    struct negotiated seen = {0};
    struct spans spans = {0};
    struct prepared p;
    if (!CHECK(set_up(&p, &c, &seen)))
        return;
    struct pair *pair = p.pairs[0];
    CHECK(pair_open(pair, false, false, &spans, &fault));
    CHECK(step(pair, ROLE_CLIENT) == PROGRESS_WAIT && step(pair, ROLE_SERVER) == PROGRESS_WAIT);
    CHECK_NUMBER(pair->sent[ROLE_CLIENT].written, DATAGRAM_BYTES);
    CHECK(pair->sent[ROLE_SERVER].written <= 3 * DATAGRAM_BYTES);
    CHECK(pair_turns(pair, false, &spans, &fault) && pair_prove(pair, &p.wanted, &seen, &fault));
    CHECK(pair->sent[ROLE_SERVER].written > 3 * DATAGRAM_BYTES);
    pair_close(pair, false, &spans);
    release(&p);
}

static void early_data_limits(void) {
    static const unsigned sizes[] = {1, EARLY_WINDOW_BYTES, EARLY_WINDOW_BYTES + 1};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct tls_case c = quic_case(EARLY);
        struct negotiated seen = {0};
        struct prepared p;
        c.early_data_bytes = sizes[i];
        CHECK(set_up(&p, &c, &seen) == (i < 2));
        if (i == 2)
            CHECK(fault.kind == FAULT_UNSUPPORTED && strstr(fault.reason, "congestion window") != NULL);
        else
            CHECK_NUMBER(seen.early_data_bytes, sizes[i]);
        if (p.context != NULL)
            release(&p);
    }
}

static void tickets(void) {
    struct tls_case c = quic_case("tickets=default");
    struct negotiated seen = {0};
    struct prepared p;
    if (!CHECK(set_up(&p, &c, &seen)))
        return;
    CHECK_NUMBER(seen.tickets, 2);
    release(&p);
}

static void dropped_pairs(void) {
    struct tls_case c = quic_case("");
    struct negotiated seen = {0};
    struct spans spans = {0};
    struct prepared p;
    if (!CHECK(set_up(&p, &c, &seen)))
        return;
    for (int turns = 0; turns < 4; turns++) {
        CHECK(pair_open(p.pairs[0], false, false, &spans, &fault));
        for (int turn = 0; turn < turns; turn++)
            CHECK(step(p.pairs[0], (enum role)(turn % 2)) != PROGRESS_FAILED);
        pair_close(p.pairs[0], false, &spans);
    }
    CHECK(pair_connection(p.pairs[0], &p.wanted, false, &spans, &seen, &fault));
    release(&p);
}

/* A chain that leads elsewhere ends the handshake with an alert, which is told. */
static void verifies(void) {
    struct tls_case c = quic_case("chain_length=2 verification=yes trust_anchors_file=root.pem");
    struct negotiated seen = {0};
    struct prepared p;
    if (CHECK(set_up(&p, &c, &seen))) {
        CHECK_NUMBER(seen.verified_length, 3);
        release(&p);
    }
    strcpy(c.key, "elsewhere.key.pem");
    strcpy(c.certificate, "elsewhere.cert.pem");
    CHECK(!set_up(&p, &c, &seen) && fault.kind == FAULT_ERROR);
    CHECK_TEXT(fault.reason, "the client's handshake failed");
    CHECK(strstr(fault.detail, "ertificate") != NULL);
}

static void logs(struct quic_side *side, const char *frames) {
    char event[512];
    int length = snprintf(event, sizeof event,
                          "{\"name\":\"transport:packet_sent\",\"data\":{\"frames\":[%s],\"header\":"
                          "{\"packet_type\":\"initial\",\"packet_number\":0}}}",
                          frames);
    quic_note_sent(side, 0, event, (size_t)length);
}

#define FRAME(offset, length) "{\"frame_type\":\"crypto\",\"offset\":" #offset ",\"length\":" #length "}"

/* Later libraries shuffle the pieces of a hello, and keep one of the first packet for the second. */
static void sent_again(void) {
    struct quic_side side = {0};
    logs(&side, FRAME(90, 200) "," FRAME(0, 80) "," FRAME(290, 10));
    logs(&side, FRAME(80, 10) "," FRAME(300, 50));
    CHECK_NUMBER(side.sent_again, 0);
    logs(&side, FRAME(90, 200) "," FRAME(290, 10));
    CHECK_NUMBER(side.sent_again, 1);
    logs(&side, FRAME(0, 90) "," FRAME(350, 20));
    CHECK_NUMBER(side.sent_again, 2);
    logs(&side, FRAME(370, 30));
    CHECK_NUMBER(side.sent_again, 2);
}

int main(int argc, char **argv) {
    material = argc > 1 ? argv[1] : ".";
    if (!linked_backend.start(NULL, &fault)) {
        printf("%s %s\n", fault.reason, fault.detail);
        return 1;
    }
    printf("%s\n", linked_backend.version_text());
    sentence("every row of TLS 1.3 is negotiated as QUIC, and every number is there", negotiates);
    sentence("TLS over TCP is unsupported", tls_is_unsupported);
    sentence("a real handshake held against what it is not is refuted by name", refuted);
    sentence("datagrams and round trips are those of the standard", examines);
    sentence("early data is taken once: that of a replayed flight is refused", replays);
    sentence("early data is compared byte by byte", other_early_data);
    sentence("early data fills a congestion window and no more", early_data_limits);
    sentence("a changed packet is dropped, and no timer sends it again", changed_datagrams);
    sentence("a server does not amplify before the client's address is validated", amplification);
    sentence("a chain is verified to its trust anchor, for its host", verifies);
    sentence("a server issues two tickets by default", tickets);
    sentence("a packet sends again what was sent before, and not what only comes out of order", sent_again);
    sentence("a pair can be dropped after any turn and the next one works", dropped_pairs);
    return check_failures != 0;
}
