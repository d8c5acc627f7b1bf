/* DTLS: pipes of datagrams, timers that never expire, and the server's cookie (RFC 6347, section 4.2.1),
 * which the library checks apart from any session. */
#include "gnutls_dtls.h"

#include <errno.h>
#include <gnutls/dtls.h>
#include <string.h>

/* Nothing is lost in memory, and slow turns must not look like it. */
enum { HOUR_MS = 3600 * 1000 };
/* Of the client, whom the cookie is for. There is one here. */
static const unsigned char address[] = {127, 0, 0, 1, 0x10, 0x92};

static ssize_t push(gnutls_transport_ptr_t pointer, const void *data, size_t length) {
    const struct side *side = pointer;
    size_t taken = length <= UINT16_MAX ? pipe_write_datagram(side->pipes.out, data, (uint16_t)length) : 0;
    if (taken > 0)
        return (ssize_t)taken;
    gnutls_transport_set_errno(side->session, EAGAIN);
    return -1;
}

static ssize_t pull(gnutls_transport_ptr_t pointer, void *data, size_t length) {
    const struct side *side = pointer;
    size_t given = pipe_read_datagram(side->pipes.in, data, length);
    if (given > 0)
        return (ssize_t)given;
    gnutls_transport_set_errno(side->session, EAGAIN);
    return -1;
}

bool gnutls_dtls_start(struct context *c, struct fault *fault) {
    int code = gnutls_key_generate(&c->cookie_key, GNUTLS_COOKIE_KEY_SIZE);
    return code >= 0 || gnutls_fault(fault, FAULT_ERROR, "no key for cookies", code);
}

void gnutls_dtls_open(struct side *side) {
    gnutls_dtls_set_mtu(side->session, DTLS_MTU);
    gnutls_dtls_set_timeouts(side->session, HOUR_MS, HOUR_MS);
    gnutls_transport_set_push_function(side->session, push);
    gnutls_transport_set_pull_function(side->session, pull);
    side->needs_cookie = side->role == ROLE_SERVER;
}

enum progress gnutls_dtls_cookie_turn(struct side *side, int *code) {
    struct context *c = side->context;
    gnutls_dtls_prestate_st state = {0};
    uint16_t length;
    *code = 0;
    if (pipe_pending(side->pipes.in) == 0)
        return PROGRESS_WAIT;
    const unsigned char *hello = pipe_peek_datagram(side->pipes.in, &length);
    int verified = gnutls_dtls_cookie_verify(&c->cookie_key, (void *)address, sizeof address, (void *)hello,
                                             length, &state);
    if (verified >= 0) { /* the handshake reads the same datagram */
        gnutls_dtls_prestate_set(side->session, &state);
        side->needs_cookie = false;
        return PROGRESS_DONE;
    }
    *code = gnutls_dtls_cookie_send(&c->cookie_key, (void *)address, sizeof address, &state, side, push);
    pipe_drop_datagram(side->pipes.in);
    return *code < 0 ? PROGRESS_FAILED : PROGRESS_WAIT;
}
