/* An emulated path: kernel TCP as it is, between two network namespaces, over a forwarder that delays
 * packets, loses some, and sends no faster than a rate. Nothing outside these namespaces is touched, root is
 * not needed where user namespaces are allowed, and all is gone with the process that opened it, however it
 * ends. */
#ifndef KEXBENCH_EMULATOR_H
#define KEXBENCH_EMULATOR_H

#include "case.h"

#include <stdint.h>
#include <sys/types.h>

/* The forwarder is before whoever uses its path (hurry.h). */
enum { PATH_USER_LEVEL = 1, FORWARDER_LEVEL = 2 };

/* In the order of roles. */
enum direction { FROM_CLIENT, FROM_SERVER, DIRECTIONS };

#define PATH_SPLIT_DROPPED UINT64_MAX

struct path {
    uint64_t round_trip_ns; /* half of it each way */
    uint64_t loss_ppm;      /* of packets, each way */
    uint64_t rate_bit_s;    /* each way; 0: no limit */
    unsigned mtu;
    uint64_t queue_bytes;    /* each way, where there is a rate */
    unsigned initial_window; /* TCP's, in segments */
    uint64_t split_hello_ns; /* middlebox.h; 0: none is on the path */
    uint64_t seed;           /* the same seed loses the same packets of each connection */
};

struct emulator {
    int control;
    pid_t child;
    int server;                     /* listens at tun_server(); of datagrams: is bound */
    const char *congestion_control; /* of TCP at both ends */
};

/* What was carried. FIN and RST are, and count in nothing: a connection ends with its last byte. */
struct emulated {
    uint64_t packets[DIRECTIONS], wire_bytes[DIRECTIONS]; /* of IP, that entered the path */
    uint64_t lost[DIRECTIONS], dropped[DIRECTIONS];       /* by the loss; by the queue */
    uint64_t split;                                       /* by a middlebox dropped or held back */
    uint64_t late;                                        /* more than 50 us and a hundredth of the delay */
    uint64_t delays;                                      /* so many packets found no queue; one way: */
    uint64_t delay_p50_ns, delay_p99_ns, delay_max_ns;
    uint64_t carried_bit_s; /* over the longest stretch with a queue; 0: there was none */
    uint64_t cpu_ns;        /* of the forwarder */
    char fault[128];        /* why the path was none; empty: it was */
};

/* False and a fault that names the step which this machine refused. */
bool emulator_open(struct emulator *emulator, const struct path *path, unsigned connections, bool datagrams,
                   struct fault *fault);
/* The next connection's client's socket, bound to its own address, not connected, non-blocking; the first one
 * is connection 0's. Closing it resets the connection. -1 and errno. */
int emulator_socket(struct emulator *emulator);
/* Packets that are still under way are forgotten. `out` NULL: nobody wants to know. False and a fault: the
 * path was none. */
bool emulator_close(struct emulator *emulator, struct emulated *out, struct fault *fault);

#endif
