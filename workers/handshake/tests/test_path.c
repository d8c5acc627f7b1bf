/* Paths with every backend: what a client waits for is round trips, each connection is proven, and the same
 * seed gives the same packets. The folder with the material is the argument. */
#include "path.h"

#include "matrix.h"

#include <dirent.h>
#include <stdlib.h>

static const uint64_t ROUND_TRIP_NS = 100000000;

static const char *material, *usual; /* the backend's protocol */
static struct path_result out;
static struct fault fault;

static struct path_plan a_plan(unsigned connections) {
    return (struct path_plan){
        .path = {.round_trip_ns = ROUND_TRIP_NS, .mtu = 1500, .initial_window = 10, .seed = 1},
        .connections = connections,
        .interval_ns = 2000000,
        .timeout_ns = 60000000000,
        .answer_bytes = 3000};
}

static struct tls_case case_with(const char *protocol, const char *further) {
    struct row row = {protocol, "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", further};
    return case_of(&row);
}

static int open_files(void) {
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder != NULL && readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count;
}

/* False also where the library lacks the case. */
static bool set_up(struct prepared *p, const struct tls_case *c) {
    struct negotiated seen;
    memset(&fault, 0, sizeof fault);
    return prepare(p, &linked_backend, c, material, -1, &seen, &fault) ||
           (CHECK(fault.kind == FAULT_UNSUPPORTED), false);
}

/* What a busy machine adds does not count as a round trip: it is the least of all connections' that is
 * compared. */
static double least_round_trips(const uint64_t *times) {
    uint64_t least = UINT64_MAX;
    for (uint64_t i = 0; i < out.connections; i++)
        least = times[i] < least ? times[i] : least;
    return (double)least / (double)ROUND_TRIP_NS;
}

/* Other programs took no part of a round trip that matters. */
static bool is_held_within(uint64_t ns) {
    return out.others_ns < ns && out.begins.max_ns < ns;
}

static bool is_held(void) {
    return is_held_within(ROUND_TRIP_NS / 4);
}

static void waits_for(const char *protocol, const char *further, unsigned handshake, unsigned request) {
    struct tls_case c = case_with(protocol, further);
    struct path_plan plan = a_plan(5);
    struct prepared p;
    int files = open_files();
    if (!set_up(&p, &c))
        return;
    bool good = path(&p, &plan, &out, &fault);
    if (!CHECK(good && out.connections == 5 && out.proven == 5))
        printf("      %s %s: %s (%s) %s\n", protocol, further, fault.reason, fault.detail, out.first_failure);
    for (uint64_t i = 0; good && i < out.connections; i++)
        CHECK(out.times[PATH_CONNECT][i] <= out.times[PATH_REQUEST][i] &&
              out.times[PATH_HANDSHAKE][i] <= out.times[PATH_FIRST_BYTE][i] &&
              out.times[PATH_COMPUTING][i] > 0 &&
              out.times[PATH_FIRST_BYTE][i] <= out.times[PATH_LAST_BYTE][i] &&
              out.retransmissions[ROLE_CLIENT][i] == 0 && out.retransmissions[ROLE_SERVER][i] == 0);
    if (good && is_held()) {
        unsigned connecting = linked_backend.datagrams == NULL;
        CHECK_NUMBER(least_round_trips(out.times[PATH_CONNECT]), connecting);
        CHECK_NUMBER(least_round_trips(out.times[PATH_HANDSHAKE]), connecting + handshake);
        CHECK_NUMBER(least_round_trips(out.times[PATH_REQUEST]), connecting + request);
        CHECK(least_round_trips(out.times[PATH_COMPUTING]) <
              least_round_trips(out.times[PATH_HANDSHAKE]) - connecting - handshake + 0.01);
        CHECK(out.flights >= 2 && out.flight_bytes[0] > 80 && out.flight_bytes[1] > 80);
        CHECK(out.emulated.packets[FROM_CLIENT] >= 5 * 4 && out.emulated.wire_bytes[FROM_SERVER] > 5 * 3000);
        CHECK(out.emulated.lost[FROM_CLIENT] == 0 && out.emulated.dropped[FROM_SERVER] == 0);
        CHECK(out.emulated.delay_p50_ns >= ROUND_TRIP_NS / 2 && out.begins.p50_ns <= out.begins.max_ns);
    }
    path_free(&out);
    release(&p);
    CHECK_NUMBER(open_files(), files);
}

/* A session of QUIC serves many connections with anti-replay. The server's flight of the chain is longer than
 * three times the client's datagram (RFC 9000, section 8.1). */
static void round_trips_of_quic(void) {
    waits_for("QUICv1", "", 1, 1);
    waits_for("QUICv1", "resumption=psk-dhe", 1, 1);
    waits_for("QUICv1", "resumption=psk-dhe early_data_bytes=1000 anti_replay=yes", 1, 0);
    waits_for("QUICv1", "resumption=psk-dhe early_data_bytes=10000 anti_replay=yes", 1, 0);
    waits_for("QUICv1", "hello_retry=yes", 2, 2);
    waits_for("QUICv1", "client_authentication=yes", 1, 1);
    waits_for("QUICv1", "tickets=default", 1, 1);
    waits_for("QUICv1", "chain_length=2 verification=yes trust_anchors_file=root.pem", 1, 1);
    waits_for("QUICv1", "chain_length=3 ocsp_response=ec-P-256.ocsp.der", 2, 2);
}

static void round_trips(void) {
    if (linked_backend.datagrams != NULL) {
        round_trips_of_quic();
        return;
    }
    bool fake = linked_backend.takes_settings; /* its handshakes are all full ones of TLS 1.2 */
    waits_for("TLSv1.3", "", fake ? 2 : 1, fake ? 2 : 1);
    waits_for("TLSv1.2", "", 2, 2);
    if (fake)
        return;
    waits_for("TLSv1.2", "resumption=ticket", 1, 1);
    waits_for("TLSv1.3", "resumption=psk-dhe", 1, 1);
    waits_for("TLSv1.3", "resumption=psk-dhe early_data_bytes=1000", 1, 0);
    waits_for("TLSv1.3", "hello_retry=yes", 2, 2);
    waits_for("TLSv1.3", "client_authentication=yes", 1, 1);
    waits_for("TLSv1.3", "tickets=default", 1, 1);
    waits_for("TLSv1.3", "context=connection", 1, 1);
    waits_for("TLSv1.3", "chain_length=2 verification=yes trust_anchors_file=root.pem", 1, 1);
}

/* One for the handshake, and one more for what is longer than three times the client's datagram (RFC 9000,
 * section 8.1), with the flights that this limit makes. Turns are due while nothing begins and nothing comes.
 */
static void amplification_of(const char *further, uint64_t round_trip_ns, unsigned handshake) {
    struct tls_case c = case_with("QUICv1", further);
    struct path_plan plan = a_plan(5);
    struct prepared p;
    plan.path.round_trip_ns = round_trip_ns;
    plan.interval_ns = 37000000;
    if (!CHECK(set_up(&p, &c)))
        return;
    if (CHECK(path(&p, &plan, &out, &fault)) && CHECK_NUMBER(out.connections, 5)) {
        uint64_t least = UINT64_MAX;
        for (int i = 0; i < 4; i++) /* nothing begins after the last one */
            least = out.times[PATH_HANDSHAKE][i] < least ? out.times[PATH_HANDSHAKE][i] : least;
        CHECK(least >= handshake * round_trip_ns);
        CHECK(!is_held_within(round_trip_ns / 4) || least < handshake * round_trip_ns + round_trip_ns / 2);
        CHECK_NUMBER(out.flight_bytes[0], 1200);
        CHECK(handshake == 1 ? out.flight_bytes[1] <= 3600 : out.flight_bytes[1] == 3600);
        CHECK_NUMBER(out.flights, handshake == 1 ? 3 : 5);
    }
    path_free(&out);
    release(&p);
}

static void amplification(void) {
    static const uint64_t ms[] = {20, 50};
    for (size_t i = 0; i < sizeof ms / sizeof ms[0] && linked_backend.datagrams != NULL; i++) {
        amplification_of("", ms[i] * 1000000, 1);
        amplification_of("chain_length=3 ocsp_response=ec-P-256.ocsp.der", ms[i] * 1000000, 2);
    }
}

/* A window too small for the server's flight costs a round trip, and so does one for the answer. */
static void windows(void) {
    struct tls_case c = case_with(usual, "chain_length=3");
    struct path_plan plan = a_plan(3);
    struct prepared p;
    plan.path.mtu = 576;
    plan.path.initial_window = 1;
    plan.answer_bytes = 40000;
    if (linked_backend.takes_settings || linked_backend.datagrams != NULL || !set_up(&p, &c))
        return;
    if (CHECK(path(&p, &plan, &out, &fault)) && is_held()) {
        CHECK(least_round_trips(out.times[PATH_HANDSHAKE]) >= 3);
        CHECK(least_round_trips(out.times[PATH_LAST_BYTE]) >
              least_round_trips(out.times[PATH_FIRST_BYTE]) + 1);
    }
    path_free(&out);
    release(&p);
}

static void answers(void) {
    struct tls_case c = case_with(usual, "");
    struct path_plan plan = a_plan(2);
    struct prepared p;
    plan.path.round_trip_ns = 0;
    plan.answer_bytes = 3000000;
    if (!set_up(&p, &c))
        return;
    CHECK(path(&p, &plan, &out, &fault) && out.connections == 2);
    CHECK(out.emulated.wire_bytes[FROM_SERVER] > 2 * 3000000);
    path_free(&out);
    release(&p);
}

/* QUIC's timers follow from the round trips that it measured, so a stall of milliseconds moves them. */
static bool timers_are_held(uint64_t round_trip_ns) {
    if (linked_backend.datagrams == NULL)
        return is_held();
    return is_held_within(round_trip_ns / 40) &&
           out.emulated.delay_max_ns < round_trip_ns / 2 + round_trip_ns / 40;
}

/* proc_stat(5): what a host took from this virtual machine, in ticks of all its CPUs. 0 where it is not told.
 */
static unsigned long long stolen_ticks(void) {
    unsigned long long stolen = 0;
    FILE *stat = fopen("/proc/stat", "r");
    if (stat == NULL)
        return 0;
    if (fscanf(stat, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &stolen) != 1)
        stolen = 0;
    fclose(stat);
    return stolen;
}

/* A handshake is lost packets more than once, at this loss, yet each connection ends as it did before. */
static void repeats(void) {
    enum { TIMES = 20, CONNECTIONS = 40 };
    struct tls_case c = case_with(usual, "");
    struct path_plan plan = a_plan(CONNECTIONS);
    struct prepared p;
    uint64_t lost[DIRECTIONS] = {0}, packets[DIRECTIONS] = {0}, again[ROLES][CONNECTIONS] = {{0}};
    unsigned unlike = 0, held = 0;
    unsigned long long stolen = stolen_ticks();
    plan.path.loss_ppm = 50000;
    plan.path.round_trip_ns = ROUND_TRIP_NS / 5;
    plan.answer_bytes = 1;
    if (!set_up(&p, &c))
        return;
    for (int i = 0; i < TIMES && CHECK(path(&p, &plan, &out, &fault)); i++) {
        CHECK_NUMBER(out.connections, CONNECTIONS);
        bool first = i == 0;
        for (enum role role = ROLE_CLIENT; role <= ROLE_SERVER; role++) {
            lost[role] = first ? out.emulated.lost[role] : lost[role];
            packets[role] = first ? out.emulated.packets[role] : packets[role];
            unlike += out.emulated.lost[role] != lost[role];
            unlike += out.emulated.packets[role] != packets[role];
            for (unsigned n = 0; n < CONNECTIONS; n++) {
                again[role][n] = first ? out.retransmissions[role][n] : again[role][n];
                unlike += again[role][n] != out.retransmissions[role][n];
            }
        }
        held += timers_are_held(plan.path.round_trip_ns) && stolen_ticks() == stolen;
        stolen = stolen_ticks();
        path_free(&out);
    }
    printf("       %llu and %llu packets lost each time; %u differences in %d times, of which the machine "
           "held %u\n",
           (unsigned long long)lost[0], (unsigned long long)lost[1], unlike, TIMES, held);
    CHECK(lost[ROLE_CLIENT] > 0 && lost[ROLE_SERVER] > 0 && (unlike == 0 || held < TIMES));
    release(&p);
}

/* A client offers nothing but its case, so what differs is planted in what is wanted. */
static void mismatches(void) {
    struct tls_case c = case_with(usual, "");
    struct path_plan plan = a_plan(5);
    struct prepared p;
    if (!set_up(&p, &c))
        return;
    for (int planted = 0; planted < 3; planted++) {
        struct negotiated wanted = p.wanted;
        static const char *const reasons[] = {"group: wanted P-521", "cipher: wanted AES-256-GCM",
                                              "peer_key: wanted RSA"};
        if (planted == 0)
            p.wanted.group = "P-521";
        else if (planted == 1)
            p.wanted.cipher = "AES-256-GCM";
        else
            p.wanted.peer_key = "RSA";
        CHECK(!path(&p, &plan, &out, &fault));
        CHECK(fault.kind == FAULT_MISMATCH);
        if (strncmp(fault.reason, reasons[planted], strlen(reasons[planted])) != 0)
            CHECK_TEXT(fault.reason, reasons[planted]);
        CHECK(out.times[PATH_HANDSHAKE] == NULL && out.proven == 0);
        path_free(&out);
        p.wanted = wanted;
    }
    release(&p);
}

/* A key share of 1,024 bytes makes a ClientHello of several packets, one of 32 bytes does not. */
static void middlebox_of(const char *group, uint64_t split_hello_ns, unsigned done, uint64_t least_ns) {
    struct row row = {usual, group[0] == 'f' ? "DHE-ECDSA" : "ECDHE-ECDSA", "AES-128-GCM", group, 0, "P-256",
                      ""};
    struct tls_case c = case_of(&row);
    struct path_plan plan = a_plan(3);
    struct prepared p;
    plan.path.mtu = linked_backend.datagrams == NULL ? 576 : 1500;
    plan.path.round_trip_ns = 20000000;
    plan.path.split_hello_ns = split_hello_ns;
    plan.timeout_ns = 5000000000; /* so large a group takes its time */
    if (linked_backend.takes_settings || !set_up(&p, &c))
        return;
    if (CHECK(path(&p, &plan, &out, &fault)) && CHECK_NUMBER(out.connections, done)) {
        CHECK_NUMBER(out.failures[OUTCOME_TIMEOUT], 3 - done);
        CHECK(out.flights > 0 && out.flight_bytes[0] > (least_ns > 0 || done == 0 ? 1024 : 100));
        CHECK((out.emulated.split >= 3) == (least_ns > 0 || done == 0));
        for (unsigned i = 0; i < done; i++)
            CHECK(out.times[PATH_HANDSHAKE][i] >= least_ns);
        if (done == 0)
            CHECK_TEXT(out.first_failure, "the client's connection timed out during the handshake");
    }
    path_free(&out);
    release(&p);
}

static void middleboxes(void) {
    middlebox_of("X25519", PATH_SPLIT_DROPPED, 3, 0);
    middlebox_of("ffdhe8192", PATH_SPLIT_DROPPED, 0, 0);
    middlebox_of("ffdhe8192", 150000000, 3, 150000000);
}

static void times_out(void) {
    struct tls_case c = case_with(usual, "");
    struct path_plan plan = a_plan(7);
    struct prepared p;
    plan.path.loss_ppm = 1000000;
    plan.timeout_ns = 100000000;
    if (!set_up(&p, &c))
        return;
    CHECK(path(&p, &plan, &out, &fault));
    CHECK_NUMBER(out.connections, 0);
    CHECK_NUMBER(out.failures[OUTCOME_TIMEOUT], 7);
    CHECK_TEXT(out.first_failure, linked_backend.datagrams == NULL
                                      ? "the client's connection timed out during connecting"
                                      : "the client's connection timed out during the handshake");
    CHECK(out.emulated.lost[FROM_CLIENT] >= 7 &&
          out.emulated.lost[FROM_CLIENT] == out.emulated.packets[FROM_CLIENT]);
    path_free(&out);
    release(&p);
}

static void no_path(const char *protocol, const char *further, unsigned mtu, const char *reason) {
    struct tls_case c = case_with(protocol, further);
    struct path_plan plan = a_plan(1);
    plan.path.mtu = mtu;
    struct prepared p = {.backend = &linked_backend, .tls_case = c};
    CHECK(!path(&p, &plan, &out, &fault));
    CHECK_TEXT(fault.reason, reason);
    path_free(&out);
}

static void is_refused(void) {
    no_path("TLSv1.3", "roles=client", 1500, "a path needs roles=both: one worker is at both of its ends");
    no_path("TLSv1.3", "threads=2", 1500,
            "a path takes no threads: its connections are all under way in one");
    no_path("TLSv1.3", "resumption=psk early_data_bytes=1 anti_replay=yes", 1500,
            "a path takes no anti_replay: its connections resume the same session");
    no_path("QUICv1", "", 1227, "QUIC needs a path with an mtu of 1228");
}

int main(int argc, char **argv) {
    struct path path_wanted = {.mtu = 1500, .initial_window = 10};
    struct emulator emulator;
    material = argc > 1 ? argv[1] : ".";
    usual = linked_backend.datagrams == NULL ? "TLSv1.3" : "QUICv1";
    if (!linked_backend.start(linked_backend.takes_settings ? "noise=0" : NULL, &fault)) {
        printf("%s %s\n", fault.reason, fault.detail);
        return 1;
    }
    sentence("a case that makes no path is refused with its reason", is_refused);
    if (!emulator_open(&emulator, &path_wanted, 1, false, &fault)) {
        printf("  ok   left out: %s\n", fault.reason);
        return check_failures != 0;
    }
    emulator_close(&emulator, NULL, &fault);
    sentence("on a path a client waits for the round trips of its protocol", round_trips);
    sentence("a flight of QUIC that is longer than its limit costs a round trip more", amplification);
    sentence("what does not fit TCP's window costs a round trip more", windows);
    sentence("an answer of many records comes whole", answers);
    sentence("another group, cipher or certificate than the case's ends a path as a mismatch", mismatches);
    sentence("a middlebox drops or delays a ClientHello of several packets, and no other", middleboxes);
    sentence("a path that loses everything is bounded in time", times_out);
    sentence("the same seed loses the same packets of each connection, twenty times", repeats);
    return check_failures != 0;
}
