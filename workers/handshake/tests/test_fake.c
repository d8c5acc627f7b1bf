/* The fake backend under the measured loop: exact durations without noise, a planted step that
 * shows, noise of the size asked for, and the same numbers for the same seed. */
#include "measure.h"

#include "check.h"

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
static void begin_with(const char *settings, unsigned threads) {
    CHECK(backend.start(settings, &fault));
    prepared = (struct prepared){.backend = &backend, .tls_case = a_case, .peer = -1};
    prepared.tls_case.threads = threads;
    prepared.wanted = case_wanted(&prepared.tls_case, false);
    prepared.context = backend.setup(&prepared.tls_case, ".", &fault);
    for (unsigned i = 0; i < threads; i++)
        prepared.pairs[i] = pair_new(&backend, prepared.context, &prepared.tls_case, false);
}

static void begin(const char *settings) {
    begin_with(settings, 1);
}

/* First in the program: step_after counts the handshakes of the process. */
static void planted_step(void) {
    begin("noise=0,step=1.02,step_after=11,client_ns=100000,server_ns=300000");
    struct batch before = run(10), after = run(10);
    CHECK_NUMBER(before.cpu_ns[ROLE_CLIENT], 1000000);
    CHECK_NUMBER(before.cpu_ns[ROLE_SERVER], 3000000);
    CHECK_NUMBER(before.wall_ns, 4000000);
    CHECK_NUMBER(after.cpu_ns[ROLE_CLIENT], 1020000);
    CHECK_NUMBER(after.cpu_ns[ROLE_SERVER], 3060000);
    CHECK_NUMBER(before.first_ns[ROLE_SERVER], 300000);
    CHECK_NUMBER(after.first_ns[ROLE_SERVER], 306000);
    release(&prepared);
}

static void overhead_is_left_out(void) {
    begin("noise=0,step=1,client_ns=100000,overhead_ns=1000000,contention=0");
    CHECK_NUMBER(run(10).cpu_ns[ROLE_CLIENT], 1000000);
    release(&prepared);
}

static void noise(void) {
    enum { BATCHES = 2000 };
    begin("noise=0.1,step=1,seed=7,client_ns=100000,contention=0");
    double sum = 0, squares = 0;
    for (int i = 0; i < BATCHES; i++) {
        double relative = (double)run(1).cpu_ns[ROLE_CLIENT] / 100000 - 1;
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
    begin_with("noise=0,step=1,overhead_ns=0,client_ns=90000,contention=0.1,coherency=0", 4);
    struct batch batch = run(10);
    CHECK_NUMBER(batch.handshakes, 40);
    CHECK_NUMBER(batch.cpu_ns[ROLE_CLIENT], 40 * 90000);
    CHECK_NUMBER(batch.thread_cpu_ns, 40 * 390000);
    CHECK_NUMBER(batch.wall_ns, 40 * 507000);
    CHECK_NUMBER(batch.elapsed_ns, 10 * 507000);
    release(&prepared);
}

int main(void) {
    sentence("without noise every duration is exact, and a planted step shows", planted_step);
    sentence("what is spent outside the turns is not counted", overhead_is_left_out);
    sentence("threads share what the planted contention leaves", threads);
    sentence("the noise has the size that was asked for", noise);
    sentence("the same seed gives the same numbers, another seed others", same_seed);
    return check_failures != 0;
}
