/* One direction of an emulated path, without any clock or device of its own: which packets it loses, which
 * its queue drops, when the others are due, and how well it kept to that. */
#ifndef KEXBENCH_LANE_H
#define KEXBENCH_LANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A connection has a number of its own: the path's addresses are made of it (tun.h). */
enum { LANE_CONNECTIONS = 65536 };

struct packet {
    struct packet *next;
    uint64_t taken_ns, due_ns, sent_ns; /* entered the path; shall leave it; left its queue's link */
    bool counts, queued;                /* queued: found others before it */
    uint16_t length;
    unsigned char bytes[];
};

struct lane_plan {
    uint64_t delay_ns;
    uint64_t loss_ppm;
    uint64_t rate_bit_s;  /* 0: no limit, and no queue */
    uint64_t queue_bytes; /* that wait or are being sent; more are dropped */
    uint64_t seed;        /* of the losses in this direction */
};

/* A stretch of time in which the queue was never empty. */
struct stretch {
    uint64_t packets, bytes; /* without the first packet's */
    uint64_t first_ns, last_ns;
};

struct lane {
    struct lane_plan plan;
    uint64_t packets, wire_bytes; /* that entered the path */
    uint64_t lost, dropped;       /* of these: by the loss, by the queue */
    uint64_t late;                /* of those carried: more than 50 us and a hundredth of the delay */
    uint64_t free_ns;             /* when the link has sent what it holds */
    struct packet *first, *last;
    struct stretch now, longest;
    uint32_t numbers[LANE_CONNECTIONS]; /* of each connection's next packet */
};

enum taken { LANE_CARRIES, LANE_LOSES, LANE_DROPS };

/* `lane` is all zeros but for its plan. The packet's number within its connection decides whether it is lost,
 * so each connection loses the same packets whatever the others do. `counts` false: it is carried, and counts
 * in nothing. The lane holds the packet if it carries it. */
enum taken lane_take(struct lane *lane, struct packet *packet, uint16_t connection, bool counts,
                     uint64_t now_ns);
/* When the next packet shall leave; UINT64_MAX: there is none. */
uint64_t lane_due_ns(const struct lane *lane);
/* Removes that packet, which leaves now. `delay_ns` is how long it was under way less its time on the link; 0
 * of one that was queued or counts in nothing. */
struct packet *lane_carry(struct lane *lane, uint64_t now_ns, uint64_t *delay_ns);
/* Bits a second over the longest stretch; 0: none was of ten packets. */
uint64_t lane_carried_bit_s(const struct lane *lane);

/* Is the packet of a connection with this number lost? */
bool lane_loses(const struct lane_plan *plan, uint16_t connection, uint32_t number);

#endif
