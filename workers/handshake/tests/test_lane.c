/* A direction of a path in made-up time: what it loses, drops and delays is arithmetic. */
#include "lane.h"

#include "check.h"

#include <stdlib.h>

static struct lane lane;
static uint64_t delay;

static void begin(struct lane_plan plan) {
    memset(&lane, 0, sizeof lane);
    lane.plan = plan;
}

static enum taken take(uint64_t now_ns, uint16_t length) {
    struct packet *packet = calloc(1, sizeof *packet + length);
    packet->length = length;
    enum taken taken = lane_take(&lane, packet, 0, true, now_ns);
    if (taken != LANE_CARRIES)
        free(packet);
    return taken;
}

static void carry(uint64_t now_ns) {
    free(lane_carry(&lane, now_ns, &delay));
}

static void delays(void) {
    begin((struct lane_plan){.delay_ns = 5000000});
    CHECK(lane_due_ns(&lane) == UINT64_MAX);
    take(100, 60);
    take(300, 1500);
    CHECK_NUMBER(lane_due_ns(&lane), 5000100);
    carry(5000100);
    CHECK_NUMBER(delay, 5000000);
    CHECK_NUMBER(lane_due_ns(&lane), 5000300);
    carry(5100300);
    CHECK_NUMBER(delay, 5100000);
    CHECK_NUMBER(lane.late, 0); /* 50 us and a hundredth of 5 ms are 100 us */
    take(0, 60);
    carry(5100001);
    CHECK_NUMBER(lane.late, 1);
    CHECK(lane.packets == 3 && lane.wire_bytes == 1620 && lane_due_ns(&lane) == UINT64_MAX);
}

/* 1500 bytes are 12 ms at 1 Mbit/s. */
static void queues(void) {
    begin((struct lane_plan){.delay_ns = 1000000, .rate_bit_s = 1000000, .queue_bytes = 3000});
    CHECK(take(0, 1500) == LANE_CARRIES && take(0, 1500) == LANE_CARRIES);
    CHECK(take(0, 40) == LANE_DROPS);        /* 3000 bytes wait or are being sent */
    CHECK(take(320000, 40) == LANE_CARRIES); /* 40 of these went meanwhile */
    CHECK(take(320000, 1) == LANE_DROPS);
    CHECK_NUMBER(lane.dropped, 2);
    CHECK_NUMBER(lane_due_ns(&lane), 13000000);
    carry(13000000);
    CHECK_NUMBER(delay, 1000000); /* without its time on the link */
    CHECK_NUMBER(lane_due_ns(&lane), 25000000);
    carry(25000000);
    CHECK_NUMBER(delay, 0); /* it found another before it */
    CHECK_NUMBER(lane_due_ns(&lane), 25320000);
    carry(25320000);
    CHECK(take(24320000, 1500) == LANE_CARRIES); /* the link is free at this very moment */
    carry(37320000);
    CHECK_NUMBER(delay, 1000000);
    CHECK(lane_carried_bit_s(&lane) == 0 && lane.late == 0);
}

static void rates(void) {
    begin((struct lane_plan){.rate_bit_s = 8000000, .queue_bytes = 1000000});
    for (int i = 0; i < 20; i++)
        take(0, 1000);
    for (uint64_t i = 1; i <= 20; i++)
        carry(i * 1000000);
    CHECK_NUMBER(lane_carried_bit_s(&lane), 8000000);
    for (int i = 0; i < 5; i++) /* a shorter stretch, however fast, is none */
        take(50000000, 1000);
    for (uint64_t i = 1; i <= 5; i++)
        carry(50000000 + i);
    CHECK_NUMBER(lane_carried_bit_s(&lane), 8000000);
}

static void order(void) {
    begin((struct lane_plan){.rate_bit_s = 1000000, .queue_bytes = 100000});
    struct packet *reset = calloc(1, sizeof *reset + 40);
    reset->length = 40;
    take(0, 1500);
    CHECK(lane_take(&lane, reset, 0, false, 1) == LANE_CARRIES);
    CHECK_NUMBER(lane.packets, 1);
    carry(12000000);
    CHECK_NUMBER(lane_due_ns(&lane), 12000000);
    CHECK(lane_carry(&lane, 99000000, &delay) == reset && delay == 0 && lane.late == 0);
    free(reset);
}

static uint64_t lost_of(const struct lane_plan *plan, uint16_t connections, uint32_t packets) {
    uint64_t lost = 0;
    for (uint16_t c = 0; c < connections; c++) {
        for (uint32_t i = 0; i < packets; i++)
            lost += lane_loses(plan, c, i);
    }
    return lost;
}

/* Of 1,000,000 packets: two-sided 99.9% intervals of the binomial distribution. The seeds are fixed, so this
 * holds or does not, for good. */
static void loses(void) {
    static const struct {
        uint64_t ppm, least, most;
    } rows[] = {{0, 0, 0},
                {1000, 898, 1106},
                {10000, 9674, 10329},
                {50000, 49284, 50719},
                {1000000, 1000000, 1000000}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (uint64_t seed = 0; seed < 4; seed++) {
            struct lane_plan plan = {.loss_ppm = rows[i].ppm, .seed = seed};
            uint64_t many = lost_of(&plan, 1000, 1000), few = lost_of(&plan, 50000, 20);
            CHECK(many >= rows[i].least && many <= rows[i].most);
            CHECK(few >= rows[i].least && few <= rows[i].most);
        }
    }
}

/* Whatever the others send, and in whatever order. */
static void each_loses_its_own(void) {
    struct lane_plan plan = {.loss_ppm = 100000, .seed = 7};
    begin(plan);
    uint32_t sent[3] = {0};
    for (int i = 0; i < 3000; i++) {
        uint16_t connection = (uint16_t)(i * i % 7 % 3);
        struct packet *packet = calloc(1, sizeof *packet + 1);
        packet->length = 1;
        bool lost = lane_take(&lane, packet, connection, true, 0) == LANE_LOSES;
        CHECK(lost == lane_loses(&plan, connection, sent[connection]++));
        if (lost)
            free(packet);
    }
    CHECK(lane.lost > 200 && lane.lost < 400);
    while (lane_due_ns(&lane) != UINT64_MAX)
        carry(0);
    struct lane_plan other = {.loss_ppm = 100000, .seed = 8};
    int differ = 0;
    for (uint32_t i = 0; i < 1000; i++)
        differ += lane_loses(&plan, 0, i) != lane_loses(&other, 0, i);
    CHECK(differ > 100);
}

int main(void) {
    sentence("each packet leaves after the delay, and a late one is counted", delays);
    sentence("a queue holds so many bytes, and is emptied at the rate", queues);
    sentence("the rate is that of the longest stretch with a queue", rates);
    sentence("what counts in nothing overtakes nothing", order);
    sentence("as many packets are lost as the loss says", loses);
    sentence("each connection loses its own packets, by the seed", each_loses_its_own);
    return check_failures != 0;
}
