/* The measured loop with a scripted backend and a scripted clock: its arithmetic to the
 * nanosecond, its bounds, and that a fault leaves no number. */
#include "measure.h"

#include "check.h"

static const struct negotiated GOOD = {.protocol = "TLSv1.2",
                                       .cipher = "AES-128-GCM",
                                       .group = "P-256",
                                       .signature = "rsa_pkcs1_sha256",
                                       .peer_key = "RSA",
                                       .peer_key_bits = 2048,
                                       .chain_length = -1,
                                       .ocsp_bytes = -1,
                                       .early_data_bytes = -1,
                                       .extended_master_secret = -1,
                                       .encrypt_then_mac = -1,
                                       .hello_retry = -1,
                                       .key_shares = -1,
                                       .tickets = -1,
                                       .verified_length = -1,
                                       .client_verified_length = -1};

/* A handshake of one second's worth of decimal places: the client turns twice for 100 ns each, the server
 * once for 300 ns, opening and closing both sides cost 250 ns each. Three ticks are one nanosecond; only half
 * of the wall time is spent on the CPU. */
static struct {
    uint64_t now_ns;
    unsigned opened, closed, turns[ROLES]; /* sides that were opened and closed */
    uint64_t others_ns;                    /* that others run for whenever the CPU clock has been read */
    uint64_t away_ns;                      /* so far */
    unsigned ticks_read;
    unsigned open_fails_at, step_fails_at, mismatch_at; /* which handshake, from 1; 0: never */
    bool kernel_says_nothing;
    bool never_done, server_cannot_tell, client_cannot_tell;
} script;

static uint64_t ticks(void) {
    script.ticks_read++;
    return script.now_ns * 3;
}
static uint64_t cpu_ns(void) {
    uint64_t read = (script.now_ns - script.away_ns) / 2;
    script.now_ns += script.others_ns;
    script.away_ns += script.others_ns;
    return read;
}
static uint64_t wall_ns(void) {
    return script.now_ns;
}
/* Others run for 20 ns in every handshake, in five turns; so it is said, if the script lets the kernel say
 * it. */
static struct waiting waiting(void) {
    return (struct waiting){.involuntary = script.opened * 5,
                            .ready_ns = script.opened * 10,
                            .knows_ready = !script.kernel_says_nothing};
}
/* Another thread works for 7 ns whenever a side is opened. */
static uint64_t process_ns(void) {
    return (script.now_ns - script.away_ns) / 2 + 7 * script.opened;
}
static const struct clock scripted_clock = {"scripted", ticks, cpu_ns, process_ns, wall_ns, waiting};

struct side {
    enum role role;
    struct pipe_end pipes;
};

/* Handshakes are counted by their clients. */
static unsigned handshake_number(void) {
    return (script.opened + 1) / 2;
}

static struct side *open_side(struct context *context, enum role role, struct pipe_end pipes, bool resume,
                              struct fault *fault) {
    static struct side sides[ROLES];
    (void)context, (void)resume;
    script.opened++;
    script.turns[role] = 0;
    script.now_ns += 125;
    if (role == ROLE_SERVER && handshake_number() == script.open_fails_at) {
        script.opened--;
        fault_set(fault, FAULT_ERROR, "told not to open");
        return NULL;
    }
    sides[role] = (struct side){role, pipes};
    return &sides[role];
}

/* The least that is read as one: 47 bytes; the server sends 4 more behind it. */
static void write_hello(struct side *side) {
    bool client = side->role == ROLE_CLIENT;
    unsigned char hello[51] = {22, 3, 3, 0, 42, client ? 1 : 2, 0, 0, 38, 3, 3};
    pipe_write(side->pipes.out, hello, client ? 47 : 51);
}

static enum progress step(struct side *side, struct fault *fault) {
    bool client = side->role == ROLE_CLIENT;
    script.now_ns += client ? 100 : 300;
    script.turns[side->role]++;
    if (!client && handshake_number() == script.step_fails_at) {
        fault_set(fault, FAULT_ERROR, "told to fail");
        return PROGRESS_FAILED;
    }
    if (script.turns[side->role] == 1)
        write_hello(side);
    return script.turns[side->role] == (client ? 2 : 1) && !script.never_done ? PROGRESS_DONE : PROGRESS_WAIT;
}

static bool inspect(struct side *side, struct negotiated *out, struct fault *fault) {
    (void)fault;
    bool client = side->role == ROLE_CLIENT;
    *out = GOOD;
    if (!client && handshake_number() == script.mismatch_at)
        out->group = "P-384";
    if (client ? script.client_cannot_tell : script.server_cannot_tell)
        out->group = NULL;
    return true;
}

static bool keep(struct side *side, struct fault *fault) {
    (void)side, (void)fault;
    return true;
}

static void close_side(struct side *side) {
    (void)side;
    script.closed++;
    script.now_ns += 125;
}

static const struct backend scripted = {.library = "scripted",
                                        .clock = &scripted_clock,
                                        .open = open_side,
                                        .step = step,
                                        .inspect = inspect,
                                        .keep = keep,
                                        .close = close_side};
static struct batch batch;
static struct fault fault;

static struct prepared prepared(void) {
    static struct context *const some = (struct context *)&script;
    struct prepared p = {.backend = &scripted, .context = some, .wanted = GOOD, .peer = -1};
    p.tls_case.threads = 1;
    return p;
}

static bool run_with(struct limits limits) {
    struct prepared p = prepared();
    memset(&batch, 0xAA, sizeof batch);
    memset(&fault, 0, sizeof fault);
    p.pairs[0] = pair_new(&scripted, p.context, &p.tls_case, false);
    bool good = measure(&p, &limits, &batch, &fault);
    pair_free(p.pairs[0]);
    CHECK_NUMBER(script.closed, script.opened);
    return good;
}

static bool run(uint64_t min_handshakes, uint64_t min_ns, uint64_t max_handshakes) {
    return run_with((struct limits){min_handshakes, min_ns, max_handshakes, true});
}

static void begin(void) {
    memset(&script, 0, sizeof script);
}

static void check_arithmetic(void) {
    CHECK(run(10, 0, 100));
    CHECK_NUMBER(batch.handshakes, 10);
    /* 1,000 ns a handshake, 500 of them on the CPU; the client has 2/10 of the time, the server 3/10. */
    CHECK_NUMBER(batch.cpu_ns[SPAN_HANDSHAKE][ROLE_CLIENT], 10 * 100);
    CHECK_NUMBER(batch.cpu_ns[SPAN_HANDSHAKE][ROLE_SERVER], 10 * 150);
    for (enum role role = ROLE_CLIENT; role <= ROLE_SERVER; role++)
        CHECK_NUMBER(batch.cpu_ns[SPAN_OBJECTS][role], 10 * 125);
    CHECK(batch.has_objects && !batch.has_transfer);
    CHECK_NUMBER(batch.wall_ns, 10 * 500);
    CHECK_NUMBER(batch.thread_cpu_ns, 10 * 500);
    CHECK_NUMBER(batch.background_cpu_ns, 10 * 14);
    CHECK_NUMBER(batch.elapsed_ns, 10 * 1000);
    CHECK_NUMBER(batch.first_ns[ROLE_CLIENT], 100);
    CHECK_NUMBER(batch.first_ns[ROLE_SERVER], 150);
    CHECK_NUMBER(batch.bytes[ROLE_CLIENT], 470);
    CHECK_NUMBER(batch.bytes[ROLE_SERVER], 510);
    CHECK(batch.has[ROLE_CLIENT] && batch.has[ROLE_SERVER]);
    CHECK_NUMBER(batch.involuntary_switches, 100);
    CHECK_NUMBER(batch.others_ns, 10 * (script.kernel_says_nothing ? 500 : 20));
    CHECK_NUMBER(batch.alone_handshakes, 0);
}

static void arithmetic(void) {
    begin();
    check_arithmetic();
}

static void nothing_said_of_waiting(void) {
    begin();
    script.kernel_says_nothing = true;
    check_arithmetic();
}

static void others_run(void) {
    begin();
    script.others_ns = 5000;
    check_arithmetic();
    CHECK_NUMBER(script.away_ns, 7 * 5000); /* readings */
}

static void unsplit(void) {
    begin();
    CHECK(run(10, 0, 100));
    unsigned split_reads = script.ticks_read;
    begin();
    CHECK(run_with((struct limits){10, 0, 100, false}));
    CHECK_NUMBER(batch.handshakes, 10);
    CHECK_NUMBER(batch.thread_cpu_ns, 10 * 500);
    CHECK_NUMBER(batch.bytes[ROLE_SERVER], 510);
    CHECK(!batch.has[ROLE_CLIENT] && !batch.has[ROLE_SERVER] && !batch.has_objects);
    /* Before the first turn and after each of three, and around opening and closing each side. */
    CHECK_NUMBER(split_reads - script.ticks_read, 11 * (4 + 8));
}

static void no_overflow(void) {
    begin();
    script.now_ns = 3000000000000000000ull; /* ticks wrap while the batch runs */
    CHECK(run(1000000, 0, 1000000));
    CHECK_NUMBER(batch.cpu_ns[SPAN_HANDSHAKE][ROLE_CLIENT], 100000000);
    CHECK_NUMBER(batch.cpu_ns[SPAN_HANDSHAKE][ROLE_SERVER], 150000000);
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
    CHECK_NUMBER(script.turns[ROLE_CLIENT] + script.turns[ROLE_SERVER], TURNS_MAX);
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

int main(void) {
    sentence("CPU and wall time are shared out by ticks, opening and closing left out", arithmetic);
    sentence("where the kernel says nothing of waiting, all time off the CPU is others'",
             nothing_said_of_waiting);
    sentence("what other threads run for when the CPU clock has been read is in no number", others_run);
    sentence("an unsplit batch reads no ticks in its turns, and knows no sides", unsplit);
    sentence("neither long batches nor wrapping ticks overflow", no_overflow);
    sentence("a batch ends by count and by time, and never counts no handshake", limits);
    sentence("a handshake without progress ends after a bounded number of turns", turns_are_bounded);
    sentence("one mismatch, and the batch yields no number", mismatch);
    sentence("one failure, and the batch yields no number", failures);
    sentence("a side that can't tell is proven by the other, but the client has to tell", who_can_tell);
    return check_failures != 0;
}
