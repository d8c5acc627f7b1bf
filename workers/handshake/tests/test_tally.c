/* Percentiles of loads, and the records of loads and paths, byte for byte: their times are real, so that the
 * golden session, which is of virtual time, can't hold one. */
#include "record.h"

#include "check.h"

#include <stdlib.h>

static const char LOADS[] = "../../bench-specs/schema/examples/worker-load.ndjson";
static const char PATHS[] = "../../bench-specs/schema/examples/worker-path.ndjson";

static void percentiles(void) {
    uint64_t one[] = {7}, ten[] = {10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, many[1000];
    struct latency of_one = latency_of(one, 1), of_ten = latency_of(ten, 10);
    CHECK(of_one.p50_ns == 7 && of_one.p90_ns == 7 && of_one.p99_ns == 7 && of_one.max_ns == 7);
    CHECK(of_ten.p50_ns == 5 && of_ten.p90_ns == 9 && of_ten.p99_ns == 10 && of_ten.max_ns == 10);
    for (unsigned i = 0; i < 1000; i++)
        many[i] = (i * 7919u) % 1000u + 1u; /* 1 to 1000, each once */
    struct latency of_many = latency_of(many, 1000);
    CHECK(of_many.p50_ns == 500 && of_many.p90_ns == 900 && of_many.p99_ns == 990 && of_many.max_ns == 1000);
}

static void counts(void) {
    static struct connection c;
    struct tally t;
    CHECK(tally_init(&t, 3));
    c = (struct connection){
        .proven = true, .resumed = true, .handshake_ns = 2, .response_ns = 3, .bytes = {10, 20}};
    tally_add(&t, &c, OUTCOME_DONE);
    c = (struct connection){.proven = true, .bytes = {1, 2}};
    fault_set(&c.fault, FAULT_ERROR, "a reason");
    snprintf(c.fault.detail, sizeof c.fault.detail, "a detail");
    tally_add(&t, &c, OUTCOME_TLS);
    fault_set(&c.fault, FAULT_ERROR, "another reason");
    tally_add(&t, &c, OUTCOME_TLS);
    CHECK(t.outcomes[OUTCOME_DONE] == 1 && t.outcomes[OUTCOME_TLS] == 2 && t.proven == 3 && t.resumed == 1);
    CHECK(t.handshake_ns[0] == 2 && t.response_ns[0] == 3 && t.bytes[ROLE_CLIENT] == 12 &&
          t.bytes[ROLE_SERVER] == 24);
    CHECK_TEXT(t.first_failure, "a reason: a detail");
    tally_free(&t);
}

static char *said;
static size_t said_bytes;

static void is_golden(FILE *out, const char *path) {
    char wanted[4096] = "";
    FILE *golden = fopen(path, "r");
    CHECK(fclose(out) == 0);
    if (CHECK(golden != NULL)) {
        CHECK(fread(wanted, 1, sizeof wanted - 1, golden) > 0);
        CHECK_TEXT(said, wanted);
        fclose(golden);
    }
    free(said);
}

/* The golden records: a load that went well but for some connections, and one of which no connection did. */
static void writes_records(void) {
    struct load good = {.connections = 179,
                        .resumed = 89,
                        .first_failure = "the server reset the connection during the handshake",
                        .wall_ns = 250000000,
                        .thread_cpu_ns = 90000000,
                        .involuntary_switches = 2,
                        .bytes = {120000, 990000},
                        .handshake = {1000000, 2000000, 3000000, 4000000},
                        .response = {1500000, 2500000, 3500000, 4500000}};
    struct load none = {.first_failure = "the server refused during connecting",
                        .wall_ns = 4000000,
                        .thread_cpu_ns = 3900000};
    for (enum outcome outcome = OUTCOME_REFUSED; outcome <= OUTCOME_HTTP; outcome++)
        good.failures[outcome] = (uint64_t)outcome - 1;
    none.failures[OUTCOME_REFUSED] = 200;
    FILE *out = open_memstream(&said, &said_bytes);
    record_load(out, "ecdsa", &good);
    record_load(out, "ecdsa", &none);
    is_golden(out, LOADS);
}

/* A path on which two of three connections were done, and one that lost everything. */
static void writes_paths(void) {
    uint64_t connect[] = {50100000, 50200000}, handshake[] = {101000000, 305000000},
             request[] = {101010000, 305010000}, first[] = {152000000, 356000000},
             computing[] = {900000, 1100000}, last[] = {152100000, 407000000}, of_client[] = {0, 1},
             of_server[] = {0, 0};
    struct path_result good = {.connections = 2,
                               .first_failure = "the client's connection timed out during connecting",
                               .wall_ns = 30012000000,
                               .thread_cpu_ns = 2000000,
                               .others_ns = 40000,
                               .begins = {30000, 50000, 60000, 70000},
                               .times = {connect, handshake, computing, request, first, last},
                               .retransmissions = {of_client, of_server},
                               .flights = 3,
                               .flight_bytes = {1400, 5600, 80},
                               .congestion_control = "cubic",
                               .emulated = {.packets = {16, 14},
                                            .wire_bytes = {4000, 16000},
                                            .lost = {7, 0},
                                            .dropped = {0, 1},
                                            .late = 1,
                                            .delays = 20,
                                            .delay_p50_ns = 25020000,
                                            .delay_p99_ns = 25100000,
                                            .delay_max_ns = 25400000,
                                            .carried_bit_s = 20000100,
                                            .cpu_ns = 900000}};
    struct path_result none = {
        .first_failure = "the client's connection timed out during connecting",
        .wall_ns = 30012000000,
        .thread_cpu_ns = 1000000,
        .begins = {30000, 50000, 60000, 70000},
        .congestion_control = "cubic",
        .emulated = {.packets = {18, 0}, .wire_bytes = {1080, 0}, .lost = {18, 0}, .cpu_ns = 500000}};
    good.failures[OUTCOME_TIMEOUT] = 1;
    none.failures[OUTCOME_TIMEOUT] = 3;
    FILE *out = open_memstream(&said, &said_bytes);
    record_path(out, "ecdsa", &good);
    record_path(out, "ecdsa", &none);
    is_golden(out, PATHS);
}

int main(void) {
    sentence("a percentile is a value that was measured", percentiles);
    sentence("connections are counted by what became of them", counts);
    sentence("the record of a load is the golden one, byte for byte", writes_records);
    sentence("so is the record of a path", writes_paths);
    return check_failures != 0;
}
