/* Times follow from sizes and the clock's reading at a packet's entry, so packets leave in the order they
 * came. */
#include "lane.h"

enum { LATE_NS = 50000, LATE_SHARE = 100, STRETCH_PACKETS = 10 };

/* The last step of splitmix64: each bit of the input moves all of the output. */
static uint64_t mix(uint64_t z) {
    z += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

bool lane_loses(const struct lane_plan *plan, uint16_t connection, uint32_t number) {
    uint64_t drawn = mix(mix(plan->seed) ^ ((uint64_t)connection << 32 | number));
    return drawn < plan->loss_ppm * (UINT64_MAX / 1000000);
}

/* How long the link takes to send so many bytes. */
static uint64_t sending_ns(const struct lane_plan *plan, uint64_t bytes) {
    return (uint64_t)((unsigned __int128)bytes * 8 * 1000000000u / plan->rate_bit_s);
}

static bool fits_queue(const struct lane *lane, const struct packet *packet) {
    if (lane->free_ns <= packet->taken_ns)
        return true;
    uint64_t waiting_ns = lane->free_ns - packet->taken_ns;
    return waiting_ns + sending_ns(&lane->plan, packet->length) <=
           sending_ns(&lane->plan, lane->plan.queue_bytes);
}

enum taken lane_take(struct lane *lane, struct packet *packet, uint16_t connection, bool counts,
                     uint64_t now_ns) {
    packet->taken_ns = packet->sent_ns = now_ns;
    packet->counts = counts;
    packet->queued = false;
    packet->next = NULL;
    if (counts) {
        lane->packets++;
        lane->wire_bytes += packet->length;
        if (lane_loses(&lane->plan, connection, lane->numbers[connection]++)) {
            lane->lost++;
            return LANE_LOSES;
        }
        if (lane->plan.rate_bit_s > 0) {
            if (!fits_queue(lane, packet)) {
                lane->dropped++;
                return LANE_DROPS;
            }
            packet->queued = lane->free_ns > now_ns;
            packet->sent_ns =
                (packet->queued ? lane->free_ns : now_ns) + sending_ns(&lane->plan, packet->length);
            lane->free_ns = packet->sent_ns;
        }
    }
    packet->due_ns = packet->sent_ns + lane->plan.delay_ns;
    if (lane->last != NULL && packet->due_ns < lane->last->due_ns)
        packet->due_ns = lane->last->due_ns; /* what counts in nothing overtakes nothing */
    if (lane->first == NULL)
        lane->first = packet;
    else
        lane->last->next = packet;
    lane->last = packet;
    return LANE_CARRIES;
}

uint64_t lane_due_ns(const struct lane *lane) {
    return lane->first == NULL ? UINT64_MAX : lane->first->due_ns;
}

/* Before the next packet that found the link free, and at the end. */
static void end_stretch(struct lane *lane) {
    if (lane->now.packets > lane->longest.packets)
        lane->longest = lane->now;
}

static void note_stretch(struct lane *lane, const struct packet *packet, uint64_t now_ns) {
    if (!packet->queued) {
        lane->now = (struct stretch){.first_ns = now_ns};
        return;
    }
    lane->now.packets++;
    lane->now.bytes += packet->length;
    lane->now.last_ns = now_ns;
    end_stretch(lane);
}

struct packet *lane_carry(struct lane *lane, uint64_t now_ns, uint64_t *delay_ns) {
    struct packet *packet = lane->first;
    lane->first = packet->next;
    if (lane->first == NULL)
        lane->last = NULL;
    *delay_ns = packet->counts && !packet->queued ? now_ns - packet->sent_ns : 0;
    if (!packet->counts)
        return packet;
    lane->late += now_ns > packet->due_ns + LATE_NS + lane->plan.delay_ns / LATE_SHARE;
    if (lane->plan.rate_bit_s > 0)
        note_stretch(lane, packet, now_ns);
    return packet;
}

uint64_t lane_carried_bit_s(const struct lane *lane) {
    const struct stretch *s = &lane->longest;
    if (s->packets < STRETCH_PACKETS || s->last_ns <= s->first_ns)
        return 0;
    return (uint64_t)((unsigned __int128)s->bytes * 8 * 1000000000u / (s->last_ns - s->first_ns));
}
