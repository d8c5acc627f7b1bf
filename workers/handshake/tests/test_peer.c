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
                                       .threads = 1};

/* One role's whole life. 0: all went well; else at which stage it ended. */
static int play(enum roles roles, int peer, const char *settings, struct batch *batch, struct fault *fault) {
    struct prepared prepared;
    struct negotiated seen;
    struct limits limits = {5, 0, 5, true};
    struct tls_case c = a_case;
    c.roles = roles;
    if (!backend.start(settings, fault))
        return 1;
    if (!prepare(&prepared, &backend, &c, ".", peer, &seen, fault))
        return 2;
    bool good = measure(&prepared, &limits, batch, fault);
    release(&prepared);
    return good ? 0 : 3;
}

/* The server lives in a child; returns how it ended. */
static int both(const char *client, const char *server, struct batch *batch, struct fault *fault,
                int *ended) {
    int sockets[2];
    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets) == 0);
    pid_t child = fork();
    if (child == 0) {
        struct batch unused;
        struct fault its_own;
        close(sockets[0]);
        _exit(play(ROLES_SERVER, sockets[1], server, &unused, &its_own));
    }
    close(sockets[1]);
    int stage = play(ROLES_CLIENT, sockets[0], client, batch, fault);
    close(sockets[0]);
    CHECK(waitpid(child, ended, 0) == child);
    return stage;
}

static void measures_its_own_side(void) {
    struct batch batch;
    struct fault fault;
    int ended;
    CHECK_NUMBER(both("noise=0,client_ns=120000", "noise=0", &batch, &fault, &ended), 0);
    CHECK_NUMBER(ended, 0);
    CHECK_NUMBER(batch.handshakes, 5);
    CHECK_NUMBER(batch.cpu_ns[ROLE_CLIENT], 5 * 120000);
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

int main(void) {
    sentence("each of two processes measures its own side", measures_its_own_side);
    sentence("a side that fails ends the other's batch", gives_up);
    sentence("a side that refuses the case ends the other's set-up", refuses);
    sentence("a side that crashes ends the other's batch", crashes);
    return check_failures != 0;
}
