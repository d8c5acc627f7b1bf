/* The fake backend under the measured loop: exact durations without noise, a planted step that
 * shows, noise of the size asked for, and the same numbers for the same seed. */
#include "age.h"
#include "fake_settings.h"
#include "measure.h"

#include "matrix.h"

#include <stdlib.h>

static struct fault fault;
static const struct tls_case a_case = {.protocol = TLS_1_2,
                                       .method = METHOD_RSA,
                                       .group_name = "-",
                                       .rsa_bits = 2048,
                                       .chain_length = 1,
                                       .key = "k",
                                       .certificate = "c",
                                       .dh_parameters = "-",
                                       .ocsp_response = "-",
                                       .threads = 1};
static struct prepared prepared;

static struct batch run(uint64_t handshakes) {
    struct limits limits = {handshakes, 0, handshakes, true};
    struct batch batch;
    CHECK(measure(&prepared, &limits, &batch, &fault));
    return batch;
}

/* Without the probe that a set-up makes: the durations are those of a known count of handshakes. */
static void begin_with(const char *text, unsigned threads) {
    CHECK(linked_backend.start(text, &fault));
    prepared = (struct prepared){.backend = &linked_backend, .tls_case = a_case, .peer = -1};
    prepared.tls_case.threads = threads;
    prepared.wanted = case_wanted(&prepared.tls_case, false);
    prepared.context = linked_backend.setup(&prepared.tls_case, ".", &fault);
    for (unsigned i = 0; i < threads; i++)
        prepared.pairs[i] = pair_new(&linked_backend, prepared.context, &prepared.tls_case, false);
    prepared.crew = threads == 1 ? NULL : crew_start(threads, &fault);
}

static void begin(const char *text) {
    begin_with(text, 1);
}

/* First in the program: step_after counts the handshakes of the thread. */
static void planted_step(void) {
    begin("noise=0,step=1.02,step_after=11,client_ns=100000,server_ns=300000");
    struct batch before = run(10), after = run(10);
    CHECK_NUMBER(before.cpu_ns[SPAN_HANDSHAKE][ROLE_CLIENT], 1000000);
    CHECK_NUMBER(before.cpu_ns[SPAN_HANDSHAKE][ROLE_SERVER], 3000000);
    CHECK_NUMBER(before.wall_ns, 4000000);
    CHECK_NUMBER(after.cpu_ns[SPAN_HANDSHAKE][ROLE_CLIENT], 1020000);
    CHECK_NUMBER(after.cpu_ns[SPAN_HANDSHAKE][ROLE_SERVER], 3060000);
    CHECK_NUMBER(before.first_ns[ROLE_SERVER], 300000);
    CHECK_NUMBER(after.first_ns[ROLE_SERVER], 306000);
    release(&prepared);
}

static void planted_bytes(void) {
    begin("noise=0,client_hello_bytes=1416,server_hello_bytes=1981");
    struct batch batch = run(10);
    CHECK_NUMBER(batch.bytes[ROLE_CLIENT], 10 * (1416 + 200));
    CHECK_NUMBER(batch.bytes[ROLE_SERVER], 10 * (1981 + 800));
    release(&prepared);
}

static void overhead_is_left_out(void) {
    begin("noise=0,step=1,client_ns=100000,overhead_ns=1000000,contention=0");
    CHECK_NUMBER(run(10).cpu_ns[SPAN_HANDSHAKE][ROLE_CLIENT], 1000000);
    release(&prepared);
}

static bool aged(unsigned connections, unsigned points, uint64_t max_ns, struct aged *out) {
    struct age_plan plan = {connections, points, max_ns};
    return age(&prepared, &plan, out, &fault);
}

/* Each connection costs 2 us more than the one before, so each hundred 20,000 us more than the hundred
 * before. */
static void planted_age(void) {
    struct aged out;
    begin("noise=0,step=1,client_ns=100000,server_ns=300000,overhead_ns=0,age_ns=2000000,leak_bytes=16");
    CHECK(aged(1000, 10, UINT32_MAX, &out));
    CHECK_NUMBER(out.points, 10);
    CHECK_NUMBER(out.proven, 1000);
    for (uint64_t i = 0; i < out.points; i++) {
        CHECK_NUMBER(out.connections[i], 100 * (i + 1));
        CHECK_NUMBER(out.cpu_ns[i], 100 * 400000 + 2000 * (100 * 100 * i + 99 * 50));
        CHECK_NUMBER(out.thread_cpu_ns[i], out.cpu_ns[i]);
        CHECK_NUMBER(out.others_ns[i], 0);
    }
    CHECK(!out.has_heap && !out.has_resident);
    aged_free(&out);
    CHECK(aged(7, 3, UINT32_MAX, &out));
    CHECK_NUMBER(out.connections[0], 2);
    CHECK_NUMBER(out.connections[1], 4);
    CHECK_NUMBER(out.connections[2], 7);
    aged_free(&out);
    release(&prepared);
}

static void age_ends_in_time(void) {
    struct aged out;
    begin("noise=0,age_ns=0,leak_bytes=0,client_ns=100000,server_ns=300000,overhead_ns=0");
    CHECK(aged(1000, 10, 90000000, &out)); /* 225 connections */
    CHECK_NUMBER(out.points, 2);
    CHECK_NUMBER(out.proven, 225);
    aged_free(&out);
    CHECK(!aged(1000, 10, 10000000, &out));
    CHECK_TEXT(fault.reason, "the time was up before the first point, after 25 connections");
    CHECK_NUMBER(out.proven, 25);
    aged_free(&out);
    release(&prepared);
    begin_with("noise=0", 2);
    CHECK(!aged(10, 2, UINT32_MAX, &out));
    CHECK_TEXT(fault.reason, "a case with threads or a single role can't age");
    aged_free(&out);
    release(&prepared);
}

static void noise(void) {
    enum { BATCHES = 2000 };
    begin("noise=0.1,step=1,seed=7,client_ns=100000,contention=0");
    double sum = 0, squares = 0;
    for (int i = 0; i < BATCHES; i++) {
        double relative = (double)run(1).cpu_ns[SPAN_HANDSHAKE][ROLE_CLIENT] / 100000 - 1;
        sum += relative;
        squares += relative * relative;
    }
    double mean = sum / BATCHES, variance = squares / BATCHES - mean * mean;
    CHECK(mean > -0.01 && mean < 0.01);
    CHECK(variance > 0.009 && variance < 0.011);
    release(&prepared);
}

static void same_seed(void) {
    begin("noise=0.1,seed=3");
    struct batch one = run(5);
    release(&prepared);
    begin("seed=3");
    struct batch two = run(5);
    release(&prepared);
    begin("seed=4");
    struct batch three = run(5);
    release(&prepared);
    CHECK(memcmp(&one, &two, sizeof one) == 0);
    CHECK(memcmp(&one, &three, sizeof one) != 0);
}

/* Four threads at a contention of 0.1 take 1.3 times as long as one, so together they are 4 / 1.3 times as
 * fast. */
static void threads(void) {
    begin_with("noise=0,step=1,overhead_ns=0,client_ns=90000,contention=0.1,coherency=0,background_ns=700",
               4);
    struct batch batch = run(10);
    CHECK_NUMBER(batch.handshakes, 40);
    CHECK_NUMBER(batch.cpu_ns[SPAN_HANDSHAKE][ROLE_CLIENT], 40 * 90000);
    CHECK_NUMBER(batch.thread_cpu_ns, 40 * 390000);
    CHECK_NUMBER(batch.background_cpu_ns, 40 * 700);
    CHECK_NUMBER(batch.wall_ns, 40 * 507000);
    CHECK_NUMBER(batch.elapsed_ns, 10 * 507000);
    CHECK_NUMBER(batch.alone_handshakes, 10);
    CHECK_NUMBER(batch.alone_elapsed_ns, 10 * 390000);
    CHECK_NUMBER(batch.others_ns, 0);
    CHECK_NUMBER(batch.alone_others_ns, 0);
    release(&prepared);
}

static const struct {
    int lie;
    struct row row;
    const char *reason;
} lies[] = {
    {LIE_MASTER_SECRET,
     {"TLSv1.2", "ECDHE-ECDSA", "AES-128-GCM", "P-256", 0, "P-256", ""},
     "extended_master_secret: wanted 1, the client got 0"},
    {LIE_MASTER_SECRET,
     {"TLSv1.2", "ECDHE-ECDSA", "AES-128-GCM", "P-256", 0, "P-256", "resumption=ticket"},
     "extended_master_secret: wanted 1, the client got 0"},
    {LIE_HELLO_RETRY,
     {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "P-256", 0, "P-256", ""},
     "hello_retry: wanted 0, the client got 1"},
    {LIE_HELLO_RETRY,
     {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "P-256", 0, "P-256", "hello_retry=yes"},
     "hello_retry: wanted 1, the client got 0"},
    {LIE_RESUMPTION,
     {"TLSv1.2", "ECDHE-ECDSA", "AES-128-GCM", "P-256", 0, "P-256", "resumption=ticket"},
     "resumption: wanted ticket, the ClientHello has no ticket"},
    {LIE_RESUMPTION,
     {"TLSv1.2", "ECDHE-ECDSA", "AES-128-GCM", "P-256", 0, "P-256", "resumption=session-id"},
     "resumption: wanted session-id, the ClientHello has a ticket"},
    {LIE_ENCRYPT_THEN_MAC,
     {"TLSv1.2", "ECDHE-ECDSA", "AES-128-GCM", "P-256", 0, "P-256", ""},
     "encrypt_then_mac: wanted 0, the client got 1"},
    {LIE_ENCRYPT_THEN_MAC,
     {"TLSv1.2", "ECDHE-ECDSA", "AES-128-CBC-SHA", "P-256", 0, "P-256", "resumption=ticket"},
     "encrypt_then_mac: wanted 1, the client got 0"},
    {LIE_CLIENT_SIGNATURE,
     {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "P-256", 0, "P-256", "client_authentication=yes"},
     "client_signature: wanted ecdsa_secp256r1_sha256, the client got another-signature"},
    {LIE_CLIENT_SIGNATURE,
     {"TLSv1.2", "RSA", "AES-128-GCM", "-", 2048, "-", "client_authentication=yes"},
     "client_signature: wanted rsa_pkcs1_sha256, the client got another-signature"},
    {LIE_KEY_SHARE,
     {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "P-256", 0, "P-256", ""},
     "key_shares: wanted 1, the client got 2"},
    {LIE_TICKET,
     {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", "tickets=default"},
     "tickets: wanted the library's default, the client got 0"},
    {LIE_VERIFICATION,
     {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", VERIFIED},
     "verified_length: wanted 3, the client got 0"},
    {LIE_CONTENT,
     {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", "transfer_bytes=100"},
     "transfer: the client did not receive what the server sent"},
    {LIE_RECORDS,
     {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", "transfer_bytes=16384"},
     "transfer_records: wanted 1, the server sent 2"},
    {LIE_RECORDS,
     {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", "transfer_bytes=20000"},
     "transfer_records: wanted one of 16384 bytes, the largest has 12304"},
};

/* After `lie_after` honest handshakes, in the set-up or in a batch. */
static void a_lie_is_told(size_t i, long long lie_after) {
    struct tls_case c = case_of(&lies[i].row);
    struct limits limits = {100, 0, 100, true};
    struct negotiated seen;
    struct batch batch, empty = {0};
    char text[64];
    memset(&fault, 0, sizeof fault);
    snprintf(text, sizeof text, "lie=%d,lie_after=%lld", lies[i].lie, lie_after);
    CHECK(linked_backend.start(text, &fault));
    bool set_up = prepare(&prepared, &linked_backend, &c, ".", -1, &seen, &fault);
    CHECK(set_up == (lie_after > 0));
    if (set_up) {
        CHECK(!measure(&prepared, &limits, &batch, &fault));
        empty.handshakes = batch.handshakes;
        CHECK(batch.handshakes > 0 && memcmp(&batch, &empty, sizeof batch) == 0);
        release(&prepared);
    }
    CHECK(fault.kind == FAULT_MISMATCH);
    CHECK_TEXT(fault.reason, lies[i].reason);
}

static void lies_are_told(void) {
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        /* A session has to be there before its resumption can lie. */
        if (lies[i].lie != LIE_RESUMPTION)
            a_lie_is_told(i, 0);
        if (lies[i].lie != LIE_RECORDS) /* which are counted at set-up alone */
            a_lie_is_told(i, 20);
    }
    CHECK(linked_backend.start("lie=0,lie_after=0", &fault));
}

int main(void) {
    sentence("without noise every duration is exact, and a planted step shows", planted_step);
    sentence("larger hellos are larger on the wire", planted_bytes);
    sentence("what is spent outside the turns is not counted", overhead_is_left_out);
    sentence("a planted slope and its leak come with age, point by point", planted_age);
    sentence("an age ends with the last point that its time allows, or fails without one", age_ends_in_time);
    sentence("threads share what the planted contention leaves", threads);
    sentence("the noise has the size that was asked for", noise);
    sentence("what a library does against the case is an outcome, at set-up or in a batch", lies_are_told);
    sentence("the same seed gives the same numbers, another seed others", same_seed);
    return check_failures != 0;
}
