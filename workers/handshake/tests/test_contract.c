/* One suite for every backend, run against the real libraries of this machine and the fake:
 * what was asked is what is negotiated, faults are told apart, and a pair may be dropped at
 * any point. The folder with the material is the argument. */
#include "examine.h"
#include "measure.h"
#include "profile.h"

#include "check.h"
#include "faults.h"
#include "matrix.h"

#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *material;

static bool is_linked(const char *library) {
    return strcmp(linked_backend.library, library) == 0;
}

/* AWS-LC, and BoringSSL, which it comes from. */
static bool is_boring(void) {
    return is_linked("awslc") || is_linked("boringssl");
}

/* Those that have neither finite fields nor psk without a key share. */
static bool is_young(void) {
    return is_boring() || is_linked("s2n") || is_linked("rustls") || is_linked("go");
}

/* Since 1.25 each side knows what the other signed with, before it each what it signed with itself. */
static bool is_new_go(void) {
    return is_linked("go") && atoi(linked_backend.version() + 2) >= 25;
}

/* That its servers issue by themselves. */
static int tickets_by_default(void) {
    return is_linked("s2n") || is_linked("go") || is_linked("wolfssl") ? 1 : 2;
}

static bool ready(struct prepared *p, const struct tls_case *c, struct negotiated *seen,
                  struct fault *fault) {
    memset(fault, 0, sizeof *fault);
    return prepare(p, &linked_backend, c, material, -1, seen, fault);
}

static void negotiates_row(const struct row *row) {
    struct tls_case c = case_of(row);
    struct negotiated seen = {0};
    struct limits limits = {2, 0, 2, true};
    struct fault fault;
    struct batch batch;
    struct prepared p;
    bool set_up = ready(&p, &c, &seen, &fault);
    if (!set_up && fault.kind == FAULT_UNSUPPORTED) { /* shown, so that it is not overlooked */
        printf("      not here: %s %s %s %s: %s\n", row->protocol, row->key_exchange, row->group,
               row->further, fault.reason);
        return;
    }
    if (!set_up || !measure(&p, &limits, &batch, &fault)) {
        printf("      %s %s %s %s %u %s %s: %s (%s)\n", row->protocol, row->key_exchange, row->cipher,
               row->group, row->rsa_bits, row->curve, row->further, fault.reason, fault.detail);
        check_failures++;
    } else {
        CHECK_NUMBER(batch.handshakes, 2 * c.threads);
        CHECK(c.method == METHOD_DEFAULT || strcmp(seen.group, p.wanted.group) == 0);
        CHECK(seen.key_shares >= 0 && (seen.client_signature == NULL) == seen.resumed);
        CHECK((seen.extended_master_secret < 0) == (strstr(seen.protocol, "1.3") != NULL));
        CHECK(seen.protocol != NULL && seen.cipher != NULL && seen.group != NULL && seen.signature != NULL);
        for (enum role role = ROLE_CLIENT; role <= ROLE_SERVER; role++)
            CHECK(batch.cpu_ns[SPAN_HANDSHAKE][role] > 0 && batch.first_ns[role] > 0 &&
                  batch.bytes[role] > 200);
        CHECK(!case_has_psk(&c) ||
              (strcmp(seen.peer_key, "PSK") == 0 && seen.chain_length == 0 && !seen.resumed));
        CHECK(batch.has_objects && batch.has_transfer == (c.transfer_bytes > 0));
        for (enum role role = ROLE_CLIENT; role <= ROLE_SERVER; role++) {
            CHECK((batch.cpu_ns[SPAN_TRANSFER][role] > 0) == (c.transfer_bytes > 0));
            CHECK((batch.cpu_ns[SPAN_FINISH][role] > 0) == (c.transfer_bytes > 0));
            CHECK(batch.cpu_ns[SPAN_OBJECTS][role] > 0 || linked_backend.takes_settings);
        }
        CHECK_NUMBER(seen.transferred_bytes, c.transfer_bytes);
        CHECK_NUMBER(seen.transfer_records, (c.transfer_bytes + RECORD_MAX - 1) / RECORD_MAX);
        CHECK_NUMBER(seen.verified_length, seen.resumed ? -1 : c.verification ? (int)c.chain_length + 1 : 0);
        CHECK(c.tickets != TICKETS_DEFAULT || seen.tickets > 0);
        CHECK(batch.wall_ns > 0 && batch.elapsed_ns > 0 &&
              batch.thread_cpu_ns >= batch.cpu_ns[SPAN_HANDSHAKE][ROLE_CLIENT]);
        CHECK(linked_backend.takes_settings || batch.bytes[ROLE_CLIENT] >= 2 * c.early_data_bytes);
    }
    if (set_up)
        release(&p);
}

static void negotiates(void) {
    for (size_t i = 0; i < ROWS; i++)
        negotiates_row(&rows[i]);
}

/* A second key share on the certificate's curve would cost the client a key of 133 bytes, and the time to
 * make it. */
static void one_key_share(void) {
    struct row row = {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-521", ""};
    struct tls_case c = case_of(&row);
    struct negotiated seen = {0};
    struct limits limits = {1, 0, 1, true};
    struct fault fault;
    struct batch batch = {0};
    struct prepared p;
    if (is_linked("go"))
        c.cipher = AES_128_GCM; /* the only one that it has in TLS 1.3 */
    if (!ready(&p, &c, &seen, &fault)) {
        CHECK(is_linked("rustls") && fault.kind == FAULT_UNSUPPORTED); /* with ring it has no P-521 */
        return;
    }
    CHECK(measure(&p, &limits, &batch, &fault));
    if (!linked_backend.takes_settings)
        CHECK(batch.bytes[ROLE_CLIENT] < 300);
    release(&p);
}

static void no_number(void) {
    struct tls_case c = case_of(&rows[13]), other = case_of(&rows[14]);
    struct negotiated seen = {0};
    struct limits limits = {2, 0, 2, true};
    struct fault fault;
    struct batch batch, empty = {0};
    struct prepared p;
    if (!CHECK(ready(&p, &c, &seen, &fault)))
        return;
    p.wanted = case_wanted(&other, false);
    CHECK(!measure(&p, &limits, &batch, &fault));
    CHECK(fault.kind == FAULT_MISMATCH);
    CHECK(memcmp(&batch, &empty, sizeof batch) == 0);
    release(&p);
}

/* A real handshake, held against what it is not. */
static void refutes(const struct row *row, struct negotiated wanted, const char *reason) {
    struct tls_case c = case_of(row);
    struct negotiated seen = {0};
    struct limits limits = {2, 0, 2, true};
    struct fault fault;
    struct batch batch;
    struct prepared p;
    if (is_linked("go") && c.resumption == RESUME_SESSION_ID) {
        CHECK(!ready(&p, &c, &seen, &fault) && fault.kind == FAULT_UNSUPPORTED);
        return;
    }
    if (!CHECK(ready(&p, &c, &seen, &fault)))
        return;
    if (wanted.protocol == NULL) { /* of a resumption: the other one */
        p.tls_case.resumption = c.resumption == RESUME_TICKET ? RESUME_SESSION_ID : RESUME_TICKET;
    } else {
        p.wanted = wanted;
    }
    CHECK(!measure(&p, &limits, &batch, &fault));
    CHECK(fault.kind == FAULT_MISMATCH);
    CHECK_TEXT(fault.reason, reason);
    release(&p);
}

static void refuted(void) {
    struct row full = {"TLSv1.2", "ECDHE-ECDSA", "AES-128-GCM", "P-256", 0, "P-256", ""};
    struct row ticket = full, session_id = full, shown = full, tls_1_3 = full;
    ticket.further = "resumption=ticket";
    session_id.further = "resumption=session-id";
    shown.further = "client_authentication=yes";
    tls_1_3.protocol = "TLSv1.3";
    struct tls_case full_case = case_of(&full), shown_case = case_of(&shown), case_1_3 = case_of(&tls_1_3);
    struct negotiated none = {0}, without = case_wanted(&full_case, false),
                      other = case_wanted(&shown_case, false), retried = case_wanted(&case_1_3, false),
                      two = retried;
    without.extended_master_secret = 0;
    other.client_signature = "ecdsa_secp384r1_sha384";
    retried.hello_retry = 1;
    two.key_shares = 2;
    refutes(&full, without, "extended_master_secret: wanted 0, the client got 1");
    refutes(&shown, other,
            is_boring() || is_linked("rustls") || is_new_go() /* whose clients do not tell their own */
                ? "client_signature: wanted ecdsa_secp384r1_sha384, the server got ecdsa_secp256r1_sha256"
                : "client_signature: wanted ecdsa_secp384r1_sha384, the client got ecdsa_secp256r1_sha256");
    refutes(&tls_1_3, retried, "hello_retry: wanted 1, the client got 0");
    refutes(&tls_1_3, two, "key_shares: wanted 2, the client got 1");
    refutes(&ticket, none, "resumption: wanted session-id, the ClientHello has a ticket");
    refutes(&session_id, none, "resumption: wanted ticket, the ClientHello has no ticket");
}

/* What the libraries do unlike each other is told: the share that a psk client makes for nothing, and the
 * tickets that a server issues when nobody says how many. */
static void differences_are_told(void) {
    struct row psk = {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", "resumption=psk"};
    struct row defaults = {"default", "default-ECDSA", "-", "-", 0, "P-256", ""};
    struct tls_case psk_case = case_of(&psk), default_case = case_of(&defaults);
    struct negotiated seen = {0};
    struct fault fault;
    struct prepared p;
    if (ready(&p, &psk_case, &seen, &fault)) {
        CHECK_NUMBER(seen.key_shares, is_linked("openssl") || is_linked("wolfssl"));
        release(&p);
    } else {
        CHECK(is_young() && fault.kind == FAULT_UNSUPPORTED);
    }
    if (CHECK(ready(&p, &default_case, &seen, &fault))) {
        CHECK(seen.key_shares > 0);
        if (strcmp(seen.protocol, "TLSv1.3") == 0 && !linked_backend.takes_settings)
            CHECK_NUMBER(seen.tickets, is_linked("gnutls") || is_linked("s2n") || is_linked("go")
                                           ? 0
                                           : tickets_by_default());
        release(&p);
    }
}

/* A client that lists a group with ML-KEM and one without makes two shares; a retry needs another list. */
static void hybrid_after_a_retry(void) {
    static const char *const groups[] = {"X25519MLKEM768", "SecP256r1MLKEM768"};
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        struct row row = {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", groups[i], 0, "P-256", "hello_retry=yes"};
        struct tls_case c = case_of(&row);
        struct negotiated seen = {0};
        struct fault fault;
        struct prepared p;
        if (!ready(&p, &c, &seen, &fault)) {
            CHECK(fault.kind == FAULT_UNSUPPORTED);
            continue;
        }
        CHECK(seen.key_shares == 1 && seen.hello_retry == 1);
        CHECK_TEXT(seen.group, groups[i]);
        release(&p);
    }
}

/* --- Servers with several names. --- */

static bool ready_with_names(struct prepared *p, const char *protocol, unsigned names) {
    struct row row = {protocol, "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", ""};
    struct tls_case c = case_of(&row);
    struct negotiated seen = {0};
    struct fault fault;
    c.server_names = names;
    return ready(p, &c, &seen, &fault) || (CHECK(fault.kind == FAULT_UNSUPPORTED), false);
}

static const char *const both_protocols[] = {"TLSv1.2", "TLSv1.3"};

static void asks_for_each_name(void) {
    enum { NAMES = 10 };
    for (size_t i = 0; i < 2; i++) {
        bool asked[NAMES] = {false};
        struct spans spans = {0};
        struct negotiated seen = {0};
        struct fault fault = {0};
        struct prepared p;
        if (!ready_with_names(&p, both_protocols[i], NAMES))
            continue;
        for (int connection = 0; connection < NAMES; connection++) {
            unsigned number = NAMES;
            CHECK(pair_connection(p.pairs[0], &p.wanted, false, &spans, &seen, &fault));
            CHECK(seen.server_name != NULL && sscanf(seen.server_name, "name-%u.", &number) == 1 &&
                  number < NAMES && !asked[number]);
            asked[number % NAMES] = true;
        }
        release(&p);
    }
}

static bool ask_another(struct side *client, const char *name, struct fault *fault) {
    (void)name;
    return linked_backend.ask(client, "name-00000." VERIFIED_HOST, fault);
}

static bool ask_unknown(struct side *client, const char *name, struct fault *fault) {
    (void)name;
    return linked_backend.ask(client, "name-00010." VERIFIED_HOST, fault);
}

static void refuses_asked(const char *protocol, bool (*ask)(struct side *, const char *, struct fault *),
                          enum fault_kind kind, const char *reason) {
    struct spans spans = {0};
    struct fault fault = {0};
    struct prepared p;
    if (!ready_with_names(&p, protocol, 10))
        return;
    struct backend backend = linked_backend;
    backend.ask = ask;
    p.pairs[0]->backend = &backend;
    CHECK(!pair_connection(p.pairs[0], &p.wanted, false, &spans, NULL, &fault));
    CHECK(fault.kind == kind);
    if (reason != NULL)
        CHECK_TEXT(fault.reason, reason);
    release(&p);
}

/* The bytes and what the pair wanted are those of another name; the server's library says whose it took. */
static void refuses_served(const char *protocol) {
    static const char other[] = "name-00009." VERIFIED_HOST;
    struct spans spans = {0};
    struct fault fault = {0};
    struct client_hello hello;
    struct prepared p;
    if (!ready_with_names(&p, protocol, 10))
        return;
    struct pair *pair = p.pairs[0];
    struct wire *wire = &pair->wires[ROLE_CLIENT];
    CHECK(pair_open(pair, false, false, &spans, &fault) && pair_turns(pair, false, &spans, &fault));
    CHECK(pair_prove(pair, &p.wanted, NULL, &fault));
    CHECK(wire_client_hello(wire, &hello) && hello.server_name.length == strlen(other));
    memcpy(wire->head + (hello.server_name.bytes - wire->head), other, strlen(other));
    strcpy(pair->asked, other);
    CHECK(!pair_prove(pair, &p.wanted, NULL, &fault));
    CHECK(fault.kind == FAULT_MISMATCH);
    CHECK_TEXT(fault.reason, "server_name: wanted name-00009.kexbench.invalid, the server took the "
                             "configuration of name-00005.kexbench.invalid");
    pair_close(pair, false, &spans);
    release(&p);
}

static void refuses_other_names(void) {
    for (size_t i = 0; i < 2; i++) {
        refuses_asked(both_protocols[i], ask_another, FAULT_MISMATCH,
                      "server_name: wanted name-00005.kexbench.invalid, the ClientHello has another");
        refuses_asked(both_protocols[i], ask_unknown, FAULT_ERROR, NULL);
        refuses_served(both_protocols[i]);
    }
}

static void dropped_pairs(void) {
    struct tls_case c = case_of(&rows[20]);
    struct negotiated seen = {0};
    struct fault fault = {0};
    struct prepared p;
    struct spans spans = {0};
    if (!CHECK(ready(&p, &c, &seen, &fault)))
        return;
    for (int turns = 0; turns < 4; turns++) {
        CHECK(pair_open(p.pairs[0], false, false, &spans, &fault));
        for (int turn = 0; turn < turns; turn++)
            CHECK(linked_backend.step(p.pairs[0]->sides[turn % 2], &fault) != PROGRESS_FAILED);
        pair_close(p.pairs[0], false, &spans);
    }
    CHECK(pair_connection(p.pairs[0], &p.wanted, false, &spans, &seen, &fault));
    release(&p);
}

static void set_up_again(void) {
    struct tls_case c = case_of(&rows[5]), missing = c;
    strcpy(missing.key, "missing.pem");
    for (int i = 0; i < 20; i++) {
        struct negotiated seen = {0};
        struct fault fault;
        struct prepared p;
        if (ready(&p, i % 2 == 0 ? &c : &missing, &seen, &fault))
            release(&p);
    }
}

/* The first CPUs of those that this program may use; at most `most`. */
static unsigned first_cpus(unsigned most, cpu_set_t *out) {
    cpu_set_t allowed;
    unsigned count = 0;
    CPU_ZERO(out);
    CHECK(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
    for (unsigned cpu = 0; cpu < CPU_SETSIZE && count < most; cpu++) {
        if (CPU_ISSET(cpu, &allowed)) {
            CPU_SET(cpu, out);
            count++;
        }
    }
    return count;
}

/* Another program that never rests, on one CPU, until it is killed or this program ends. */
static pid_t start_busy_program(void) {
    cpu_set_t one;
    pid_t parent = getpid(), child;
    first_cpus(1, &one);
    child = fork();
    if (child != 0)
        return child;
    if (sched_setaffinity(0, sizeof one, &one) != 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 ||
        getppid() != parent)
        _exit(1);
    for (volatile unsigned long turns = 0;; turns++)
        ;
}

/* With a busy program on the first of the threads' CPUs, two threads lose a quarter of their time, one
 * thread half of it. So does the first thread when it works alone. */
static void others_take(unsigned threads) {
    struct row row = {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", ""};
    struct tls_case c = case_of(&row);
    struct negotiated seen = {0};
    struct limits limits = {1, 200000000, 1000000, true};
    struct fault fault;
    struct batch batch = {0};
    struct prepared p;
    cpu_set_t before, cpus;
    CHECK(sched_getaffinity(0, sizeof before, &before) == 0);
    c.threads = first_cpus(threads, &cpus);
    CHECK(sched_setaffinity(0, sizeof cpus, &cpus) == 0);
    pid_t busy = start_busy_program();
    CHECK(busy > 0);
    if (CHECK(ready(&p, &c, &seen, &fault))) {
        CHECK(measure(&p, &limits, &batch, &fault));
        CHECK(batch.others_ns > batch.thread_cpu_ns / 10);
        CHECK(c.threads == 1 || batch.alone_others_ns > batch.alone_elapsed_ns / 10);
        release(&p);
    }
    CHECK(busy > 0 && kill(busy, SIGKILL) == 0 && waitpid(busy, NULL, 0) == busy);
    CHECK(sched_setaffinity(0, sizeof before, &before) == 0);
}

static void others_are_seen(void) {
    others_take(1);
    others_take(2);
}

/* What the bytes of a handshake are: round trips and records by the standard, not by a library. */
static void examines(void) {
    static const struct {
        const char *protocol, *further;
        unsigned round_trips;
    } known[] = {{"TLSv1.2", "", 2},
                 {"TLSv1.2", "resumption=ticket", 1},
                 {"TLSv1.3", "", 1},
                 {"TLSv1.3", "hello_retry=yes", 2},
                 {"TLSv1.3", "resumption=psk-dhe early_data_bytes=100", 0},
                 {"TLSv1.3", "resumption=psk-dhe early_data_bytes=100 anti_replay=yes", 0}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct row row = {known[i].protocol, "ECDHE-ECDSA",   "AES-128-GCM", "X25519", 0,
                          "P-256",           known[i].further};
        struct tls_case c = case_of(&row);
        struct negotiated seen = {0};
        struct fault fault;
        struct examined out;
        struct prepared p;
        if (!ready(&p, &c, &seen, &fault)) {
            if (fault.kind != FAULT_UNSUPPORTED)
                CHECK_TEXT(fault.reason, known[i].further);
            continue;
        }
        CHECK(examine(&p, 3, &out, &fault));
        CHECK_NUMBER(out.handshakes, 3);
        if (!linked_backend.takes_settings)
            CHECK_NUMBER(out.round_trips, 3 * known[i].round_trips);
        for (enum role role = ROLE_CLIENT; role <= ROLE_SERVER; role++)
            CHECK(out.records[role] >= 3 * 2 && out.bytes[role] >= 3 * 100);
        CHECK(!out.has_heap && (out.has_counter[COUNT_INSTRUCTIONS] || out.counters_absent[0] != '\0'));
        release(&p);
    }
}

static void faults_are_told(void) {
    for (size_t i = 0; i < sizeof fault_rows / sizeof fault_rows[0]; i++) {
        char line[2048];
        snprintf(line, sizeof line, "setup id=a cipher=AES-128-GCM %s", fault_rows[i].words);
        fill_up(line, sizeof line);
        struct tls_case c = read_case(line);
        struct negotiated seen = {0};
        struct fault fault;
        struct prepared p;
        if (!CHECK(!ready(&p, &c, &seen, &fault)))
            printf("      %s\n", line);
        if ((is_young() || is_linked("wolfssl")) &&
            c.method == METHOD_DHE) { /* which they lack, whatever the parameters are */
            CHECK(fault.kind == FAULT_UNSUPPORTED);
            continue;
        }
        CHECK(fault.kind == fault_rows[i].kind);
        CHECK_TEXT(fault.reason, fault_rows[i].reason);
        CHECK(memchr(fault.detail, '\0', sizeof fault.detail) != NULL);
    }
}

/* A chain that leads elsewhere, or to a certificate of another host, ends the handshake; among more trust
 * anchors the right one is found. */
static void verifies(void) {
    static const struct {
        const char *further;
        bool works;
    } verified[] = {
        {VERIFIED, true},
        {"chain_length=2 verification=yes trust_anchors_file=three-roots.pem trust_anchors=3", true},
        {"chain_length=2 verification=yes trust_anchors_file=three-roots.pem trust_anchors=3 "
         "trust_store=folder",
         true},
        {"chain_length=2 verification=yes trust_anchors_file=other-root.pem", false},
        /* The library finds it, but it is not the case's, which is the first. */
        {"chain_length=2 verification=yes trust_anchors_file=root-second.pem trust_anchors=2", false},
    };
    for (size_t i = 0; i < sizeof verified / sizeof verified[0]; i++) {
        struct row row = {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", verified[i].further};
        struct tls_case c = case_of(&row), elsewhere = c;
        struct negotiated seen = {0};
        struct fault fault;
        struct prepared p;
        bool works = ready(&p, &c, &seen, &fault);
        if (!works && c.trust_store != TRUST_FILE && fault.kind == FAULT_UNSUPPORTED)
            continue; /* not all libraries take a folder */
        CHECK(works == verified[i].works);
        if (p.context != NULL) {
            CHECK_NUMBER(seen.verified_length, 3);
            release(&p);
        }
        strcpy(elsewhere.key, "elsewhere.key.pem");
        strcpy(elsewhere.certificate, "elsewhere.cert.pem");
        CHECK(!ready(&p, &elsewhere, &seen, &fault) && fault.kind == FAULT_ERROR);
    }
}

/* How many tickets a library issues unless told otherwise is its own choice, which is told. */
static void issues_tickets(void) {
    struct row row = {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", "tickets=default"};
    struct tls_case c = case_of(&row);
    struct negotiated seen = {0};
    struct fault fault;
    struct prepared p;
    if (!CHECK(ready(&p, &c, &seen, &fault)))
        return;
    CHECK_NUMBER(seen.tickets, tickets_by_default());
    release(&p);
}

/* Sanitizers have allocators of their own, which do not. */
static bool allocator_tells(void) {
    size_t before = mallinfo2().uordblks;
    void *volatile block = malloc(10000);
    bool tells = mallinfo2().uordblks > before;
    free(block);
    return tells;
}

/* The bytes that some connections leave behind. */
static size_t left_by_connections(const char *further) {
    enum { CONNECTIONS = 400 };
    struct row row = {"TLSv1.2", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", further};
    struct tls_case c = case_of(&row);
    struct spans spans = {0};
    struct negotiated seen = {0};
    struct fault fault = {0};
    struct prepared p;
    if (!CHECK(ready(&p, &c, &seen, &fault)))
        return 0;
    size_t before = mallinfo2().uordblks;
    for (int i = 0; i < CONNECTIONS; i++)
        CHECK(pair_connection(p.pairs[0], &p.wanted, false, &spans, &seen, &fault));
    size_t after = mallinfo2().uordblks;
    release(&p);
    return after < before ? 0 : (after - before) / CONNECTIONS;
}

static void keeps_sessions(void) {
    CHECK(left_by_connections("") < 100);
    CHECK(left_by_connections("tickets=cached") > 400); /* of which a session's secrets alone are 200 */
}

/* Sums over a profile's stacks, of one part. */
struct part_sum {
    unsigned long long count, amount;
};

static struct part_sum sum_of(const char *record, const char *part) {
    struct part_sum sum = {0, 0};
    char wanted[64];
    snprintf(wanted, sizeof wanted, "{\"part\":\"%s\",\"count\":", part);
    for (const char *at = record; (at = strstr(at, wanted)) != NULL; at += strlen(wanted)) {
        struct part_sum one = {0, 0};
        CHECK(sscanf(at + strlen(wanted), "%llu,\"amount\":%llu,", &one.count, &one.amount) == 2);
        sum.count += one.count;
        sum.amount += one.amount;
    }
    return sum;
}

/* What the library itself shares among threads is a matter of its own; that nothing else is shared, is not.
 */
static void counts_atomic_operations(void) {
    static const char *const parts[] = {"client", "server", "objects"};
    struct row row = {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", ""};
    struct tls_case c = case_of(&row);
    struct negotiated seen = {0};
    struct fault fault;
    struct prepared p;
    unsigned long long shared[2] = {0, 0};
    if (!CHECK(ready(&p, &c, &seen, &fault)))
        return;
    for (int time = 0; time < 2; time++) {
        struct profile counted;
        if (!profile(&p, PROFILED_ATOMICS, 4, &counted, &fault)) {
            CHECK(fault.kind == FAULT_UNSUPPORTED);
            printf("      not here: %s\n", fault.reason);
            profile_free(&counted);
            break;
        }
        char *record = NULL;
        size_t length = 0;
        FILE *out = open_memstream(&record, &length);
        struct json json = {out, false};
        json_open(&json, NULL);
        stacks_write(&json, counted.stacks);
        json_close(&json);
        fclose(out);
        for (int i = 0; i < 3; i++) {
            struct part_sum sum = sum_of(record, parts[i]);
            CHECK(sum.amount <= sum.count);
            shared[time] += sum.amount;
        }
        struct part_sum busiest = sum_of(record, "busiest");
        CHECK(busiest.count == busiest.amount && busiest.amount <= shared[time]);
        CHECK((busiest.count > 0) == (shared[time] > 0));
        free(record);
        profile_free(&counted);
    }
#ifndef __SANITIZE_ADDRESS__ /* which has atomic operations of its own */
    CHECK_NUMBER(shared[1], shared[0]);
#endif
    release(&p);
}

/* Same size as P-256, so that only the curve itself tells them apart. A build may lack the other curve
 * altogether. */
static void another_curve(void) {
    char line[2048] = "setup id=a cipher=AES-128-GCM " EC_1_2
                      "curve=P-256 key=ec-other.key.pem certificate=ec-other.cert.pem";
    fill_up(line, sizeof line);
    struct tls_case c = read_case(line);
    struct negotiated seen = {0};
    struct fault fault;
    struct prepared p;
    CHECK(!ready(&p, &c, &seen, &fault));
    CHECK(strstr(fault.reason, "curve: wanted P-256") != NULL ||
          strstr(fault.reason, "the certificate") != NULL);
}

/* A protocol that another library has. */
static void other_protocols(void) {
    char line[2048] = "setup id=a protocol=BFE-0RTT-1 key_exchange=BFE cipher=AES-128-GCM group=BLS12-381 "
                      "rsa_bits=0 curve=- key=seed certificate=-";
    fill_up(line, sizeof line);
    struct tls_case c = read_case(line);
    struct negotiated seen = {0};
    struct fault fault;
    struct prepared p;
    CHECK(!ready(&p, &c, &seen, &fault) && fault.kind == FAULT_UNSUPPORTED);
}

int main(int argc, char **argv) {
    struct fault fault = {0};
    material = argc > 1 ? argv[1] : ".";
    if (!linked_backend.start(NULL, &fault)) {
        printf("%s %s\n", fault.reason, fault.detail);
        return 1;
    }
    printf("%s\n", linked_backend.version_text());
    CHECK(linked_backend.version()[0] >= '0' && linked_backend.version()[0] <= '9');
    sentence("what is asked is what is negotiated, and every number is there", negotiates);
    sentence("a TLS 1.3 client makes one key share", one_key_share);
    sentence("a handshake that is not what was wanted gives a mismatch and no number", no_number);
    sentence("a real handshake held against what it is not is refuted by name", refuted);
    sentence("where libraries do unlike work, their numbers of it are told", differences_are_told);
    if (is_boring() || is_linked("s2n") || is_linked("wolfssl"))
        sentence("a hybrid that the server has to ask for is the client's only share", hybrid_after_a_retry);
    sentence("connections ask for each of a server's names once before they begin anew", asks_for_each_name);
    sentence("a name that was not to be asked for, or a server that took another, is refused",
             refuses_other_names);
    sentence("a pair can be dropped after any turn and the next one works", dropped_pairs);
    sentence("a case can be set up again and again, after a refusal too", set_up_again);
    sentence("records and round trips are those of the standard", examines);
    sentence("atomic operations that threads share are counted alike each time", counts_atomic_operations);
    if (linked_backend.takes_settings) /* the fake reads no material */
        return check_failures != 0;
    sentence("a protocol that is not TLS is unsupported", other_protocols);
    sentence("each fault of the material is told with its reason", faults_are_told);
    sentence("a chain is verified to its trust anchor, for its host", verifies);
    sentence("a server issues as many tickets by default as its library says", issues_tickets);
    if (is_linked("openssl") && allocator_tells())
        sentence("a server with a cache keeps a session of each handshake", keeps_sessions);
    sentence("the CPU time that a busy program takes from one thread, or from one of two, is told",
             others_are_seen);
    sentence("a certificate on another curve of the same size is refused", another_curve);
    return check_failures != 0;
}
