/* One side of a handshake whose other side is another process. */
#include "peer.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* Before what a turn sent: to which handshake it belongs. A server may send tickets when its client is done
 * already; they would be taken for the next handshake's first message. */
struct header {
    uint32_t handshake;
};

bool peer_gives_up(int peer) {
    (void)!send(peer, "", 0, MSG_NOSIGNAL); /* a peer that is gone needs no telling */
    return false;
}

static bool deliver(struct prepared *p, struct pipe *out, struct fault *fault) {
    size_t length = pipe_pending(out);
    if (length == 0)
        return true;
    struct header header = {p->peer_handshakes};
    struct iovec parts[] = {{&header, sizeof header}, {out->bytes + out->start, length}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    ssize_t sent;
    do {
        sent = sendmsg(p->peer, &message, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    out->start = out->end = 0;
    return sent == (ssize_t)(sizeof header + length) ||
           fault_set(fault, FAULT_PEER, "the peer is gone: %s", strerror(errno));
}

/* The next message of this handshake; what is left of earlier ones is dropped. */
static bool await(struct prepared *p, struct pipe *in, struct fault *fault) {
    struct header header = {0};
    struct msghdr message;
    ssize_t got;
    do {
        struct iovec parts[] = {{&header, sizeof header}, {in->bytes + in->end, PIPE_BYTES - in->end}};
        message = (struct msghdr){.msg_iov = parts, .msg_iovlen = 2};
        got = recvmsg(p->peer, &message, 0);
    } while ((got < 0 && errno == EINTR) || (got > 0 && header.handshake < p->peer_handshakes));
    if (got <= 0)
        return fault_set(fault, FAULT_PEER, got == 0 ? "the peer gave up" : "the peer is gone");
    if (got < (ssize_t)sizeof header || header.handshake != p->peer_handshakes)
        return fault_set(fault, FAULT_PEER, "the peer is at another handshake");
    if (message.msg_flags & MSG_TRUNC)
        return fault_set(fault, FAULT_ERROR, "the peer sent more than there is room for");
    if (in->wire != NULL)
        wire_feed(in->wire, in->bytes + in->end, (size_t)got - sizeof header);
    in->end += (size_t)got - sizeof header;
    in->written += (size_t)got - sizeof header;
    return true;
}

/* This role's turns, each between two readings of the CPU clock; what it sends leaves outside of them. */
static bool take_turns(struct prepared *p, struct pair *pair, enum role role, uint64_t *cpu_ns,
                       struct fault *fault) {
    const struct clock *clock = p->backend->clock;
    struct pipe *out = &pair->sent[role], *in = &pair->sent[1 - role];
    for (unsigned turn = 0; turn < TURNS_MAX; turn++) {
        if ((turn > 0 || role == ROLE_SERVER) && !await(p, in, fault))
            return false;
        uint64_t before = clock->thread_cpu_ns();
        enum progress progress = p->backend->step(pair->sides[role], fault);
        *cpu_ns += clock->thread_cpu_ns() - before;
        struct fault unsent;
        bool delivered = deliver(p, out, &unsent); /* an alert, too, is the peer's to know */
        if (progress == PROGRESS_FAILED)
            return false;
        if (!delivered) {
            *fault = unsent;
            return false;
        }
        if (progress == PROGRESS_DONE)
            return true;
    }
    return fault_set(fault, FAULT_ERROR, "no progress: the %s was not done after %d turns", role_name(role),
                     TURNS_MAX);
}

static bool handshake(struct prepared *p, struct pair *pair, uint64_t *cpu_ns, uint64_t *bytes,
                      struct negotiated *seen, struct fault *fault) {
    enum role role = p->tls_case.roles == ROLES_CLIENT ? ROLE_CLIENT : ROLE_SERVER;
    struct pipe_end end = {.in = &pair->sent[1 - role], .out = &pair->sent[role]};
    struct negotiated unused;
    struct spans unused_spans = {0};
    p->peer_handshakes++;
    pipe_reset(&pair->sent[ROLE_CLIENT]);
    pipe_reset(&pair->sent[ROLE_SERVER]);
    pair->sides[role] = p->backend->open(p->context, role, end, false, fault);
    bool good = pair->sides[role] != NULL && take_turns(p, pair, role, cpu_ns, fault) &&
                prove_side(p->backend, pair->sides[role], role, (struct evidence){pair->wires, true, -1},
                           &p->tls_case, &p->wanted, seen == NULL ? &unused : seen, fault);
    *bytes += pair->sent[role].written;
    pair_close(pair, false, &unused_spans);
    return good || peer_gives_up(p->peer);
}

bool peer_probe(struct prepared *p, struct negotiated *seen, struct fault *fault) {
    uint64_t cpu_ns = 0, bytes = 0;
    p->pairs[0] = pair_new(p->backend, p->context, &p->tls_case, false);
    if (p->pairs[0] == NULL)
        return fault_set(fault, FAULT_ERROR, "out of memory") || peer_gives_up(p->peer);
    return handshake(p, p->pairs[0], &cpu_ns, &bytes, seen, fault);
}

bool peer_measure(struct prepared *p, const struct limits *limits, struct batch *out, struct fault *fault) {
    enum role role = p->tls_case.roles == ROLES_CLIENT ? ROLE_CLIENT : ROLE_SERVER;
    const struct clock *clock = p->backend->clock;
    struct pair *pair = p->pairs[0];
    uint64_t unused = 0, proven = 0;
    bool good = handshake(p, pair, &out->first_ns[role], &unused, NULL, fault);
    uint64_t switches = clock->waiting().involuntary;
    uint64_t process = clock->process_cpu_ns(), wall = clock->wall_ns(), cpu = clock->thread_cpu_ns();
    while (good && proven < limits->max_handshakes) {
        good = handshake(p, pair, &out->cpu_ns[SPAN_HANDSHAKE][role], &out->bytes[role], NULL, fault);
        proven += good;
    }
    out->thread_cpu_ns = clock->thread_cpu_ns() - cpu;
    out->elapsed_ns = clock->wall_ns() - wall;
    process = clock->process_cpu_ns() - process;
    out->background_cpu_ns = process < out->thread_cpu_ns ? 0 : process - out->thread_cpu_ns;
    out->involuntary_switches = clock->waiting().involuntary - switches;
    out->has[role] = true;
    if (!good)
        memset(out, 0, sizeof *out);
    out->handshakes = proven;
    return good;
}
