/* A middlebox on a path that reads the first packet of a ClientHello and takes the rest of it amiss, until
 * the server has answered: it drops what follows, or holds it back. Reported of real ones: D. Benjamin,
 * tldr.fail. */
#ifndef KEXBENCH_MIDDLEBOX_H
#define KEXBENCH_MIDDLEBOX_H

#include "headers.h"

struct middlebox {
    uint64_t delay_ns; /* 0: there is none; PATH_SPLIT_DROPPED: it drops */
    uint64_t packets;  /* that it dropped or held back */
    struct packet *first, *last;
    struct hello {
        bool begun, answered;
        uint32_t first, end; /* of TCP: its first byte's number in sequence, and that behind its last byte */
    } hellos[LANE_CONNECTIONS];
};

enum judged { MIDDLEBOX_PASSES, MIDDLEBOX_HOLDS, MIDDLEBOX_DROPS };

/* All zeros but for the delay. It holds the packet where it says so. */
enum judged middlebox_judge(struct middlebox *box, struct packet *packet, enum direction direction,
                            const struct headers *headers, uint64_t now_ns);
/* When the next packet is let go; UINT64_MAX: there is none. And that packet. */
uint64_t middlebox_due_ns(const struct middlebox *box);
struct packet *middlebox_let_go(struct middlebox *box);

#endif
