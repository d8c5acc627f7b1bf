/* The fake backend under the measured loop: exact durations without noise, a planted step that
 * shows, noise of the size asked for, and the same numbers for the same seed. */
#include "measure.h"

#include "check.h"

#include <stdlib.h>

static struct fault fault;
static const struct tls_case a_case = {
    .protocol = TLS_1_2, .key_exchange = KX_RSA, .group_name = "-", .rsa_bits = 2048};

static struct batch run(struct context *context, uint64_t handshakes) {
    struct negotiated wanted = case_wanted(&a_case);
    struct limits limits = {handshakes, 0, handshakes};
    struct batch batch;
    CHECK(measure(&backend, context, &wanted, &limits, &batch, &fault));
    return batch;
}

static struct context *begin(const char *settings) {
    CHECK(backend.start(settings, &fault));
    return backend.setup(&a_case, ".", &fault);
}

/* First in the program: step_after counts the handshakes of the process. */
static void planted_step(void) {
    struct context *context = begin("noise=0,step=1.02,step_after=11,client_ns=100000,server_ns=300000");
    struct batch before = run(context, 10), after = run(context, 10);
    CHECK_NUMBER(before.client_cpu_ns, 1000000);
    CHECK_NUMBER(before.server_cpu_ns, 3000000);
    CHECK_NUMBER(before.wall_ns, 4000000);
    CHECK_NUMBER(after.client_cpu_ns, 1020000);
    CHECK_NUMBER(after.server_cpu_ns, 3060000);
    CHECK_NUMBER(before.first_server_ns, 300000);
    CHECK_NUMBER(after.first_server_ns, 306000);
    backend.teardown(context);
}

static void overhead_is_left_out(void) {
    struct context *context = begin("noise=0,step=1,overhead_ns=1000000");
    CHECK_NUMBER(run(context, 10).client_cpu_ns, 1000000);
    backend.teardown(context);
}

static void noise(void) {
    enum { BATCHES = 2000 };
    struct context *context = begin("noise=0.1,step=1,seed=7");
    double sum = 0, squares = 0;
    for (int i = 0; i < BATCHES; i++) {
        double relative = (double)run(context, 1).client_cpu_ns / 100000 - 1;
        sum += relative;
        squares += relative * relative;
    }
    double mean = sum / BATCHES, variance = squares / BATCHES - mean * mean;
    CHECK(mean > -0.01 && mean < 0.01);
    CHECK(variance > 0.009 && variance < 0.011);
    backend.teardown(context);
}

static void same_seed(void) {
    struct context *context = begin("noise=0.1,seed=3");
    struct batch one = run(context, 5);
    backend.teardown(context);
    context = begin("seed=3");
    struct batch two = run(context, 5);
    backend.teardown(context);
    context = begin("seed=4");
    struct batch three = run(context, 5);
    backend.teardown(context);
    CHECK(memcmp(&one, &two, sizeof one) == 0);
    CHECK(memcmp(&one, &three, sizeof one) != 0);
}

int main(void) {
    sentence("without noise every duration is exact, and a planted step shows", planted_step);
    sentence("what is spent outside the turns is not counted", overhead_is_left_out);
    sentence("the noise has the size that was asked for", noise);
    sentence("the same seed gives the same numbers, another seed others", same_seed);
    return check_failures != 0;
}
