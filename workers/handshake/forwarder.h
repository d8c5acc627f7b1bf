/* The process that is an emulated path: it makes both ends in network namespaces of its own, hands out
 * sockets that live in them, and carries packets from one to the other. It has nothing but its half of a
 * socket to the process that wants the path, and ends when that half does. */
#ifndef KEXBENCH_FORWARDER_H
#define KEXBENCH_FORWARDER_H

#include "emulator.h"

/* On the socket come in this order: one struct forwarder_ready with the server's socket, so many client's
 * sockets one by one, and once the other half says no more, a struct emulated. */
struct forwarder_ready {
    char step[64]; /* that was refused, for this reason; empty: none was */
    int error;
};

/* Of the process that fork made: does not return. */
_Noreturn void forwarder_run(int control, const struct path *path, unsigned connections, bool datagrams);

#endif
