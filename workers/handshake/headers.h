/* What the headers of a packet on a path tell: IPv4 (RFC 791) with TCP (RFC 9293) or UDP (RFC 768). */
#ifndef KEXBENCH_HEADERS_H
#define KEXBENCH_HEADERS_H

#include "emulator.h"
#include "lane.h"

struct headers {
    uint16_t connection;
    bool is_tcp;
    bool counts;       /* no FIN and no RST */
    uint32_t sequence; /* of the first byte of the payload, of TCP alone */
    const unsigned char *payload;
    size_t payload_bytes;
};

/* False: nothing that a connection sent. */
bool headers_read(const struct packet *packet, enum direction direction, struct headers *out);

#endif
