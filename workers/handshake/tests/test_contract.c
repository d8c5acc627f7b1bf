/* One suite for every backend, run against the real libraries of this machine and the fake:
 * what was asked is what is negotiated, faults are told apart, and a pair may be dropped at
 * any point. The folder with the material is the argument. */
#include "measure.h"
#include "request.h"

#include "check.h"

static const char *material;

struct row {
    const char *protocol, *key_exchange, *cipher, *group;
    unsigned rsa_bits;
    const char *curve;
};

static const struct row rows[] = {
    {"TLSv1.2", "RSA", "AES-128-GCM", "-", 1024, "-"},
    {"TLSv1.2", "RSA", "AES-256-GCM", "-", 1776, "-"},
    {"TLSv1.2", "RSA", "AES-128-GCM", "-", 2048, "-"},
    {"TLSv1.2", "RSA", "AES-128-GCM", "-", 3072, "-"},
    {"TLSv1.2", "RSA", "AES-128-GCM", "-", 4096, "-"},
    {"TLSv1.2", "DHE-RSA", "AES-128-GCM", "dh-1024", 1024, "-"},
    {"TLSv1.2", "DHE-RSA", "AES-256-GCM", "dh-1776", 1776, "-"},
    {"TLSv1.2", "DHE-RSA", "CHACHA20-POLY1305", "dh-1024", 3072, "-"},
    {"TLSv1.2", "DHE-RSA", "AES-128-GCM", "ffdhe2048", 2048, "-"},
    {"TLSv1.2", "DHE-RSA", "AES-128-GCM", "ffdhe3072", 2048, "-"},
    {"TLSv1.2", "DHE-RSA", "AES-128-GCM", "ffdhe4096", 2048, "-"},
    {"TLSv1.2", "ECDHE-RSA", "AES-128-GCM", "secp192r1", 1024, "-"},
    {"TLSv1.2", "ECDHE-RSA", "AES-256-GCM", "P-256", 1776, "-"},
    {"TLSv1.2", "ECDHE-RSA", "AES-128-GCM", "P-384", 2048, "-"},
    {"TLSv1.2", "ECDHE-RSA", "AES-128-GCM", "P-521", 2048, "-"},
    {"TLSv1.2", "ECDHE-RSA", "CHACHA20-POLY1305", "X25519", 4096, "-"},
    {"TLSv1.2", "ECDHE-ECDSA", "AES-128-GCM", "secp192r1", 0, "secp192r1"},
    {"TLSv1.2", "ECDHE-ECDSA", "AES-128-GCM", "P-256", 0, "secp192r1"},
    {"TLSv1.2", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "secp192r1"},
    {"TLSv1.2", "ECDHE-ECDSA", "AES-128-GCM", "secp192r1", 0, "P-256"},
    {"TLSv1.2", "ECDHE-ECDSA", "AES-128-GCM", "P-256", 0, "P-256"},
    {"TLSv1.2", "ECDHE-ECDSA", "CHACHA20-POLY1305", "X25519", 0, "P-256"},
    {"TLSv1.2", "ECDHE-ECDSA", "AES-256-GCM", "P-256", 0, "P-384"},
    {"TLSv1.2", "ECDHE-ECDSA", "AES-256-GCM", "P-384", 0, "P-256"},
    {"TLSv1.2", "ECDHE-ECDSA", "AES-256-GCM", "P-521", 0, "P-521"},
    {"TLSv1.3", "DHE-RSA", "AES-128-GCM", "ffdhe2048", 2048, "-"},
    {"TLSv1.3", "DHE-RSA", "AES-128-GCM", "ffdhe3072", 2048, "-"},
    {"TLSv1.3", "ECDHE-RSA", "AES-128-GCM", "X25519", 1024, "-"},
    {"TLSv1.3", "ECDHE-RSA", "AES-256-GCM", "P-256", 1776, "-"},
    {"TLSv1.3", "ECDHE-RSA", "CHACHA20-POLY1305", "P-384", 2048, "-"},
    {"TLSv1.3", "ECDHE-RSA", "AES-128-GCM", "X25519", 3072, "-"},
    {"TLSv1.3", "ECDHE-RSA", "AES-128-GCM", "P-521", 4096, "-"},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256"},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "P-256", 0, "P-256"},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-256-GCM", "P-256", 0, "P-384"},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-256-GCM", "P-384", 0, "P-384"},
    {"TLSv1.3", "ECDHE-ECDSA", "CHACHA20-POLY1305", "X25519", 0, "P-521"},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static struct tls_case read_case(const char *line) {
    char reason[REASON_MAX];
    struct request request;
    if (!request_parse(line, strlen(line), &request, reason))
        CHECK_TEXT(reason, line);
    return request.tls_case;
}

static struct tls_case case_of(const struct row *row) {
    char line[1024], name[64], dh[64] = "-";
    if (row->rsa_bits != 0)
        snprintf(name, sizeof name, "rsa-%u", row->rsa_bits);
    else
        snprintf(name, sizeof name, "ec-%s", row->curve);
    if (strncmp(row->group, "dh-", 3) == 0)
        snprintf(dh, sizeof dh, "%s.pem", row->group);
    snprintf(line, sizeof line,
             "setup id=a protocol=%s key_exchange=%s cipher=%s group=%s rsa_bits=%u curve=%s key=%s.key.pem "
             "certificate=%s.cert.pem dh_parameters=%s",
             row->protocol, row->key_exchange, row->cipher, row->group, row->rsa_bits, row->curve, name, name,
             dh);
    return read_case(line);
}

/* Like the session does it: set up and prove once. NULL and a fault otherwise. */
static struct context *ready(const struct tls_case *c, struct negotiated *seen, struct fault *fault) {
    memset(fault, 0, sizeof *fault);
    struct negotiated wanted = case_wanted(c);
    struct context *context = case_check(c, fault) ? backend.setup(c, material, fault) : NULL;
    if (context == NULL || probe(&backend, context, &wanted, seen, fault))
        return context;
    backend.teardown(context);
    return NULL;
}

static void negotiates(void) {
    for (size_t i = 0; i < ROWS; i++) {
        struct tls_case c = case_of(&rows[i]);
        struct negotiated wanted = case_wanted(&c), seen = {0};
        struct limits limits = {2, 0, 2};
        struct fault fault;
        struct batch batch;
        struct context *context = ready(&c, &seen, &fault);
        if (context == NULL &&
            fault.kind == FAULT_UNSUPPORTED) { /* an old library; shown, so that it is not overlooked */
            printf("      not here: %s %s %s: %s\n", rows[i].protocol, rows[i].key_exchange, rows[i].group,
                   fault.reason);
            continue;
        }
        if (context == NULL || !measure(&backend, context, &wanted, &limits, &batch, &fault)) {
            printf("      %s %s %s %s %u %s: %s (%s)\n", rows[i].protocol, rows[i].key_exchange,
                   rows[i].cipher, rows[i].group, rows[i].rsa_bits, rows[i].curve, fault.reason,
                   fault.detail);
            CHECK(!"negotiates");
        } else {
            CHECK_TEXT(seen.group, rows[i].group);
            CHECK_NUMBER(batch.handshakes, 2);
            CHECK(batch.client_cpu_ns > 0 && batch.server_cpu_ns > 0 && batch.wall_ns > 0);
            CHECK(batch.first_client_ns > 0 && batch.first_server_ns > 0);
            CHECK(batch.client_bytes > 200 && batch.server_bytes > 600);
        }
        if (context != NULL)
            backend.teardown(context);
    }
}

/* A second key share on the certificate's curve would cost the client a key of 133 bytes, and the time to
 * make it. */
static void one_key_share(void) {
    struct tls_case c = case_of(&rows[ROWS - 1]);
    struct negotiated wanted = case_wanted(&c), seen = {0};
    struct limits limits = {1, 0, 1};
    struct fault fault;
    struct batch batch = {0};
    struct context *context = ready(&c, &seen, &fault);
    if (!CHECK(context != NULL))
        return;
    CHECK(measure(&backend, context, &wanted, &limits, &batch, &fault));
    if (!backend.takes_settings)
        CHECK(batch.client_bytes < 300);
    backend.teardown(context);
}

static void no_number(void) {
    struct tls_case c = case_of(&rows[12]), other = case_of(&rows[13]);
    struct negotiated wanted = case_wanted(&other), seen = {0};
    struct limits limits = {2, 0, 2};
    struct fault fault;
    struct batch batch, empty = {0};
    struct context *context = ready(&c, &seen, &fault);
    if (!CHECK(context != NULL))
        return;
    CHECK(!measure(&backend, context, &wanted, &limits, &batch, &fault));
    CHECK(fault.kind == FAULT_MISMATCH);
    CHECK(memcmp(&batch, &empty, sizeof batch) == 0);
    backend.teardown(context);
}

static void dropped_pairs(void) {
    struct tls_case c = case_of(&rows[20]);
    struct negotiated wanted = case_wanted(&c), seen = {0};
    struct fault fault = {0};
    struct context *context = backend.setup(&c, material, &fault);
    if (!CHECK(context != NULL))
        return;
    for (int turns = 0; turns < 4; turns++) {
        CHECK(backend.open(context, &fault));
        for (int turn = 0; turn < turns; turn++)
            CHECK((turn % 2 == 0 ? backend.client_step : backend.server_step)(context, &fault) !=
                  PROGRESS_FAILED);
        backend.close(context);
    }
    CHECK(probe(&backend, context, &wanted, &seen, &fault));
    backend.teardown(context);
}

static void set_up_again(void) {
    struct tls_case c = case_of(&rows[5]), missing = c;
    strcpy(missing.key, "missing.pem");
    for (int i = 0; i < 20; i++) {
        struct negotiated seen = {0};
        struct fault fault;
        struct context *context = ready(i % 2 == 0 ? &c : &missing, &seen, &fault);
        if (context != NULL)
            backend.teardown(context);
    }
}

struct fault_row {
    const char *words; /* appended to `setup id=a cipher=AES-128-GCM` */
    enum fault_kind kind;
    const char *reason;
};
#define RSA_1_2 "protocol=TLSv1.2 key_exchange=RSA group=- rsa_bits=2048 curve=- dh_parameters=- "
#define EC_1_2 "protocol=TLSv1.2 key_exchange=ECDHE-ECDSA group=P-256 rsa_bits=0 dh_parameters=- "
#define DHE                                                                                                  \
    "protocol=TLSv1.2 key_exchange=DHE-RSA rsa_bits=2048 curve=- key=rsa-2048.key.pem "                      \
    "certificate=rsa-2048.cert.pem "

static const struct fault_row fault_rows[] = {
    {RSA_1_2 "key=missing.pem certificate=rsa-2048.cert.pem", FAULT_ERROR,
     "can't read the material file missing.pem"},
    {RSA_1_2 "key=rsa-2048.key.pem certificate=missing.pem", FAULT_ERROR,
     "can't read the material file missing.pem"},
    {RSA_1_2 "key=folder.pem certificate=rsa-2048.cert.pem", FAULT_ERROR,
     "can't read the material file folder.pem"},
    {RSA_1_2 "key=empty.pem certificate=rsa-2048.cert.pem", FAULT_ERROR,
     "can't read the material file empty.pem"},
    {RSA_1_2 "key=garbage.pem certificate=rsa-2048.cert.pem", FAULT_ERROR, "the key can't be read"},
    {RSA_1_2 "key=rsa-2048.key.pem certificate=garbage.pem", FAULT_ERROR, "the certificate can't be read"},
    {RSA_1_2 "key=rsa-2048.cert.pem certificate=rsa-2048.cert.pem", FAULT_ERROR, "the key can't be read"},
    {RSA_1_2 "key=rsa-2048-other.key.pem certificate=rsa-2048.cert.pem", FAULT_ERROR,
     "the key does not belong to the certificate"},
    {RSA_1_2 "key=rsa-1024.key.pem certificate=rsa-1024.cert.pem", FAULT_ERROR,
     "peer_key_bits: wanted 2048, the certificate has 1024"},
    {EC_1_2 "curve=P-384 key=ec-P-256.key.pem certificate=ec-P-256.cert.pem", FAULT_ERROR,
     "curve: wanted P-384, the certificate has P-256"},
    {EC_1_2 "curve=P-256 key=rsa-2048.key.pem certificate=rsa-2048.cert.pem", FAULT_ERROR,
     "peer_key: wanted EC, the certificate has RSA"},
    {RSA_1_2 "key=ec-P-256.key.pem certificate=ec-P-256.cert.pem", FAULT_ERROR,
     "peer_key: wanted RSA, the certificate has EC"},
    {DHE "group=dh-1024 dh_parameters=missing.pem", FAULT_ERROR, "can't read the material file missing.pem"},
    {DHE "group=dh-1024 dh_parameters=garbage.pem", FAULT_ERROR, "the DH parameters can't be read"},
    {DHE "group=dh-1024 dh_parameters=rsa-2048.cert.pem", FAULT_ERROR, "the DH parameters can't be read"},
    {DHE "group=dh-1024 dh_parameters=dh-1776.pem", FAULT_ERROR,
     "group: wanted dh-1024, the file has a prime of 1776 bits"},
    {DHE "group=dh-1024 dh_parameters=dh-1024-generator-5.pem", FAULT_ERROR,
     "the generator of the DH parameters is not 2"},
    {DHE "group=dh-1024 dh_parameters=dh-1024-length-160.pem", FAULT_ERROR,
     "the DH parameters hold a privateValueLength of 160 bits"},
    {"protocol=TLSv1.3 key_exchange=RSA group=- rsa_bits=2048 curve=- dh_parameters=- key=k certificate=c",
     FAULT_UNSUPPORTED, "TLS 1.3 has no RSA key exchange"},
};

static void faults_are_told(void) {
    for (size_t i = 0; i < sizeof fault_rows / sizeof fault_rows[0]; i++) {
        char line[1024];
        snprintf(line, sizeof line, "setup id=a cipher=AES-128-GCM %s", fault_rows[i].words);
        struct tls_case c = read_case(line);
        struct negotiated seen = {0};
        struct fault fault;
        if (!CHECK(ready(&c, &seen, &fault) == NULL))
            printf("      %s\n", line);
        CHECK(fault.kind == fault_rows[i].kind);
        CHECK_TEXT(fault.reason, fault_rows[i].reason);
        CHECK(memchr(fault.detail, '\0', sizeof fault.detail) != NULL);
    }
}

/* Same size as P-256, so that only the curve itself tells them apart. A build may lack the other curve
 * altogether. */
static void another_curve(void) {
    struct tls_case c = read_case("setup id=a cipher=AES-128-GCM " EC_1_2
                                  "curve=P-256 key=ec-other.key.pem certificate=ec-other.cert.pem");
    struct negotiated seen = {0};
    struct fault fault;
    CHECK(ready(&c, &seen, &fault) == NULL);
    CHECK(strstr(fault.reason, "curve: wanted P-256") != NULL ||
          strstr(fault.reason, "the certificate") != NULL);
}

int main(int argc, char **argv) {
    struct fault fault = {0};
    material = argc > 1 ? argv[1] : ".";
    if (!backend.start(NULL, &fault)) {
        printf("%s %s\n", fault.reason, fault.detail);
        return 1;
    }
    printf("%s\n", backend.version_text());
    CHECK(backend.version()[0] >= '0' && backend.version()[0] <= '9');
    sentence("what is asked is what is negotiated, and every number is there", negotiates);
    sentence("a TLS 1.3 client makes one key share", one_key_share);
    sentence("a handshake that is not what was wanted gives a mismatch and no number", no_number);
    sentence("a pair can be dropped after any turn and the next one works", dropped_pairs);
    sentence("a case can be set up again and again, after a refusal too", set_up_again);
    if (backend.takes_settings) /* the fake reads no material */
        return check_failures != 0;
    sentence("each fault of the material is told with its reason", faults_are_told);
    sentence("a certificate on another curve of the same size is refused", another_curve);
    return check_failures != 0;
}
