/* Profiles: stacks are counted apart, and the allocations of connections are those that a library makes, with
 * the allocator's counter preloaded. With the argument `absent` it is not, and nothing is counted. The
 * library is the fake one with faults that are planted here. */
#include "profile.h"

#include "request.h"

#include "check.h"

#include <stdlib.h>

static struct {
    unsigned opened;
    struct node {
        struct node *next;
        char payload[24];
    } * list;
    void *last; /* of the connection before */
} planted;
static struct backend faulty;
static bool leaks, grows;

/* A leak of 16 bytes that nothing refers to, and a list that grows by a node of 32. */
__attribute__((noinline)) void leak_sixteen(void) {
    void *volatile lost = malloc(16);
    lost = NULL;
    (void)lost;
}
__attribute__((noinline)) void grow_list(void) {
    struct node *node = malloc(sizeof *node);
    node->next = planted.list;
    planted.list = node;
}

static struct side *open_side(struct context *context, enum role role, struct pipe_end pipes, bool resume,
                              struct fault *fault) {
    struct side *side = linked_backend.open(context, role, pipes, resume, fault);
    if (role == ROLE_SERVER)
        return side;
    planted.opened++;
    free(planted.last);
    planted.last = malloc(100); /* which lives until the next connection */
    if (leaks)
        leak_sixteen();
    if (grows)
        grow_list();
    return side;
}

static enum progress step(struct side *side, struct fault *fault) {
    char *room = malloc(1000);
    room = realloc(room, 3000);
    enum progress progress = linked_backend.step(side, fault);
    free(room);
    return progress;
}

static struct prepared p; /* what is wanted of its case refers to it */

static void ready(void) {
    static const char SETUP[] =
        "setup id=a protocol=TLSv1.2 key_exchange=ECDHE-RSA cipher=AES-128-GCM group=P-256 rsa_bits=2048 "
        "curve=- key=k.pem certificate=c.pem dh_parameters=- ocsp_response=- chain_length=1 "
        "client_authentication=no "
        "resumption=none early_data_bytes=0 anti_replay=no hello_retry=no fips=no threads=1 verification=no "
        "trust_anchors_file=- trust_anchors=1 tickets=none transfer_bytes=0 context=shared roles=both "
        "certificate_names=1 certificate_policies=0 crl_distribution_points=0 intermediate_bytes=0 "
        "trust_store=file reload_every=0 server_names=1";
    char reason[REASON_MAX] = "";
    struct request request;
    CHECK(request_parse(SETUP, strlen(SETUP), &request, reason));
    CHECK_TEXT(reason, "");
    struct fault fault = {0};
    struct negotiated seen = {0};
    faulty = linked_backend;
    faulty.open = open_side;
    faulty.step = step;
    faulty.start(NULL, &fault);
    if (!prepare(&p, &faulty, &request.tls_case, ".", -1, &seen, &fault))
        CHECK_TEXT(fault.reason, "");
}

static const char *text_of(const struct profile *profile) {
    static char text[1 << 16];
    FILE *out = fmemopen(text, sizeof text, "w");
    struct json json = {out, false};
    json_open(&json, NULL);
    stacks_write(&json, profile->stacks);
    json_close(&json);
    fclose(out);
    return text;
}

/* Sums what the record says of a part. */
static void totals(const char *text, const char *part, unsigned long long *count,
                   unsigned long long *amount) {
    char pattern[64];
    *count = *amount = 0;
    snprintf(pattern, sizeof pattern, "{\"part\":\"%s\",", part);
    for (const char *at = text; (at = strstr(at, pattern)) != NULL; at += strlen(pattern)) {
        unsigned long long counted, bytes;
        if (sscanf(at + strlen(pattern), "\"count\":%llu,\"amount\":%llu", &counted, &bytes) == 2)
            *count += counted, *amount += bytes;
    }
}

static void check_part(const char *text, const char *part, unsigned count, unsigned amount) {
    unsigned long long counted, bytes;
    totals(text, part, &counted, &bytes);
    if (counted != count || bytes != amount)
        printf("    %s\n", part);
    CHECK_NUMBER(counted, count);
    CHECK_NUMBER(bytes, amount);
}

static void counts(unsigned kept_count, unsigned kept_bytes) {
    ready();
    struct fault fault = {0};
    struct profile out;
    if (!CHECK(profile(&p, PROFILED_ALLOCATIONS, 10, &out, &fault)))
        printf("    %s %s\n", fault.reason, fault.detail);
    const char *text = text_of(&out);
    /* Three turns of the client's and two of the server's, at most twice as many that wait. */
    unsigned long long turns, bytes;
    totals(text, "client", &turns, &bytes);
    CHECK(turns >= 10 * 3 * 2 && bytes == turns / 2 * 4000);
    check_part(text, "kept", kept_count * 10, kept_bytes * 10);
    totals(text, "server_held", &turns, &bytes);
    CHECK(turns == 10 && bytes > 0);
    profile_free(&out);
    release(&p);
}

static void nothing_is_kept(void) {
    leaks = grows = false;
    counts(0, 0);
}
static void a_leak(void) {
    leaks = true, grows = false;
    counts(1, 16);
}
static void a_list(void) {
    leaks = false, grows = true;
    counts(1, sizeof(struct node));
}

static void unlike_stacks(void) {
    struct stacks *stacks = stacks_new();
    const uintptr_t one[] = {0x1000, 0x2000}, other[] = {0x1000, 0x2001};
    long first = stacks_add(stacks, "client", one, 2, 1, 10);
    CHECK_NUMBER(stacks_add(stacks, "client", one, 2, 2, 20), first);
    CHECK(stacks_add(stacks, "client", other, 2, 1, 1) != first);
    CHECK(stacks_add(stacks, "client", one, 1, 1, 1) != first);
    long uncounted = stacks_add(stacks, "server", one, 2, 0, 0);
    CHECK(uncounted != first && uncounted >= 0);
    struct profile out = {1, stacks};
    const char *text = text_of(&out);
    CHECK(strstr(text, "{\"part\":\"client\",\"count\":3,\"amount\":30,\"addresses\":[\"1000\",\"2000\"]}") !=
          NULL);
    CHECK(strstr(text, "\"server\"") == NULL);
    stacks_charge(stacks, uncounted, 1, 5);
    CHECK(strstr(text_of(&out), "{\"part\":\"server\",\"count\":1,\"amount\":5,") != NULL);
    stacks_free(stacks);
}

static void too_many_stacks(void) {
    struct stacks *stacks = stacks_new();
    for (uintptr_t address = 0; address < STACKS_MAX; address++)
        CHECK(stacks_add(stacks, "client", &address, 1, 1, 1) >= 0);
    CHECK(!stacks_overflowed(stacks));
    uintptr_t further = STACKS_MAX;
    CHECK(stacks_add(stacks, "client", &further, 1, 1, 1) < 0 && stacks_overflowed(stacks));
    stacks_free(stacks);
}

static void absent(void) {
    ready();
    struct fault fault = {0};
    struct profile out;
    CHECK(!profile(&p, PROFILED_ALLOCATIONS, 10, &out, &fault));
    CHECK(fault.kind == FAULT_UNSUPPORTED);
    CHECK_TEXT(fault.reason, "heap.so is not preloaded, which counts allocations");
    profile_free(&out);
    release(&p);
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "absent") == 0) {
        sentence("stacks that differ are counted apart", unlike_stacks);
        sentence("too many stacks are a fault", too_many_stacks);
        sentence("without the heap counter no allocation is counted", absent);
        return check_failures != 0;
    }
    sentence("a library that frees all it allocated keeps nothing", nothing_is_kept);
    sentence("a leak of 16 bytes a connection is kept", a_leak);
    sentence("a list that grows is kept", a_list);
    return check_failures != 0;
}
