/* Percentiles of loads, and the record of one, byte for byte: its times are real, so that the golden session,
 * which is of virtual time, can't hold one. */
#include "record.h"

#include "check.h"

#include <stdlib.h>

static const char GOLDEN[] = "../../bench-specs/schema/examples/worker-load.ndjson";

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
    char wanted[4096] = "", *said = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&said, &bytes), *golden = fopen(GOLDEN, "r");
    for (enum outcome outcome = OUTCOME_REFUSED; outcome <= OUTCOME_HTTP; outcome++)
        good.failures[outcome] = (uint64_t)outcome - 1;
    none.failures[OUTCOME_REFUSED] = 200;
    if (!CHECK(out != NULL && golden != NULL))
        return;
    record_load(out, "ecdsa", &good);
    record_load(out, "ecdsa", &none);
    CHECK(fclose(out) == 0);
    CHECK(fread(wanted, 1, sizeof wanted - 1, golden) > 0);
    CHECK_TEXT(said, wanted);
    fclose(golden);
    free(said);
}

int main(void) {
    sentence("a percentile is a value that was measured", percentiles);
    sentence("connections are counted by what became of them", counts);
    sentence("the record of a load is the golden one, byte for byte", writes_records);
    return check_failures != 0;
}
