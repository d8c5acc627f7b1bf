/* Whatever a peer sends, this side ends: with a handshake that was proven, or with a fault. The first byte is
 * the role, then messages follow, each with its length before it in two bytes. */
#include "peer.h"

#include "fuzz.h"

#include <sys/socket.h>

enum { SENT_MAX = 200 * 1024 };

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

/* A length of 65,535 stands for the longest message, which no pipe has room for. */
static void send_all(int to, const uint8_t *data, size_t size) {
    static uint8_t message[SENT_MAX];
    int room = 4 * SENT_MAX;
    setsockopt(to, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    while (size >= 2) {
        size_t length = (size_t)(data[0] << 8 | data[1]);
        data += 2, size -= 2;
        size_t given = length < size ? length : size;
        memset(message, 0, length == 0xFFFF ? SENT_MAX : given);
        memcpy(message, data, given);
        if (send(to, message, length == 0xFFFF ? SENT_MAX : given, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
            break;
        data += given, size -= given;
    }
    shutdown(to, SHUT_WR);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct prepared prepared;
    struct limits limits = {2, 0, 2, true};
    struct tls_case c = a_case;
    struct negotiated seen;
    struct batch batch;
    struct fault fault = {0};
    int sockets[2];
    if (size == 0)
        return 0;
    c.roles = data[0] % 2 == 0 ? ROLES_CLIENT : ROLES_SERVER;
    demand(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets) == 0);
    demand(linked_backend.start("noise=0", &fault));
    send_all(sockets[1], data + 1, size - 1);
    if (prepare(&prepared, &linked_backend, &c, ".", sockets[0], &seen, &fault)) {
        if (measure(&prepared, &limits, &batch, &fault))
            demand(batch.handshakes == 2);
        else
            demand(fault.reason[0] != '\0' && batch.handshakes < 2);
        release(&prepared);
    } else {
        demand(fault.reason[0] != '\0');
    }
    close(sockets[0]);
    close(sockets[1]);
    return 0;
}
