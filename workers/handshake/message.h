/* Messages between two processes, each with an open file or without. */
#ifndef KEXBENCH_MESSAGE_H
#define KEXBENCH_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

/* Over a SOCK_SEQPACKET; `flags` as of sendmsg. `file` -1: without one. False and errno. */
bool message_send(int socket, const void *message, size_t size, int file, int flags);
/* The file that came, or -1, and EMFILE in errno if there was no room for it. False: no message of this size
 * came, and errno, 0 at the end. */
bool message_receive(int socket, void *message, size_t size, int *file, int flags);

#endif
