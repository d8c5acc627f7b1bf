/* The request parser: what it takes, and that everything else is an error with a reason. */
#include "request.h"

#include "check.h"

static const char SETUP[] =
    "setup id=a protocol=TLSv1.2 key_exchange=DHE-RSA cipher=AES-128-GCM group=dh-1776 "
    "rsa_bits=1776 curve=- key=k.pem certificate=c.pem dh_parameters=d.pem ocsp_response=o.der "
    "chain_length=3 "
    "client_authentication=yes resumption=ticket early_data_bytes=0 anti_replay=no hello_retry=no fips=no "
    "threads=2 "
    "verification=no trust_anchors_file=- trust_anchors=1 tickets=none transfer_bytes=0 context=shared "
    "roles=both certificate_names=100 certificate_policies=2 crl_distribution_points=3 "
    "intermediate_bytes=1500 trust_store=folder reload_every=100 server_names=500";
static const char RUN[] = "run id=a min_handshakes=3 min_ns=5000000 max_handshakes=1000 split=yes";

static const char LOAD[] =
    "load id=a address=127.0.0.1 port=8443 path=4096.bin response_bytes=4096 requests=1 concurrency=8 "
    "max_connections=200 max_ns=5000000000 timeout_ns=1000000000 resumed_percent=50";

static const char PATH[] =
    "path id=a round_trip_ns=50000000 loss_ppm=10000 rate_bit_s=20000000 mtu=1400 queue_bytes=100000 "
    "initial_window=10 split_hello=drop seed=7 connections=500 interval_ns=3000000 timeout_ns=30000000000 "
    "answer_bytes=1";

static struct request request;
static char reason[REASON_MAX];

static bool parse(const char *line) {
    reason[0] = '\0';
    return request_parse(line, strlen(line), &request, reason);
}

/* `line` with the word that begins with `key=` replaced; `by` NULL drops it. */
static const char *with(const char *line, const char *key, const char *by) {
    static char out[2 * LINE_MAX_BYTES];
    char pattern[64];
    snprintf(pattern, sizeof pattern, " %s=", key);
    const char *at = strstr(line, pattern);
    const char *rest = strchr(at + 1, ' ');
    snprintf(out, sizeof out, "%.*s%s%s%s", (int)(at - line), line, by == NULL ? "" : " ",
             by == NULL ? "" : by, rest == NULL ? "" : rest);
    return out;
}

static void refuses(const char *line, const char *why) {
    CHECK(!parse(line));
    if (strstr(reason, why) == NULL)
        CHECK_TEXT(reason, why);
}

static void good_setup(void) {
    CHECK(parse(SETUP));
    CHECK(request.verb == VERB_SETUP);
    const struct tls_case *c = &request.tls_case;
    CHECK_TEXT(c->id, "a");
    CHECK(c->protocol == TLS_1_2 && c->method == METHOD_DHE && c->key_type == KEY_RSA &&
          c->cipher == AES_128_GCM);
    CHECK(c->group == GROUP_CUSTOM_DH && c->dh_bits == 1776 && c->rsa_bits == 1776 && c->curve == GROUP_NONE);
    CHECK_TEXT(c->group_name, "dh-1776");
    CHECK_TEXT(c->key, "k.pem");
    CHECK_TEXT(c->certificate, "c.pem");
    CHECK_TEXT(c->dh_parameters, "d.pem");
    CHECK_TEXT(c->ocsp_response, "o.der");
    CHECK(c->chain_length == 3 && c->threads == 2 && c->early_data_bytes == 0);
    CHECK(c->client_authentication && !c->anti_replay && !c->hello_retry && !c->fips);
    CHECK(c->resumption == RESUME_TICKET && c->roles == ROLES_BOTH);
    CHECK(c->certificate_names == 100 && c->certificate_policies == 2 && c->crl_distribution_points == 3 &&
          c->intermediate_bytes == 1500 && c->trust_store == TRUST_FOLDER && c->reload_every == 100 &&
          c->server_names == 500);
}

static void any_order(void) {
    CHECK(parse("run split=no max_handshakes=9 min_ns=0 id=b min_handshakes=2"));
    CHECK(request.verb == VERB_RUN);
    CHECK_NUMBER(request.limits.max_handshakes, 9);
    CHECK_NUMBER(request.limits.min_handshakes, 2);
    CHECK_NUMBER(request.limits.min_ns, 0);
    CHECK(!request.limits.split);
    CHECK(parse("examine handshakes=7 id=b") && request.verb == VERB_EXAMINE);
    CHECK_NUMBER(request.handshakes, 7);
    CHECK(parse("stop") && request.verb == VERB_STOP);
}

static void good_load(void) {
    CHECK(parse(LOAD) && request.verb == VERB_LOAD);
    const struct load_plan *plan = &request.load_plan;
    CHECK_TEXT(request.tls_case.id, "a");
    CHECK_TEXT(plan->path, "4096.bin");
    CHECK(plan->address.s_addr == htonl(INADDR_LOOPBACK) && plan->port == 8443);
    CHECK(plan->response_bytes == 4096 && plan->requests == 1 && plan->concurrency == 8);
    CHECK(plan->max_connections == 200 && plan->max_ns == 5000000000 && plan->timeout_ns == 1000000000);
    CHECK_NUMBER(plan->resumed_percent, 50);
    CHECK(parse(with(LOAD, "address", "address=127.255.0.9")));
}

static void good_path(void) {
    CHECK(parse(PATH) && request.verb == VERB_PATH);
    const struct path_plan *plan = &request.path_plan;
    const struct path *asked = &plan->path;
    CHECK_TEXT(request.tls_case.id, "a");
    CHECK(asked->round_trip_ns == 50000000 && asked->loss_ppm == 10000 && asked->rate_bit_s == 20000000);
    CHECK(asked->mtu == 1400 && asked->queue_bytes == 100000 && asked->initial_window == 10 &&
          asked->seed == 7 && asked->split_hello_ns == PATH_SPLIT_DROPPED);
    CHECK(plan->connections == 500 && plan->interval_ns == 3000000 && plan->timeout_ns == 30000000000);
    CHECK_NUMBER(plan->answer_bytes, 1);
    CHECK(parse(with(PATH, "rate_bit_s", "rate_bit_s=0")));
    CHECK(parse(with(PATH, "split_hello", "split_hello=10000000000")) &&
          asked->split_hello_ns == 10000000000);
    refuses(with(PATH, "split_hello", "split_hello=10000000001"), "expected drop, or 0 to 10000000000");
    char many[512];
    snprintf(many, sizeof many, "%s", with(PATH, "connections", "connections=20000"));
    CHECK(parse(with(many, "interval_ns", "interval_ns=180000000")));
    refuses(with(many, "interval_ns", "interval_ns=180000001"), "begin for more than an hour");
}

/* A worker connects to this machine alone. */
static void good_age(void) {
    static const char AGE[] = "age id=a connections=10000000 points=1000 max_ns=600000000000";
    static const char *const keys[] = {"id", "connections", "points", "max_ns"};
    char why[64];
    CHECK(parse(AGE) && request.verb == VERB_AGE);
    CHECK_TEXT(request.tls_case.id, "a");
    CHECK(request.age_plan.connections == 10000000 && request.age_plan.points == 1000 &&
          request.age_plan.max_ns == 600000000000);
    CHECK(parse("age id=a connections=2 points=2 max_ns=1"));
    refuses("age id=a connections=9 points=10 max_ns=1", "points is above connections");
    refuses(with(AGE, "connections", "connections=10000001"), "expected 2 to 10000000");
    refuses(with(AGE, "points", "points=1"), "expected 2 to 1000");
    refuses(with(AGE, "max_ns", "max_ns=0"), "expected 1 to 3600000000000");
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        snprintf(why, sizeof why, "age needs the key %s", keys[i]);
        refuses(with(AGE, keys[i], NULL), why);
    }
}

static void other_machines(void) {
    static const char *const addresses[] = {"128.0.0.1",  "10.0.0.1",       "0.0.0.0",     "localhost",
                                            "127.1",      "127.0.0",        "127.0.0.256", "127.0.0.+1",
                                            "0127.0.0.1", "2130706433",     "126.0.0.1",   "127.0.0.1.1",
                                            "127.0.0.1-", "255.255.255.255"};
    char word[64];
    for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
        snprintf(word, sizeof word, "address=%s", addresses[i]);
        refuses(with(LOAD, "address", word), "expected an IPv4 address of loopback");
    }
    refuses(with(LOAD, "address", "address=::1"), "holds a byte");
}

static void every_name(void) {
    static const char *const names[] = {"protocol=TLSv1.3",
                                        "key_exchange=RSA",
                                        "key_exchange=ECDHE-RSA",
                                        "key_exchange=ECDHE-ECDSA",
                                        "cipher=AES-256-GCM",
                                        "cipher=CHACHA20-POLY1305",
                                        "group=-",
                                        "group=secp192r1",
                                        "group=P-256",
                                        "group=P-384",
                                        "group=P-521",
                                        "group=X25519",
                                        "group=ffdhe2048",
                                        "group=ffdhe3072",
                                        "group=ffdhe4096",
                                        "group=dh-512",
                                        "group=dh-8192",
                                        "curve=secp192r1",
                                        "curve=P-256",
                                        "curve=P-384",
                                        "curve=P-521",
                                        "rsa_bits=0",
                                        "rsa_bits=512",
                                        "rsa_bits=16384",
                                        "dh_parameters=-",
                                        "protocol=default",
                                        "key_exchange=DHE-ECDSA",
                                        "key_exchange=ECDHE-RSA-PSS",
                                        "key_exchange=ECDHE-Ed25519",
                                        "key_exchange=ECDHE-Ed448",
                                        "key_exchange=MLKEM-ML-DSA-44",
                                        "key_exchange=MLKEM-ML-DSA-65",
                                        "key_exchange=ECDHE-ML-DSA-87",
                                        "key_exchange=default-RSA",
                                        "cipher=-",
                                        "group=X448",
                                        "group=ffdhe6144",
                                        "group=ffdhe8192",
                                        "group=X25519MLKEM768",
                                        "group=SecP256r1MLKEM768",
                                        "group=SecP384r1MLKEM1024",
                                        "group=MLKEM512",
                                        "group=MLKEM768",
                                        "group=MLKEM1024",
                                        "ocsp_response=-",
                                        "resumption=none",
                                        "resumption=session-id",
                                        "resumption=psk",
                                        "resumption=psk-dhe",
                                        "roles=client",
                                        "roles=server"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char key[64];
        snprintf(key, sizeof key, "%.*s", (int)strcspn(names[i], "="), names[i]);
        if (!CHECK(parse(with(SETUP, key, names[i]))))
            printf("      %s: %s\n", names[i], reason);
    }
}

static void unknown_verb(void) {
    refuses("", "unknown verb");
    refuses("go", "unknown verb \"go\"");
    refuses("SETUP", "unknown verb");
    refuses(" stop", "unknown verb");
    refuses("stop\r", "unknown verb");
}

static void unknown_key(void) {
    refuses("stop now=1", "unknown key \"now\"");
    refuses("run id=a min_handshakes=3 min_ns=5 max_handshakes=10 split=no turbo=1", "unknown key \"turbo\"");
    refuses("run ID=a", "unknown key");
    refuses("run =a", "unknown key");
    refuses("run id", "expected key=value");
    refuses("stop ", "expected key=value");
    refuses("run  id=a", "expected key=value");
}

static void duplicate_key(void) {
    refuses(with(RUN, "min_ns", "min_ns=1 min_ns=1"), "min_ns is given twice");
}

static void missing_key(void) {
    static const char *const setup_keys[] = {"id",
                                             "protocol",
                                             "key_exchange",
                                             "cipher",
                                             "group",
                                             "rsa_bits",
                                             "curve",
                                             "key",
                                             "certificate",
                                             "dh_parameters",
                                             "ocsp_response",
                                             "chain_length",
                                             "client_authentication",
                                             "resumption",
                                             "early_data_bytes",
                                             "anti_replay",
                                             "hello_retry",
                                             "fips",
                                             "threads",
                                             "roles",
                                             "certificate_names",
                                             "certificate_policies",
                                             "crl_distribution_points",
                                             "intermediate_bytes",
                                             "trust_store",
                                             "reload_every",
                                             "server_names"};
    static const char *const run_keys[] = {"id", "min_handshakes", "min_ns", "max_handshakes", "split"};
    static const char *const keys_of_load[] = {
        "id",          "address",         "port",   "path",       "response_bytes", "requests",
        "concurrency", "max_connections", "max_ns", "timeout_ns", "resumed_percent"};
    char why[64];
    for (size_t i = 0; i < sizeof setup_keys / sizeof setup_keys[0]; i++) {
        snprintf(why, sizeof why, "setup needs the key %s", setup_keys[i]);
        refuses(with(SETUP, setup_keys[i], NULL), why);
    }
    for (size_t i = 0; i < sizeof run_keys / sizeof run_keys[0]; i++) {
        snprintf(why, sizeof why, "run needs the key %s", run_keys[i]);
        refuses(with(RUN, run_keys[i], NULL), why);
    }
    for (size_t i = 0; i < sizeof keys_of_load / sizeof keys_of_load[0]; i++) {
        snprintf(why, sizeof why, "load needs the key %s", keys_of_load[i]);
        refuses(with(LOAD, keys_of_load[i], NULL), why);
    }
}

static void missing_key_of_path(void) {
    static const char *const keys_of_path[] = {"id",          "round_trip_ns", "loss_ppm",   "rate_bit_s",
                                               "mtu",         "queue_bytes",   "seed",       "initial_window",
                                               "connections", "interval_ns",   "timeout_ns", "answer_bytes",
                                               "split_hello"};
    char why[64];
    for (size_t i = 0; i < sizeof keys_of_path / sizeof keys_of_path[0]; i++) {
        snprintf(why, sizeof why, "path needs the key %s", keys_of_path[i]);
        refuses(with(PATH, keys_of_path[i], NULL), why);
    }
}

static void path_traversal(void) {
    refuses(with(SETUP, "key", "key=../k.pem"), "the value of key holds a byte");
    refuses(with(SETUP, "key", "key=/etc/passwd"), "the value of key holds a byte");
    refuses(with(SETUP, "certificate", "certificate=a/b"), "the value of certificate holds a byte");
    refuses(with(LOAD, "path", "path=../a"), "the value of path holds a byte");
    refuses(with(SETUP, "dh_parameters", "dh_parameters=a\\b"), "the value of dh_parameters holds a byte");
    refuses(with(SETUP, "key", "key=.."), "without a leading dot");
    refuses(with(SETUP, "key", "key=.hidden"), "without a leading dot");
}

static void odd_values(void) {
    refuses(with(SETUP, "key", "key="), "has 0 bytes");
    refuses(with(SETUP, "key", "key=a=b"), "holds a byte");
    refuses(with(SETUP, "id", "id=\xc3\xa4"), "holds a byte");
    refuses(with(SETUP, "id", "id=a\tb"), "holds a byte");
    refuses(with(SETUP, "protocol", "protocol=TLSv1.1"), "expected TLSv1.2");
    refuses(with(SETUP, "key_exchange", "key_exchange=RSA-RSA"), "key_exchange=RSA-RSA");
    refuses(with(SETUP, "key_exchange", "key_exchange=ECDHE"), "key_exchange=ECDHE");
    refuses(with(SETUP, "key_exchange", "key_exchange=ECDHE-"), "key_exchange=ECDHE-");
    refuses(with(SETUP, "key_exchange", "key_exchange=ECDHE-ML-DSA-45"), "key_exchange=ECDHE-ML-DSA-45");
    refuses(with(SETUP, "fips", "fips=maybe"), "expected yes or no");
    refuses(with(SETUP, "roles", "roles=none"), "expected both, client or server");
    refuses(with(SETUP, "curve", "curve=X25519"), "curve=X25519");
    refuses(with(SETUP, "curve", "curve=dh-1024"), "curve=dh-1024");
    char word[400] = "id=";
    memset(word + 3, 'a', VALUE_MAX);
    word[3 + VALUE_MAX] = '\0';
    CHECK(parse(with(SETUP, "id", word)));
    strcat(word, "a");
    refuses(with(SETUP, "id", word), "has 256 bytes");
}

static void numbers_out_of_range(void) {
    refuses(with(RUN, "max_handshakes", "max_handshakes=0"), "expected 1 to 1000000");
    refuses(with(RUN, "max_handshakes", "max_handshakes=1000001"), "expected 1 to 1000000");
    refuses(with(RUN, "max_handshakes", "max_handshakes=18446744073709551617"), "expected 1 to 1000000");
    refuses(with(RUN, "max_handshakes", "max_handshakes=-1"), "max_handshakes=-1");
    refuses(with(RUN, "max_handshakes", "max_handshakes=+1"), "max_handshakes=+1");
    refuses(with(RUN, "max_handshakes", "max_handshakes=1e3"), "max_handshakes=1e3");
    refuses(with(RUN, "max_handshakes", "max_handshakes=007"), "max_handshakes=007");
    refuses(with(SETUP, "chain_length", "chain_length=0"), "expected 1 to 10");
    refuses(with(SETUP, "chain_length", "chain_length=11"), "expected 1 to 10");
    refuses(with(SETUP, "certificate_names", "certificate_names=0"), "expected 1 to 1000");
    refuses(with(SETUP, "certificate_names", "certificate_names=1001"), "expected 1 to 1000");
    refuses(with(SETUP, "certificate_policies", "certificate_policies=51"), "expected 0 to 50");
    refuses(with(SETUP, "crl_distribution_points", "crl_distribution_points=51"), "expected 0 to 50");
    refuses(with(SETUP, "intermediate_bytes", "intermediate_bytes=8193"), "expected 0 to 8192");
    CHECK(parse(with(SETUP, "trust_anchors", "trust_anchors=0")));
    refuses(with(SETUP, "trust_anchors", "trust_anchors=1001"), "expected 0 to 1000");
    refuses(with(SETUP, "server_names", "server_names=0"), "expected 1 to 10000");
    refuses(with(SETUP, "server_names", "server_names=10001"), "expected 1 to 10000");
    refuses(with(SETUP, "trust_store", "trust_store=folders"), "expected file, folder or p11-kit");
    CHECK(parse("start processes=1000 id=b") && request.verb == VERB_START && request.processes == 1000);
    refuses("start id=a processes=0", "expected 1 to 1000");
    refuses("start id=a processes=1001", "expected 1 to 1000");
    refuses("start id=a", "start needs the key processes");
    refuses(with(SETUP, "threads", "threads=0"), "expected 1 to 256");
    refuses(with(SETUP, "threads", "threads=257"), "expected 1 to 256");
    refuses(with(SETUP, "early_data_bytes", "early_data_bytes=16385"), "expected 0 to 16384");
    refuses("examine id=a handshakes=1001", "expected 1 to 1000");
    refuses(with(LOAD, "port", "port=0"), "expected 1 to 65535");
    refuses(with(LOAD, "port", "port=65536"), "expected 1 to 65535");
    refuses(with(LOAD, "response_bytes", "response_bytes=16777217"), "expected 0 to 16777216");
    refuses(with(LOAD, "requests", "requests=0"), "expected 1 to 1000");
    refuses(with(LOAD, "concurrency", "concurrency=33"), "expected 1 to 32");
    refuses(with(LOAD, "max_connections", "max_connections=100001"), "expected 1 to 100000");
    refuses(with(LOAD, "max_ns", "max_ns=0"), "expected 1 to 3600000000000");
    refuses(with(LOAD, "timeout_ns", "timeout_ns=999999"), "expected 1000000 to 60000000000");
    refuses(with(LOAD, "timeout_ns", "timeout_ns=60000000001"), "expected 1000000 to 60000000000");
    refuses(with(LOAD, "resumed_percent", "resumed_percent=101"), "expected 0 to 100");
    refuses(with(PATH, "round_trip_ns", "round_trip_ns=10000000001"), "expected 0 to 10000000000");
    refuses(with(PATH, "loss_ppm", "loss_ppm=1000001"), "expected 0 to 1000000");
    refuses(with(PATH, "rate_bit_s", "rate_bit_s=999"), "expected 0, or 1000 to 100000000000");
    refuses(with(PATH, "mtu", "mtu=575"), "expected 576 to 9000");
    refuses(with(PATH, "mtu", "mtu=9001"), "expected 576 to 9000");
    refuses(with(PATH, "queue_bytes", "queue_bytes=1073741825"), "expected 0 to 1073741824");
    refuses(with(PATH, "initial_window", "initial_window=0"), "expected 1 to 100");
    refuses(with(PATH, "initial_window", "initial_window=101"), "expected 1 to 100");
    refuses(with(PATH, "seed", "seed=1234567890123456789"), "expected a number of at most 18 digits");
    refuses(with(PATH, "connections", "connections=0"), "expected 1 to 20000");
    refuses(with(PATH, "connections", "connections=20001"), "expected 1 to 20000");
    refuses(with(PATH, "interval_ns", "interval_ns=1000000001"), "expected 0 to 1000000000");
    refuses(with(PATH, "timeout_ns", "timeout_ns=999999"), "expected 1000000 to 60000000000");
    refuses(with(PATH, "answer_bytes", "answer_bytes=0"), "expected 1 to 16777216");
    refuses(with(RUN, "min_ns", "min_ns=3600000000001"), "expected 0 to 3600000000000");
    refuses(with(RUN, "min_handshakes", "min_handshakes=1001"), "min_handshakes is above max_handshakes");
    refuses(with(SETUP, "rsa_bits", "rsa_bits=511"), "expected 0, or 512");
    refuses(with(SETUP, "rsa_bits", "rsa_bits=16385"), "expected 0, or 512");
    refuses(with(SETUP, "group", "group=dh-511"), "group=dh-511");
    refuses(with(SETUP, "group", "group=dh-8193"), "group=dh-8193");
    refuses(with(SETUP, "group", "group=dh-01024"), "group=dh-01024");
    refuses(with(SETUP, "group", "group=dh-99999999999"), "group=dh-");
    refuses(with(SETUP, "group", "group=dh-"), "group=dh-");
    refuses(with(SETUP, "group", "group=dh"), "group=dh");
}

static void oversize(void) {
    static char line[LINE_MAX_BYTES + 2];
    memset(line, 'x', sizeof line - 1);
    refuses(line, "at most 4095 bytes");
    line[LINE_MAX_BYTES] = '\0';
    refuses(line, "unknown verb");
}

static void nul_bytes(void) {
    static const char stop[] = "stop\0 id=a";
    CHECK(!request_parse(stop, sizeof stop - 1, &request, reason));
    CHECK_TEXT(reason, "a line holds no NUL byte");
    CHECK(!request_parse("\0", 1, &request, reason));
    CHECK(!request_parse(NULL, 0, &request, reason));
}

int main(void) {
    sentence("a good setup is read into a case", good_setup);
    sentence("a good load is read into a plan", good_load);
    sentence("a good path is read into a plan, which is bounded in time", good_path);
    sentence("a good age is read into a plan, which is bounded", good_age);
    sentence("a load on another machine is an error", other_machines);
    sentence("keys may come in any order", any_order);
    sentence("every name of the protocol is known", every_name);
    sentence("an unknown verb is an error", unknown_verb);
    sentence("an unknown key, or a word that is no key=value, is an error", unknown_key);
    sentence("a key given twice is an error", duplicate_key);
    sentence("each missing key is named", missing_key);
    sentence("so is each of a path", missing_key_of_path);
    sentence("no value can name another folder", path_traversal);
    sentence("a value that is empty, too long, not a known name or of odd bytes is an error", odd_values);
    sentence("numbers out of range are errors", numbers_out_of_range);
    sentence("a line of more than 4,095 bytes is an error", oversize);
    sentence("a NUL byte is an error and hides nothing", nul_bytes);
    return check_failures != 0;
}
