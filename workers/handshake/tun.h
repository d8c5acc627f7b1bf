/* One end of an emulated path: a TUN device in a network namespace of its own, with what TCP needs to know of
 * the path. All of it is gone when its files are closed. */
#ifndef KEXBENCH_TUN_H
#define KEXBENCH_TUN_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

/* The server's address, and the network of clients, of which each connection's client has
 * an address of its own. So no connection learns from what the kernel remembers of an earlier one between the
 * same two addresses (its round-trip time, its slow-start threshold), and a packet tells whose it is. */
struct in_addr tun_server(void);
enum { TUN_SERVER_PORT = 443, TUN_CLIENT_PORT = 40000 };
struct in_addr tun_client(uint16_t connection);
/* False: the address is none of a client. */
bool tun_connection(in_addr_t client, uint16_t *connection);

struct tun {
    int device;  /* non-blocking; a packet at a time */
    int control; /* netlink, in the device's namespace */
};

/* Makes a namespace, which the calling thread is in afterwards, and its device. Returns NULL, or which step
 * was refused; errno says why. */
const char *tun_open(struct tun *tun, bool is_server, unsigned mtu, unsigned initial_window);
/* How many packets the kernel threw away before anybody read them, or -1. */
long tun_overflows(const struct tun *tun);

#endif
