/* Non-blocking TCP on loopback: connections from source addresses in turn, and bytes between a socket and a
 * side's pipe. */
#ifndef KEXBENCH_LOOPBACK_H
#define KEXBENCH_LOOPBACK_H

#include "pipe.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

enum moved {
    MOVED_SOME,
    MOVED_NOTHING, /* for now */
    MOVED_END,     /* the server sends no more */
    MOVED_FULL,    /* the pipe has no room: its side does not read */
    MOVED_BROKEN   /* reset, or not connected any more */
};

/* False: not an address of 127.0.0.0/8 in its usual form. */
bool loopback_address(const char *text, struct in_addr *out);

/* A socket whose connection is under way, or -1 and errno. The source address depends on `number`. */
int loopback_connect(struct in_addr to, uint16_t port, uint64_t number);
/* How connecting went: 0, or an errno. */
int loopback_connected(int socket);

/* Both add to `bytes` how many went over the socket. */
enum moved loopback_receive(int socket, struct pipe *in, uint64_t *bytes);
enum moved loopback_send(int socket, struct pipe *out, uint64_t *bytes); /* MOVED_NOTHING: some are left */

#endif
