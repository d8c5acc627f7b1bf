/* The measured loop with a scripted backend and a scripted clock: its arithmetic to the
 * nanosecond, its bounds, and that a fault leaves no number. */
#include "measure.h"

#include "check.h"

static const struct negotiated GOOD = {"TLSv1.2", "AES-128-GCM", "P-256", "rsa_pkcs1_sha256",
                                       "RSA",     2048,          false};

/* A handshake of one second's worth of decimal places: the client turns twice for 100 ns each, the server
 * once for 300 ns, opening and closing cost 250 ns each. Three ticks are one nanosecond; only half of
 * the wall time is spent on the CPU. */
static struct {
    uint64_t now_ns;
    unsigned opened, closed, client_turns, server_turns;
    unsigned open_fails_at, step_fails_at, mismatch_at; /* which handshake, from 1; 0: never */
    bool never_done, server_cannot_tell, client_cannot_tell;
} script;

static uint64_t ticks(void) {
    return script.now_ns * 3;
}
static uint64_t cpu_ns(void) {
    return script.now_ns / 2;
}
static uint64_t wall_ns(void) {
    return script.now_ns;
}
static uint64_t switches(void) {
    return script.opened * 10;
}
static const struct clock scripted_clock = {"scripted", ticks, cpu_ns, wall_ns, switches};

static bool open_pair(struct context *context, struct fault *fault) {
    (void)context;
    script.opened++;
    script.client_turns = script.server_turns = 0;
    script.now_ns += 250;
    if (script.opened == script.open_fails_at)
        return fault_set(fault, FAULT_ERROR, "told not to open");
    return true;
}

static enum progress client_step(struct context *context, struct fault *fault) {
    (void)context, (void)fault;
    script.now_ns += 100;
    script.client_turns++;
    return script.client_turns == 2 && !script.never_done ? PROGRESS_DONE : PROGRESS_WAIT;
}

static enum progress server_step(struct context *context, struct fault *fault) {
    (void)context;
    script.now_ns += 300;
    script.server_turns++;
    if (script.opened == script.step_fails_at) {
        fault_set(fault, FAULT_ERROR, "told to fail");
        return PROGRESS_FAILED;
    }
    return script.never_done ? PROGRESS_WAIT : PROGRESS_DONE;
}

static bool inspect(struct context *context, struct negotiated *client, struct negotiated *server,
                    struct fault *fault) {
    (void)context, (void)fault;
    *client = *server = GOOD;
    if (script.opened == script.mismatch_at)
        server->group = "P-384";
    if (script.server_cannot_tell)
        server->group = NULL;
    if (script.client_cannot_tell)
        client->group = NULL;
    return true;
}

static void bytes_sent(const struct context *context, uint64_t *client, uint64_t *server) {
    (void)context;
    *client = 7;
    *server = 11;
}

static void close_pair(struct context *context) {
    (void)context;
    script.closed++;
    script.now_ns += 250;
}

static const struct backend scripted = {.library = "scripted",
                                        .clock = &scripted_clock,
                                        .open = open_pair,
                                        .client_step = client_step,
                                        .server_step = server_step,
                                        .inspect = inspect,
                                        .bytes_sent = bytes_sent,
                                        .close = close_pair};
static struct batch batch;
static struct fault fault;

static bool run(uint64_t min_handshakes, uint64_t min_ns, uint64_t max_handshakes) {
    struct limits limits = {min_handshakes, min_ns, max_handshakes};
    memset(&batch, 0xAA, sizeof batch);
    memset(&fault, 0, sizeof fault);
    bool good = measure(&scripted, NULL, &GOOD, &limits, &batch, &fault);
    CHECK_NUMBER(script.closed, script.opened - (script.opened == script.open_fails_at ? 1 : 0));
    return good;
}

static void begin(void) {
    memset(&script, 0, sizeof script);
}

static void arithmetic(void) {
    begin();
    CHECK(run(10, 0, 100));
    CHECK_NUMBER(batch.handshakes, 10);
    /* 1,000 ns a handshake, 500 of them on the CPU; the client has 2/10 of the time, the server 3/10. */
    CHECK_NUMBER(batch.client_cpu_ns, 10 * 100);
    CHECK_NUMBER(batch.server_cpu_ns, 10 * 150);
    CHECK_NUMBER(batch.wall_ns, 10 * 500);
    CHECK_NUMBER(batch.first_client_ns, 100);
    CHECK_NUMBER(batch.first_server_ns, 150);
    CHECK_NUMBER(batch.client_bytes, 70);
    CHECK_NUMBER(batch.server_bytes, 110);
    CHECK_NUMBER(batch.involuntary_switches, 100);
}

static void no_overflow(void) {
    begin();
    script.now_ns = 3000000000000000000ull; /* ticks wrap while the batch runs */
    CHECK(run(1000000, 0, 1000000));
    CHECK_NUMBER(batch.client_cpu_ns, 100000000);
    CHECK_NUMBER(batch.server_cpu_ns, 150000000);
}

static void limits(void) {
    begin();
    CHECK(run(3, 0, 100));
    CHECK_NUMBER(batch.handshakes, 3);
    CHECK(run(3, 7001, 100));
    CHECK_NUMBER(batch.handshakes, 8);
    CHECK(run(3, 7000, 100));
    CHECK_NUMBER(batch.handshakes, 7);
    CHECK(run(0, 1000000, 5));
    CHECK_NUMBER(batch.handshakes, 5);
    CHECK(run(0, 0, 1));
    CHECK_NUMBER(batch.handshakes, 1);
}

static void nothing_but_the_count(uint64_t handshakes) {
    struct batch empty = {.handshakes = handshakes};
    CHECK(memcmp(&batch, &empty, sizeof batch) == 0);
}

static void turns_are_bounded(void) {
    begin();
    script.never_done = true;
    CHECK(!run(1, 0, 10));
    CHECK(fault.kind == FAULT_ERROR);
    CHECK_TEXT(fault.reason, "no progress: the client was not done after 32 turns");
    CHECK_NUMBER(script.client_turns + script.server_turns, TURNS_MAX);
    nothing_but_the_count(0);
}

static void mismatch(void) {
    begin();
    script.mismatch_at = 5; /* the fifth with the first after the token */
    CHECK(!run(10, 0, 100));
    CHECK(fault.kind == FAULT_MISMATCH);
    CHECK_TEXT(fault.reason, "group: wanted P-256, the server got P-384");
    nothing_but_the_count(3);
}

static void failures(void) {
    begin();
    script.step_fails_at = 1;
    CHECK(!run(10, 0, 100));
    CHECK_TEXT(fault.reason, "told to fail");
    nothing_but_the_count(0);
    begin();
    script.step_fails_at = 10;
    CHECK(!run(10, 0, 100));
    nothing_but_the_count(8);
    begin();
    script.open_fails_at = 3;
    CHECK(!run(10, 0, 100));
    CHECK_TEXT(fault.reason, "told not to open");
    nothing_but_the_count(1);
}

static void who_can_tell(void) {
    begin();
    script.server_cannot_tell = true;
    CHECK(run(1, 0, 1));
    script.client_cannot_tell = true;
    CHECK(!run(1, 0, 1));
    CHECK_TEXT(fault.reason, "the client can't tell what it negotiated");
}

static void probes(void) {
    begin();
    struct negotiated seen = {0};
    CHECK(probe(&scripted, NULL, &GOOD, &seen, &fault));
    CHECK_TEXT(seen.group, "P-256");
    CHECK_NUMBER(script.opened, 1);
}

int main(void) {
    sentence("CPU and wall time are shared out by ticks, opening and closing left out", arithmetic);
    sentence("neither long batches nor wrapping ticks overflow", no_overflow);
    sentence("a batch ends by count and by time, and never counts no handshake", limits);
    sentence("a handshake without progress ends after a bounded number of turns", turns_are_bounded);
    sentence("one mismatch, and the batch yields no number", mismatch);
    sentence("one failure, and the batch yields no number", failures);
    sentence("a side that can't tell is proven by the other, but the client has to tell", who_can_tell);
    sentence("a probe is one handshake and shows what was negotiated", probes);
    return check_failures != 0;
}
