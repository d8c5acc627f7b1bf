/* Datagrams between a socket of a path and a side's pipe: UDP, without waiting. */
#ifndef KEXBENCH_DATAGRAM_H
#define KEXBENCH_DATAGRAM_H

#include "loopback.h"

/* The largest that a path's MTU leaves room for, and more. */
enum { DATAGRAM_MOST = 9000 };

/* One datagram. `from` NULL: the socket is connected. MOVED_NOTHING: there is none. */
enum moved datagram_receive(int socket, unsigned char out[DATAGRAM_MOST], uint16_t *length,
                            struct sockaddr_in *from);
/* All that lie in the pipe. `to` NULL: the socket is connected. MOVED_NOTHING: some are left. */
enum moved datagram_send(int socket, struct pipe *out, const struct sockaddr_in *to);

#endif
