/* Sockets at the ends of a path. */
#ifndef KEXBENCH_PATH_SOCKET_H
#define KEXBENCH_PATH_SOCKET_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

/* In the namespace where the caller is: bound, not connected, non-blocking. On a server's all options are
 * handed on to each connection. A close resets a connection of TCP, so that neither side waits for the end of
 * a path that is no more. -1 and errno. */
int path_socket(bool datagrams, struct in_addr address, uint16_t port);

#endif
