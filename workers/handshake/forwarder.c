/* One thread does all of it, so that packets leave in the order in which they came. It sleeps until a packet
 * comes or one is due. */
#include "forwarder.h"

#include "awake.h"
#include "clock.h"
#include "hurry.h"
#include "latency.h"
#include "message.h"
#include "middlebox.h"
#include "path_socket.h"
#include "tun.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { FILES = 1024, LISTEN_QUEUE = 4096, BATCH = 16 };
static const size_t ARENA_BYTES = 256u << 20; /* memory for packets under way; what is used of it is taken */
enum { DELAYS_MOST = 1 << 21 };               /* so many delays are kept, each exactly */
static const uint64_t WAKE_NS = 60000; /* what waking up usually takes, in a virtual machine above all */
static const uint64_t WAKE_SHARE = 500;
static const uint64_t BUSY_NS = 100000; /* no work but packets is begun so shortly before one is due */

struct forwarder {
    int control;
    bool datagrams;
    unsigned made, connections;  /* clients' sockets */
    struct tun ends[DIRECTIONS]; /* by the direction that begins there */
    struct middlebox middlebox;
    struct lane lanes[DIRECTIONS];
    unsigned char *arena;
    size_t used, packet_bytes, mtu;
    struct packet *spare;
    uint64_t *delays, delay_count;
    const char *fault;
    int error;
};

static struct forwarder forwarder; /* lanes are large */

static uint64_t now_ns(void) {
    return real_clock.wall_ns();
}

/* --- Packets. --- */

static struct packet *new_packet(struct forwarder *f) {
    struct packet *packet = f->spare;
    if (packet != NULL) {
        f->spare = packet->next;
        return packet;
    }
    if (ARENA_BYTES - f->used < f->packet_bytes)
        return NULL;
    packet = (struct packet *)(void *)(f->arena + f->used);
    f->used += f->packet_bytes;
    return packet;
}

static void free_packet(struct forwarder *f, struct packet *packet) {
    packet->next = f->spare; /* the last one used is the first one used again: it is in the cache */
    f->spare = packet;
}

static void fail(struct forwarder *f, const char *what, int error) {
    if (f->fault == NULL) {
        f->fault = what;
        f->error = error;
    }
}

/* Returns whether the lane holds the packet. */
static bool enter(struct forwarder *f, enum direction direction, struct packet *packet,
                  const struct headers *headers, uint64_t now) {
    return lane_take(&f->lanes[direction], packet, headers->connection, headers->counts, now) == LANE_CARRIES;
}

/* The same, or the middlebox holds it. */
static bool is_kept(struct forwarder *f, enum direction direction, struct packet *packet) {
    struct headers headers;
    enum judged judged = MIDDLEBOX_PASSES;
    if (!headers_read(packet, direction, &headers))
        return false;
    uint64_t now = now_ns();
    if (f->middlebox.delay_ns > 0)
        judged = middlebox_judge(&f->middlebox, packet, direction, &headers, now);
    return judged == MIDDLEBOX_HOLDS ||
           (judged == MIDDLEBOX_PASSES && enter(f, direction, packet, &headers, now));
}

/* Returns whether there was a packet. */
static bool take(struct forwarder *f, enum direction direction) {
    struct packet *packet = new_packet(f);
    if (packet == NULL) {
        fail(f, "memory for packets under way", ENOMEM);
        return false;
    }
    ssize_t length = read(f->ends[direction].device, packet->bytes, f->mtu);
    packet->length = (uint16_t)(length > 0 ? length : 0);
    if (length < 0 && errno != EAGAIN && errno != EINTR)
        fail(f, "taking a packet", errno);
    if (length <= 0 || !is_kept(f, direction, packet))
        free_packet(f, packet);
    return length > 0;
}

static void let_go(struct forwarder *f, uint64_t now) {
    struct packet *packet = middlebox_let_go(&f->middlebox);
    struct headers headers;
    if (!headers_read(packet, FROM_CLIENT, &headers) || !enter(f, FROM_CLIENT, packet, &headers, now))
        free_packet(f, packet);
}

static void carry(struct forwarder *f, enum direction direction, uint64_t now) {
    uint64_t delay;
    struct packet *packet = lane_carry(&f->lanes[direction], now, &delay);
    if (packet->counts && !packet->queued && f->delay_count < DELAYS_MOST)
        f->delays[f->delay_count++] = delay;
    if (write(f->ends[1 - direction].device, packet->bytes, packet->length) != packet->length)
        fail(f, "giving a packet", errno);
    free_packet(f, packet);
}

static uint64_t least(uint64_t one, uint64_t other) {
    return one < other ? one : other;
}

static uint64_t next_due_ns(const struct forwarder *f) {
    return least(middlebox_due_ns(&f->middlebox),
                 least(lane_due_ns(&f->lanes[FROM_CLIENT]), lane_due_ns(&f->lanes[FROM_SERVER])));
}

static void carry_due(struct forwarder *f) {
    for (uint64_t now = now_ns(), due; (due = next_due_ns(f)) <= now; now = now_ns()) {
        if (middlebox_due_ns(&f->middlebox) == due)
            let_go(f, now);
        else
            carry(f, lane_due_ns(&f->lanes[FROM_CLIENT]) == due ? FROM_CLIENT : FROM_SERVER, now);
    }
}

/* --- Sockets. --- */

/* As many as the socket has room for lie ready. Returns whether there was room for one more. */
static bool make_client(struct forwarder *f) {
    int file = path_socket(f->datagrams, tun_client((uint16_t)f->made), TUN_CLIENT_PORT);
    char message = 0;
    if (file < 0) {
        fail(f, "making a client's socket", errno);
        return false;
    }
    bool sent = message_send(f->control, &message, sizeof message, file, MSG_DONTWAIT);
    if (!sent && errno != EAGAIN && errno != ETOOMANYREFS)
        fail(f, "handing over a client's socket", errno);
    close(file);
    f->made += sent;
    return sent;
}

/* --- The beginning and the end. --- */

static void close_others(int control) {
    for (int file = 0; file < FILES; file++) {
        if (file != control && file != STDERR_FILENO)
            close(file);
    }
}

static const char *open_ends(struct forwarder *f, const struct path *path, int *server) {
    struct tun *ends = f->ends;
    const char *refused = tun_open(&ends[FROM_SERVER], true, path->mtu, path->initial_window);
    if (refused != NULL)
        return refused;
    *server = path_socket(f->datagrams, tun_server(), TUN_SERVER_PORT);
    if (*server < 0 || (!f->datagrams && listen(*server, LISTEN_QUEUE) != 0))
        return "making the server's socket";
    return tun_open(&ends[FROM_CLIENT], false, path->mtu, path->initial_window);
}

static void *map(size_t bytes) {
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static bool prepare_lanes(struct forwarder *f, const struct path *path) {
    for (enum direction d = FROM_CLIENT; d < DIRECTIONS; d++)
        f->lanes[d].plan = (struct lane_plan){.delay_ns = (path->round_trip_ns + d) / 2,
                                              .loss_ppm = path->loss_ppm,
                                              .rate_bit_s = path->rate_bit_s,
                                              .queue_bytes = path->queue_bytes,
                                              .seed = path->seed * DIRECTIONS + d};
    f->middlebox.delay_ns = path->split_hello_ns;
    f->mtu = path->mtu;
    f->packet_bytes = (sizeof(struct packet) + path->mtu + 63) / 64 * 64;
    f->arena = map(ARENA_BYTES);
    f->delays = map(DELAYS_MOST * sizeof *f->delays);
    return f->arena != NULL && f->delays != NULL;
}

static void report(struct forwarder *f) {
    struct emulated out = {.delays = f->delay_count, .split = f->middlebox.packets};
    for (enum direction d = FROM_CLIENT; d < DIRECTIONS; d++) {
        const struct lane *lane = &f->lanes[d];
        uint64_t carried = lane_carried_bit_s(lane);
        out.packets[d] = lane->packets;
        out.wire_bytes[d] = lane->wire_bytes;
        out.lost[d] = lane->lost;
        out.dropped[d] = lane->dropped;
        out.late += lane->late;
        out.carried_bit_s = carried > out.carried_bit_s ? carried : out.carried_bit_s;
        long thrown_away = tun_overflows(&f->ends[d]);
        if (thrown_away != 0)
            fail(f, "packets that the kernel threw away", thrown_away > 0 ? ENOBUFS : EPROTO);
    }
    out.cpu_ns = real_clock.process_cpu_ns();
    if (f->delay_count > 0) {
        struct latency delays = latency_of(f->delays, f->delay_count);
        out.delay_p50_ns = delays.p50_ns;
        out.delay_p99_ns = delays.p99_ns;
        out.delay_max_ns = delays.max_ns;
    }
    if (f->fault != NULL)
        snprintf(out.fault, sizeof out.fault, "the path broke: %s: %s", f->fault, strerror(f->error));
    message_send(f->control, &out, sizeof out, -1, 0);
}

/* --- The loop. --- */

/* Waking up may take a five-hundredth of a delay: what it takes more is not slept through. */
static uint64_t sleep_ns(const struct forwarder *f, uint64_t due_ns) {
    uint64_t share_ns = f->lanes[FROM_CLIENT].plan.delay_ns / WAKE_SHARE, now = now_ns();
    uint64_t early_ns = WAKE_NS > share_ns ? WAKE_NS - share_ns : 0;
    return due_ns > now + early_ns ? due_ns - now - early_ns : 0;
}

static void wait_for_work(const struct forwarder *f, bool *ends) {
    uint64_t due = next_due_ns(f), left = sleep_ns(f, due);
    struct timespec until = {(time_t)(left / 1000000000u), (long)(left % 1000000000u)};
    bool makes = f->made < f->connections && f->fault == NULL;
    struct pollfd files[] = {{.fd = f->control, .events = (short)(POLLIN | (makes ? POLLOUT : 0))},
                             {.fd = f->ends[FROM_CLIENT].device, .events = POLLIN},
                             {.fd = f->ends[FROM_SERVER].device, .events = POLLIN}};
    ppoll(files, sizeof files / sizeof files[0], due == UINT64_MAX ? NULL : &until, NULL);
    *ends = (files[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0;
}

static void forward(struct forwarder *f) {
    for (bool ends = false; !ends;) {
        bool busy = false;
        for (int i = 0; i < BATCH; i++) {
            carry_due(f);
            bool from_client = take(f, FROM_CLIENT), from_server = take(f, FROM_SERVER);
            if (!from_client && !from_server)
                break;
            busy = true;
        }
        if (busy)
            continue;
        bool free = f->made < f->connections && f->fault == NULL && next_due_ns(f) > now_ns() + BUSY_NS;
        if (!free || !make_client(f))
            wait_for_work(f, &ends);
    }
}

_Noreturn void forwarder_run(int control, const struct path *path, unsigned connections, bool datagrams) {
    struct forwarder *f = &forwarder;
    struct forwarder_ready ready = {0};
    int server = -1;
    *f = (struct forwarder){.control = control, .connections = connections, .datagrams = datagrams};
    close_others(control);
    prctl(PR_SET_TIMERSLACK, 1);
    hurry(FORWARDER_LEVEL); /* may need what a user namespace takes away */
    const char *refused = open_ends(f, path, &server);
    if (refused == NULL && !prepare_lanes(f, path))
        refused = "memory for packets";
    if (refused != NULL) {
        snprintf(ready.step, sizeof ready.step, "%s", refused);
        ready.error = errno;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a change of namespaces forgets it */
    if (message_send(control, &ready, sizeof ready, server, 0) && refused == NULL) {
        close(server);
        awake_keep(); /* not before: only a process of one thread may make a user namespace */
        forward(f);
        report(f);
    }
    _exit(0);
}
