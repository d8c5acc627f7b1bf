/* Two roles in two processes, with the fake backend: numbers of each side alone, and that a side which
 * gives up is never waited for. */
#include "peer.h"

#include "check.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct tls_case a_case = {.id = "a",
                                       .method = METHOD_RSA,
                                       .group_name = "-",
                                       .rsa_bits = 2048,
                                       .chain_length = 1,
                                       .key = "k",
                                       .certificate = "c",
                                       .dh_parameters = "-",
                                       .ocsp_response = "-",
                                       .trust_anchors_file = "-",
                                       .trust_anchors = 1,
                                       .threads = 1};
static const struct tls_case retry_case = {.id = "retry",
                                           .protocol = TLS_1_3,
                                           .method = METHOD_ECDHE,
                                           .key_type = KEY_ED25519,
                                           .group = GROUP_X25519,
                                           .group_name = "X25519",
                                           .chain_length = 1,
                                           .hello_retry = true,
                                           .key = "k",
                                           .certificate = "c",
                                           .dh_parameters = "-",
                                           .ocsp_response = "-",
                                           .trust_anchors_file = "-",
                                           .trust_anchors = 1,
                                           .threads = 1};

/* One role's whole life. 0: all went well; else at which stage it ended. */
static int play(struct tls_case c, int peer, const char *settings, struct negotiated *seen,
                struct batch *batch, struct fault *fault) {
    struct prepared prepared;
    struct limits limits = {5, 0, 5, true};
    if (!linked_backend.start(settings, fault))
        return 1;
    if (!prepare(&prepared, &linked_backend, &c, ".", peer, seen, fault))
        return 2;
    bool good = measure(&prepared, &limits, batch, fault);
    release(&prepared);
    return good ? 0 : 3;
}

/* Two sides that may have been told different cases. The server lives in a child; returns how the client
 * ended. */
static int both_of(struct tls_case client_case, struct tls_case server_case, const char *client,
                   const char *server, struct negotiated *seen, struct batch *batch, struct fault *fault,
                   int *ended) {
    int sockets[2];
    client_case.roles = ROLES_CLIENT;
    server_case.roles = ROLES_SERVER;
    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets) == 0);
    pid_t child = fork();
    if (child == 0) {
        struct batch unused;
        struct fault its_own;
        struct negotiated its_view;
        close(sockets[0]);
        _exit(play(server_case, sockets[1], server, &its_view, &unused, &its_own));
    }
    close(sockets[1]);
    int stage = play(client_case, sockets[0], client, seen, batch, fault);
    close(sockets[0]);
    CHECK(waitpid(child, ended, 0) == child);
    return stage;
}

static int both(const char *client, const char *server, struct batch *batch, struct fault *fault,
                int *ended) {
    struct negotiated unused;
    return both_of(a_case, a_case, client, server, &unused, batch, fault, ended);
}

static void measures_its_own_side(void) {
    struct batch batch;
    struct fault fault;
    int ended;
    CHECK_NUMBER(both("noise=0,client_ns=120000", "noise=0", &batch, &fault, &ended), 0);
    CHECK_NUMBER(ended, 0);
    CHECK_NUMBER(batch.handshakes, 5);
    CHECK_NUMBER(batch.cpu_ns[SPAN_HANDSHAKE][ROLE_CLIENT], 5 * 120000);
    CHECK(batch.has[ROLE_CLIENT] && !batch.has[ROLE_SERVER]);
    CHECK_NUMBER(batch.bytes[ROLE_CLIENT], 5 * 400);
    CHECK_NUMBER(batch.bytes[ROLE_SERVER], 0);
}

static void gives_up(void) {
    struct batch batch;
    struct fault fault = {0};
    int ended;
    CHECK_NUMBER(both("noise=0", "noise=0,fail_after=3", &batch, &fault, &ended), 3);
    CHECK_TEXT(fault.reason, "the peer gave up");
    CHECK_NUMBER(batch.handshakes, 1); /* after the probe and the first of the run */
    CHECK_NUMBER(WEXITSTATUS(ended), 3);
}

/* The length of a message is its sender's to choose. */
static void sends_too_much(void) {
    static unsigned char message[PIPE_BYTES + 5] = {1};
    struct tls_case c = a_case;
    struct negotiated unused;
    struct batch batch;
    struct fault fault = {0};
    int sockets[2];
    c.roles = ROLES_SERVER;
    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets) == 0);
    CHECK(send(sockets[0], message, sizeof message, 0) == (ssize_t)sizeof message);
    close(sockets[0]);
    CHECK_NUMBER(play(c, sockets[1], "noise=0", &unused, &batch, &fault), 2);
    CHECK_TEXT(fault.reason, "the peer sent more than there is room for");
    close(sockets[1]);
}

static void refuses(void) {
    struct batch batch;
    struct fault fault = {0};
    int ended;
    CHECK_NUMBER(both("noise=0", "unsupported=1", &batch, &fault, &ended), 2);
    CHECK(strncmp(fault.reason, "the peer ", 9) == 0); /* gave up, or is gone already */
    CHECK_NUMBER(WEXITSTATUS(ended), 2);
}

static void crashes(void) {
    struct batch batch;
    struct fault fault = {0};
    int ended;
    CHECK_NUMBER(both("noise=0", "crash_after=4", &batch, &fault, &ended), 3);
    CHECK(strncmp(fault.reason, "the peer ", 9) == 0);
    CHECK(WIFSIGNALED(ended));
}

static void proves_a_retry(void) {
    struct negotiated seen;
    struct batch batch;
    struct fault fault = {0};
    int ended;
    CHECK_NUMBER(both_of(retry_case, retry_case, "noise=0", "noise=0", &seen, &batch, &fault, &ended), 0);
    CHECK_NUMBER(seen.hello_retry, 1);
    CHECK_NUMBER(batch.handshakes, 5);
}

static void misses_a_retry(void) {
    struct tls_case plain = retry_case;
    struct negotiated seen;
    struct batch batch;
    struct fault fault = {0};
    int ended;
    plain.hello_retry = false;
    CHECK_NUMBER(both_of(retry_case, plain, "noise=0", "noise=0", &seen, &batch, &fault, &ended), 2);
    CHECK_NUMBER(fault.kind, FAULT_MISMATCH);
    CHECK_TEXT(fault.reason, "hello_retry: wanted 1, the client got 0");
}

int main(void) {
    sentence("each of two processes measures its own side", measures_its_own_side);
    sentence("a side that fails ends the other's batch", gives_up);
    sentence("a message that is longer than there is room for is an error", sends_too_much);
    sentence("a side that refuses the case ends the other's set-up", refuses);
    sentence("a side that crashes ends the other's batch", crashes);
    sentence("a HelloRetryRequest of another process is read off the wire", proves_a_retry);
    sentence("a server of another process that asks for no second hello is a mismatch", misses_a_retry);
    return check_failures != 0;
}
