/* Loads with every backend, against a server with the same backend's other side: what is counted is what was
 * done, and whatever a server does, the load ends with a record of it and holds nothing. The folder with the
 * material is the argument. */
#include "load.h"
#include "loopback.h"

#include "matrix.h"
#include "web_server.h"

#include <dirent.h>
#include <stdlib.h>

enum { BODY = 4096 };
static const uint64_t LONG_NS = 60ull * 1000000000u, SHORT_NS = 50ull * 1000000u;
static const struct row ROW_1_2 = {"TLSv1.2", "ECDHE-ECDSA", "AES-128-GCM", "P-256", 0, "P-256", ""};
static const struct row ROW_1_3 = {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "P-256", 0, "P-256", ""};

static const char *material;
static struct load out;
static struct fault fault;

static struct load_plan a_plan(uint64_t connections) {
    struct load_plan plan = {.path = "file.bin",
                             .response_bytes = BODY,
                             .requests = 1,
                             .concurrency = 4,
                             .max_connections = connections,
                             .max_ns = LONG_NS,
                             .timeout_ns = LONG_NS};
    loopback_address("127.0.0.1", &plan.address);
    return plan;
}

static struct tls_case case_with(struct row row, const char *further) {
    row.further = further;
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

static bool set_up(struct prepared *p, const struct tls_case *c) {
    struct negotiated seen;
    memset(&fault, 0, sizeof fault);
    return CHECK(prepare(p, &linked_backend, c, material, -1, &seen, &fault));
}

/* A load of the case on a server that was started with its own; both are ended. */
static bool load_of(const struct tls_case *c, struct web_server *s, struct load_plan plan) {
    struct prepared p;
    int files = open_files();
    bool good = false;
    if (set_up(&p, c)) {
        if (web_server_start(s, material)) {
            plan.port = s->port;
            good = load(&p, &plan, &out, &fault);
            web_server_end(s);
        }
        release(&p);
    }
    CHECK_NUMBER(open_files(), files);
    return good;
}

static uint64_t failures(void) {
    uint64_t sum = 0;
    for (enum outcome outcome = OUTCOME_REFUSED; outcome < OUTCOMES; outcome++)
        sum += out.failures[outcome];
    return sum;
}

static void check_latency(const struct latency *l) {
    CHECK(l->p50_ns > 0 && l->p50_ns <= l->p90_ns && l->p90_ns <= l->p99_ns && l->p99_ns <= l->max_ns);
}

static void downloads_with(const char *protocol, const char *further, unsigned requests) {
    struct row row = ROW_1_2;
    row.protocol = protocol;
    struct tls_case c = case_with(row, further);
    struct web_server s = {.tls_case = c, .body_bytes = BODY};
    struct load_plan plan = a_plan(12);
    plan.requests = requests;
    if (!CHECK(load_of(&c, &s, plan)))
        printf("      %s %s: %s (%s)\n", protocol, further, fault.reason, fault.detail);
    if (!CHECK_NUMBER(failures(), 0))
        printf("      %s %s: %s\n", protocol, further, out.first_failure);
    CHECK_NUMBER(out.connections, 12);
    CHECK_NUMBER(out.proven, 12);
    CHECK_NUMBER(out.resumed, 0);
    CHECK_NUMBER(s.accepted, 12);
    CHECK_NUMBER(s.answered, 12 * requests);
    CHECK(out.bytes[ROLE_SERVER] > 12 * requests * BODY && out.bytes[ROLE_CLIENT] > 12 * 200);
    CHECK(out.first_failure[0] == '\0' && out.wall_ns > 0 && out.thread_cpu_ns > 0);
    check_latency(&out.handshake);
    check_latency(&out.response);
    CHECK(out.handshake.p50_ns < out.response.p50_ns && out.response.max_ns <= out.wall_ns);
}

static void downloads(void) {
    downloads_with("TLSv1.2", "", 1);
    downloads_with("TLSv1.3", "", 1);
    downloads_with("TLSv1.3", "", 3);
    downloads_with("TLSv1.3", "hello_retry=yes", 1);
    downloads_with("TLSv1.3", "client_authentication=yes", 1);
    downloads_with("TLSv1.3", "tickets=default", 1);
    downloads_with("TLSv1.3", "context=connection", 1);
    if (!linked_backend.takes_settings)
        downloads_with("TLSv1.2", "", 2);
}

static void downloads_much(void) {
    struct tls_case c = case_of(&ROW_1_3);
    struct web_server s = {.tls_case = c, .body_bytes = 60000};
    struct load_plan plan = a_plan(8);
    plan.response_bytes = 60000;
    CHECK(load_of(&c, &s, plan));
    CHECK_NUMBER(out.connections, 8);
    CHECK(out.bytes[ROLE_SERVER] > 8 * 60000);
}

static void resumes_with(struct row row, const char *further, unsigned percent, unsigned wanted) {
    struct tls_case c = case_with(row, further);
    struct web_server s = {.tls_case = c, .body_bytes = BODY};
    struct load_plan plan = a_plan(10);
    plan.resumed_percent = percent;
    if (!CHECK(load_of(&c, &s, plan)))
        printf("      %s %s: %s (%s)\n", row.protocol, further, fault.reason, fault.detail);
    CHECK_NUMBER(out.connections, 10);
    CHECK_NUMBER(out.resumed, wanted);
    CHECK_NUMBER(out.proven, 10);
    CHECK_NUMBER(s.accepted, percent == 0 ? 10 : 11); /* with the one that yields the first session */
}

static void resumption(void) {
    resumes_with(ROW_1_2, "resumption=ticket", 100, 10);
    resumes_with(ROW_1_2, "resumption=ticket", 35, 3);
    resumes_with(ROW_1_2, "resumption=ticket", 0, 0);
    if (linked_backend.takes_settings) /* the fake's server can't see a TLS 1.3 client resume */
        return;
    resumes_with(ROW_1_3, "resumption=psk-dhe", 100, 10);
    resumes_with(ROW_1_3, "resumption=psk-dhe", 50, 5);
}

static void no_session(void) {
    struct tls_case c = case_with(ROW_1_3, "resumption=psk-dhe");
    struct web_server s = {.tls_case = case_of(&ROW_1_3), .body_bytes = BODY};
    struct load_plan plan = a_plan(10);
    plan.resumed_percent = 10;
    if (!linked_backend.takes_settings) { /* the fake needs no ticket */
        CHECK(!load_of(&c, &s, plan));
        CHECK(strstr(fault.reason, "no session") != NULL || strstr(fault.reason, "no ticket") != NULL);
        CHECK_NUMBER(s.accepted, 1);
    }
    s = (struct web_server){.tls_case = c, .behaviour = FINDS_NOTHING, .body_bytes = BODY};
    CHECK(!load_of(&c, &s, plan));
    CHECK_TEXT(fault.reason,
               "no session to resume: status: wanted HTTP/1.1 200, the server sent HTTP/1.1 404 Not Found");
}

/* A client offers nothing but its case, so another negotiation has to be planted: in what is wanted. */
static void mismatches(void) {
    struct tls_case c = case_of(&ROW_1_3);
    struct web_server s = {.tls_case = c, .body_bytes = BODY};
    struct load_plan plan = a_plan(10);
    struct prepared p;
    if (!set_up(&p, &c) || !web_server_start(&s, material))
        return;
    plan.port = s.port;
    strcpy(p.tls_case.group_name, "X25519");
    CHECK(!load(&p, &plan, &out, &fault));
    CHECK(fault.kind == FAULT_MISMATCH);
    CHECK_TEXT(fault.reason, "group: wanted X25519, the client got P-256");
    CHECK(out.proven == 0 && out.connections == 0 && out.wall_ns == 0);
    web_server_end(&s);
    release(&p);
}

static void another_certificate(void) {
    struct row row = {"TLSv1.3", "ECDHE-RSA", "AES-128-GCM", "P-256", 2048, "-", ""};
    struct tls_case c = case_of(&row), other = c;
    strcpy(other.key, "rsa-2048-other.key.pem");
    strcpy(other.certificate, "rsa-2048-other.cert.pem");
    struct web_server s = {.tls_case = other, .body_bytes = BODY};
    CHECK(!load_of(&c, &s, a_plan(10)));
    CHECK(fault.kind == FAULT_MISMATCH);
    CHECK(strncmp(fault.reason, "certificate: ", 13) == 0);
}

static void fails(enum behaviour behaviour, enum outcome outcome, const char *reason) {
    struct tls_case c = case_of(&ROW_1_3);
    struct web_server s = {.tls_case = c, .behaviour = behaviour, .healthy = 2, .body_bytes = BODY};
    struct load_plan plan = a_plan(6);
    if (outcome == OUTCOME_TIMEOUT)
        plan.timeout_ns = SHORT_NS;
    if (!CHECK(load_of(&c, &s, plan)))
        printf("      %s: %s\n", reason, fault.reason);
    if (outcome == OUTCOME_TIMEOUT) /* on a busy machine a healthy connection may time out as well */
        CHECK(out.connections <= 2);
    else
        CHECK_NUMBER(out.connections, 2);
    CHECK_NUMBER(out.failures[outcome], 6 - out.connections);
    if (outcome != OUTCOME_TIMEOUT && strstr(out.first_failure, reason) == NULL)
        CHECK_TEXT(out.first_failure, reason);
}

static void faulty_servers(void) {
    fails(LEAVES, OUTCOME_CLOSED, "the server closed the connection during the handshake");
    fails(RESETS, OUTCOME_RESET, "the server reset the connection during the handshake");
    fails(HALF_CLOSES, OUTCOME_CLOSED, "the server closed the connection during an answer");
    fails(FINDS_NOTHING, OUTCOME_HTTP, "HTTP/1.1 404 Not Found");
    fails(SENDS_LESS, OUTCOME_CLOSED, "the server closed the connection during an answer");
    fails(BREAKS_OFF, OUTCOME_CLOSED, "the server closed the connection during an answer");
    fails(RESETS_IN_ANSWER, OUTCOME_RESET, "the server reset the connection during an answer");
    fails(SENDS_MORE, OUTCOME_HTTP, "length: wanted 4096 bytes, the server sent more");
    fails(IS_SILENT, OUTCOME_TIMEOUT, "timed out during the handshake");
    if (linked_backend.takes_settings)
        return; /* the fake takes any bytes for a handshake, and its client closes without waiting */
    fails(SENDS_GARBAGE, OUTCOME_TLS, "the client's handshake failed");
    fails(NEVER_CLOSES, OUTCOME_TIMEOUT, "timed out during closing");
}

/* What waits in a listener's queue when it closes is reset, what comes later is refused. */
static void dies(void) {
    struct tls_case c = case_of(&ROW_1_3);
    struct web_server s = {.tls_case = c, .behaviour = DIES, .healthy = 5, .body_bytes = BODY};
    CHECK(load_of(&c, &s, a_plan(200)));
    CHECK_NUMBER(out.connections, 5);
    CHECK_NUMBER(out.failures[OUTCOME_REFUSED] + out.failures[OUTCOME_RESET], 195);
    CHECK(out.failures[OUTCOME_REFUSED] > 0);
}

/* A port that somebody has, but where nobody listens. */
static void refuses(void) {
    struct tls_case c = case_of(&ROW_1_3);
    struct load_plan plan = a_plan(300);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = plan.address};
    socklen_t size = sizeof address;
    struct prepared p;
    int taken = socket(AF_INET, SOCK_STREAM, 0), files = open_files();
    CHECK(bind(taken, (struct sockaddr *)&address, size) == 0);
    CHECK(getsockname(taken, (struct sockaddr *)&address, &size) == 0);
    plan.port = ntohs(address.sin_port);
    if (!set_up(&p, &c))
        return;
    CHECK(load(&p, &plan, &out, &fault));
    CHECK_NUMBER(out.connections, 0);
    CHECK_NUMBER(out.failures[OUTCOME_REFUSED], 300);
    CHECK_TEXT(out.first_failure, "the server refused during connecting");
    CHECK_NUMBER(open_files(), files);
    release(&p);
    close(taken);
}

static void is_bounded(void) {
    struct tls_case c = case_of(&ROW_1_3);
    struct web_server s = {.tls_case = c, .body_bytes = BODY};
    struct load_plan plan = a_plan(LOAD_CONNECTIONS_MAX);
    plan.max_ns = 1;
    CHECK(load_of(&c, &s, plan));
    CHECK_NUMBER(out.connections, 1); /* none begins after the time, but one always does */
}

static void no_load(struct row row, const char *further, unsigned percent, const char *reason) {
    struct tls_case c = case_with(row, further);
    struct load_plan plan = a_plan(1);
    struct prepared p = {.backend = &linked_backend, .tls_case = c};
    plan.resumed_percent = percent;
    CHECK(!load(&p, &plan, &out, &fault));
    CHECK_TEXT(fault.reason, reason);
}

static void is_refused(void) {
    no_load(ROW_1_3, "", 1, "resumed_percent needs a resumption");
    no_load(ROW_1_3, "roles=client", 0, "a load needs roles=both: its set-up proves the case");
    no_load(ROW_1_3, "threads=2", 0,
            "a load takes no threads: concurrency says how many connections there are");
    no_load(ROW_1_3, "resumption=psk early_data_bytes=1", 0,
            "a load takes no early_data_bytes: they would be no HTTP");
}

int main(int argc, char **argv) {
    material = argc > 1 ? argv[1] : ".";
    if (!linked_backend.start(linked_backend.takes_settings ? "noise=0" : NULL, &fault)) {
        printf("%s %s\n", fault.reason, fault.detail);
        return 1;
    }
    if ((strcmp(linked_backend.library, "go") == 0 && atoi(linked_backend.version() + 2) < 25) ||
        (strcmp(linked_backend.library, "wolfssl") == 0 &&
         strncmp(linked_backend.version(), "5.6", 3) == 0)) {
        printf("      not here: loads, since a client alone can't tell what its server signed with\n");
        return 0;
    }
    sentence("a load's connections download what they ask for, and are all counted", downloads);
    sentence("a body of many records is read whole", downloads_much);
    sentence("so many connections resume as were asked for", resumption);
    sentence("without a session to resume there is no load", no_session);
    sentence("another negotiation than the case's ends a load as a mismatch", mismatches);
    if (!linked_backend.takes_settings) /* the fake shows no certificate */
        sentence("another certificate than the case's ends a load as a mismatch", another_certificate);
    sentence("each fault of a server is counted by its reason", faulty_servers);
    sentence("a server that dies in mid-load is told", dies);
    sentence("a port where nobody listens refuses each connection", refuses);
    sentence("a load is bounded in time", is_bounded);
    sentence("a case that makes no load is refused with its reason", is_refused);
    return check_failures != 0;
}
