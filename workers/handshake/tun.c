/* Devices and routes by netlink: RFC 3549, linux/rtnetlink.h. */
#include "tun.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/if_tun.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* Private addresses (RFC 1918): nothing else is in these namespaces. */
#define CLIENTS 0x0A400000u /* 10.64.0.0/16 */
#define SERVER 0x0A410001u  /* 10.65.0.1 */
enum { CLIENTS_BITS = 16, ADDRESS_BITS = 32 };
/* Packets that wait for their reader: as many as thousands of connections send at once. */
enum { QUEUE_PACKETS = 16384 };
enum { IPV6_LEAST_MTU = 1280 }; /* a device with less has no IPv6 (RFC 8200, section 5) */

struct in_addr tun_server(void) {
    return (struct in_addr){htonl(SERVER)};
}

struct in_addr tun_client(uint16_t connection) {
    return (struct in_addr){htonl(CLIENTS | connection)};
}

bool tun_connection(in_addr_t client, uint16_t *connection) {
    *connection = (uint16_t)ntohl(client);
    return ntohl(client) - *connection == CLIENTS;
}

/* --- Netlink. --- */

struct message {
    struct nlmsghdr header;
    union {
        struct ifinfomsg link;
        struct rtmsg route;
    } body;
    unsigned char attributes[128];
};

static struct message message_of(uint16_t type, uint16_t flags, size_t body_bytes) {
    struct message m = {.header = {.nlmsg_len = (uint32_t)NLMSG_LENGTH(body_bytes),
                                   .nlmsg_type = type,
                                   .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags)}};
    return m;
}

/* Returns where the attribute begins, for nesting. */
static struct rtattr *attribute(struct message *m, unsigned short type, const void *data, size_t bytes) {
    struct rtattr *at = (struct rtattr *)((unsigned char *)m + NLMSG_ALIGN(m->header.nlmsg_len));
    at->rta_type = type;
    at->rta_len = (unsigned short)RTA_LENGTH(bytes);
    if (bytes > 0)
        memcpy(RTA_DATA(at), data, bytes);
    m->header.nlmsg_len = NLMSG_ALIGN(m->header.nlmsg_len) + (uint32_t)RTA_ALIGN(at->rta_len);
    return at;
}

static void end_nest(struct message *m, struct rtattr *nest) {
    nest->rta_len = (unsigned short)((unsigned char *)m + m->header.nlmsg_len - (unsigned char *)nest);
}

/* Sends, and takes in the kernel's answer, which it gives before send returns. */
static bool ask(int control, const struct message *m, void *answer, size_t size) {
    ssize_t length = send(control, m, m->header.nlmsg_len, 0);
    if (length < 0 || (length = recv(control, answer, size, 0)) < 0)
        return false;
    const struct nlmsghdr *got = answer;
    if (!NLMSG_OK(got, (size_t)length)) {
        errno = EPROTO;
        return false;
    }
    if (got->nlmsg_type != NLMSG_ERROR)
        return true;
    errno = -((const struct nlmsgerr *)NLMSG_DATA(got))->error;
    return errno == 0;
}

static bool command(int control, const struct message *m) {
    unsigned char answer[1024];
    return ask(control, m, answer, sizeof answer);
}

static bool raise_link(int control, int index, uint32_t mtu) {
    struct message m = message_of(RTM_NEWLINK, NLM_F_ACK, sizeof m.body.link);
    uint32_t queue = QUEUE_PACKETS;
    uint8_t no_address = IN6_ADDR_GEN_MODE_NONE; /* nor what a host with an address sends unasked */
    bool has_six = mtu >= IPV6_LEAST_MTU && access("/proc/net/if_inet6", F_OK) == 0;
    m.body.link = (struct ifinfomsg){.ifi_index = index, .ifi_flags = IFF_UP, .ifi_change = IFF_UP};
    attribute(&m, IFLA_MTU, &mtu, sizeof mtu);
    attribute(&m, IFLA_TXQLEN, &queue, sizeof queue);
    if (has_six) {
        struct rtattr *families = attribute(&m, IFLA_AF_SPEC, NULL, 0),
                      *six = attribute(&m, AF_INET6, NULL, 0);
        attribute(&m, IFLA_INET6_ADDR_GEN_MODE, &no_address, sizeof no_address);
        end_nest(&m, six);
        end_nest(&m, families);
    }
    return command(control, &m);
}

/* What is ours is local, so that sockets may have it and packets to it are taken in. */
static bool add_route(int control, int index, uint32_t address, uint8_t bits, bool is_ours, uint32_t window) {
    struct message m = message_of(RTM_NEWROUTE, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, sizeof m.body.route);
    uint32_t to = htonl(address);
    m.body.route = (struct rtmsg){.rtm_family = AF_INET,
                                  .rtm_dst_len = bits,
                                  .rtm_table = is_ours ? RT_TABLE_LOCAL : RT_TABLE_MAIN,
                                  .rtm_protocol = RTPROT_STATIC,
                                  .rtm_scope = is_ours ? RT_SCOPE_HOST : RT_SCOPE_LINK,
                                  .rtm_type = is_ours ? RTN_LOCAL : RTN_UNICAST};
    attribute(&m, RTA_DST, &to, sizeof to);
    attribute(&m, RTA_OIF, &index, sizeof index);
    if (!is_ours) {
        struct rtattr *metrics = attribute(&m, RTA_METRICS, NULL, 0);
        attribute(&m, RTAX_INITCWND, &window, sizeof window);
        end_nest(&m, metrics);
    }
    return command(control, &m);
}

/* --- The whole. --- */

/* Where this process may not make one, it may inside a user namespace, if the machine lets it have that. */
static bool new_namespace(void) {
    return unshare(CLONE_NEWNET) == 0 || (errno == EPERM && unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0);
}

const char *tun_open(struct tun *tun, bool is_server, unsigned mtu, unsigned initial_window) {
    struct ifreq device = {.ifr_name = "path", .ifr_flags = IFF_TUN | IFF_NO_PI};
    if (!new_namespace())
        return "making a network namespace";
    tun->device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (tun->device < 0)
        return "opening /dev/net/tun";
    if (ioctl(tun->device, TUNSETIFF, &device) != 0)
        return "making a TUN device";
    tun->control = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (tun->control < 0)
        return "opening netlink";
    int index = (int)if_nametoindex("path");
    if (!raise_link(tun->control, index, mtu))
        return "starting a TUN device";
    if (!add_route(tun->control, index, is_server ? SERVER : CLIENTS, is_server ? ADDRESS_BITS : CLIENTS_BITS,
                   true, 0) ||
        !add_route(tun->control, index, is_server ? CLIENTS : SERVER, is_server ? CLIENTS_BITS : ADDRESS_BITS,
                   false, initial_window))
        return "making a route";
    return NULL;
}

long tun_overflows(const struct tun *tun) {
    union {
        struct nlmsghdr header;
        unsigned char bytes[8192];
    } answer;
    struct message m = message_of(RTM_GETLINK, 0, sizeof m.body.link);
    attribute(&m, IFLA_IFNAME, "path", sizeof "path");
    if (!ask(tun->control, &m, &answer, sizeof answer) || answer.header.nlmsg_type != RTM_NEWLINK)
        return -1;
    size_t at = NLMSG_LENGTH(sizeof m.body.link), end = answer.header.nlmsg_len;
    while (at + sizeof(struct rtattr) <= end) {
        const struct rtattr *found = (const struct rtattr *)(const void *)(answer.bytes + at);
        uint64_t dropped;
        size_t where = offsetof(struct rtnl_link_stats64, tx_dropped);
        if (found->rta_len < sizeof *found || found->rta_len > end - at)
            return -1;
        if (found->rta_type == IFLA_STATS64 && RTA_PAYLOAD(found) >= where + sizeof dropped) {
            memcpy(&dropped, (const unsigned char *)RTA_DATA(found) + where, sizeof dropped);
            return (long)dropped;
        }
        at += RTA_ALIGN(found->rta_len);
    }
    return -1;
}
