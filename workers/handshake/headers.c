/* Fields at their places. */
#include "headers.h"

#include "tun.h"

#include <string.h>

enum { IP_LEAST = 20, PROTOCOL = 9, SOURCE = 12, DESTINATION = 16 };
enum { UDP_BYTES = 8, TCP_LEAST = 20, SEQUENCE = 4, OFFSET = 12, FLAGS = 13, FIN_OR_RST = 1 | 4 };

bool headers_read(const struct packet *packet, enum direction direction, struct headers *out) {
    const unsigned char *ip = packet->bytes;
    in_addr_t client;
    if (packet->length < IP_LEAST || ip[0] >> 4 != 4)
        return false;
    size_t header = (size_t)(ip[0] & 15) * 4;
    bool is_tcp = ip[PROTOCOL] == IPPROTO_TCP;
    if ((!is_tcp && ip[PROTOCOL] != IPPROTO_UDP) ||
        packet->length < header + (is_tcp ? TCP_LEAST : UDP_BYTES))
        return false;
    memcpy(&client, ip + (direction == FROM_CLIENT ? SOURCE : DESTINATION), sizeof client);
    const unsigned char *at = ip + header;
    size_t own = is_tcp ? (size_t)(at[OFFSET] >> 4) * 4 : UDP_BYTES;
    if (packet->length < header + own)
        return false;
    *out = (struct headers){.is_tcp = is_tcp,
                            .counts = !is_tcp || (at[FLAGS] & FIN_OR_RST) == 0,
                            .payload = at + own,
                            .payload_bytes = packet->length - header - own};
    if (is_tcp) {
        memcpy(&out->sequence, at + SEQUENCE, sizeof out->sequence);
        out->sequence = ntohl(out->sequence);
    }
    return tun_connection(client, &out->connection);
}
