/* The GnuTLS backend: configuration of both roles, a side's life, its turns. Priorities, material, resumption
 * and what was negotiated have files of their own. */
#include "gnutls_dtls.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool start(const char *settings, struct fault *fault) {
    (void)settings;
    return gnutls_start(fault);
}

static const char *version(void) {
    return gnutls_check_version(NULL); /* the library that runs, not the header */
}

static const char *version_text(void) {
    static char text[64];
    snprintf(text, sizeof text, "GnuTLS %s", version());
    return text;
}

static void teardown(struct context *c) {
    gnutls_context_clear(c);
    free(c);
}

static struct context *setup(const struct tls_case *tls_case, const char *material, struct fault *fault) {
    if (!case_is_tls(tls_case) && tls_case->protocol != DTLS_1_2) {
        fault_set(fault, FAULT_UNSUPPORTED, "this library's backend has no %s",
                  protocol_name(tls_case->protocol));
        return NULL;
    }
    struct context *c = calloc(1, sizeof *c);
    if (c == NULL) {
        fault_set(fault, FAULT_ERROR, "out of memory");
        return NULL;
    }
    if (gnutls_context_fill(c, tls_case, material, fault) &&
        (!case_is_dtls(tls_case) || gnutls_dtls_start(c, fault)))
        return c;
    teardown(c);
    return NULL;
}

/* --- The transport: the pipes that every library has. --- */

static ssize_t push(gnutls_transport_ptr_t pointer, const void *data, size_t length) {
    const struct side *side = pointer;
    size_t taken = pipe_write(side->pipes.out, data, length);
    if (taken > 0)
        return (ssize_t)taken;
    gnutls_transport_set_errno(side->session, EAGAIN);
    return -1;
}

static ssize_t pull(gnutls_transport_ptr_t pointer, void *data, size_t length) {
    const struct side *side = pointer;
    size_t given = pipe_read(side->pipes.in, data, length);
    if (given > 0)
        return (ssize_t)given;
    gnutls_transport_set_errno(side->session, EAGAIN);
    return -1;
}

static int pull_timeout(gnutls_transport_ptr_t pointer, unsigned milliseconds) {
    (void)milliseconds; /* nothing can arrive while this side waits: both are the same thread */
    const struct side *side = pointer;
    return pipe_pending(side->pipes.in) > 0;
}

/* --- A side. --- */

static void close_side(struct side *side) {
    gnutls_session_close(side);
    free(side);
}

static struct side *open_side(struct context *context, enum role role, struct pipe_end pipes, bool resume,
                              struct fault *fault) {
    struct side *side = calloc(1, sizeof *side);
    if (side == NULL) {
        fault_set(fault, FAULT_ERROR, "out of memory");
        return NULL;
    }
    *side = (struct side){.context = context, .role = role, .pipes = pipes, .resumes = resume};
    bool dtls = case_is_dtls(&context->tls_case);
    if (!gnutls_session_open(side, GNUTLS_NONBLOCK | (dtls ? GNUTLS_DATAGRAM : 0), fault)) {
        close_side(side);
        return NULL;
    }
    gnutls_transport_set_ptr(side->session, side);
    gnutls_transport_set_push_function(side->session, push);
    gnutls_transport_set_pull_function(side->session, pull);
    gnutls_transport_set_pull_timeout_function(side->session, pull_timeout);
    if (dtls)
        gnutls_dtls_open(side);
    return side;
}

/* Its server does not read what its client sends with the suites of RFC 8442, as its own tools show. */
static bool fails_by_itself(const struct tls_case *c, int code) {
    return code == GNUTLS_E_UNEXPECTED_PACKET_LENGTH && case_has_psk(c) && case_has_tls_1_2(c) &&
           c->method == METHOD_ECDHE && (c->cipher == AES_128_GCM || c->cipher == AES_256_GCM);
}

static enum progress failed(const struct side *side, const char *what, int code, struct fault *fault) {
    char reason[REASON_MAX];
    snprintf(reason, sizeof reason, "the %s's %s failed", side->role == ROLE_CLIENT ? "client" : "server",
             what);
    bool lacks = fails_by_itself(&side->context->tls_case, code);
    gnutls_fault(fault, lacks ? FAULT_UNSUPPORTED : gnutls_kind_of(code), reason, code);
    return PROGRESS_FAILED;
}

/* The library sends it right after the ClientHello. */
static ssize_t send_early(struct side *side) {
    static const unsigned char data[EARLY_DATA_MAX];
    unsigned bytes = side->early_to_send;
    side->early_to_send = 0;
    return gnutls_record_send_early_data(side->session, data, bytes);
}

static void take_early(struct side *side) {
    unsigned char data[4096];
    ssize_t taken;
    while ((taken = gnutls_record_recv_early_data(side->session, data, sizeof data)) > 0)
        side->early_taken += taken;
}

static enum progress step(struct side *side, struct fault *fault) {
    if (side->early_to_send > 0) {
        ssize_t code = send_early(side);
        if (code < 0)
            return failed(side, "early data", (int)code, fault);
    }
    int code;
    if (side->needs_cookie) {
        enum progress progress = gnutls_dtls_cookie_turn(side, &code);
        if (progress != PROGRESS_DONE)
            return progress == PROGRESS_WAIT ? progress : failed(side, "cookie", code, fault);
    }
    code = gnutls_handshake(side->session);
    if (side->takes_early)
        take_early(side);
    if (code == GNUTLS_E_SUCCESS && side->issues_ticket) {
        code = gnutls_session_ticket_send(side->session, 1, 0);
        return code < 0 ? failed(side, "ticket", code, fault) : PROGRESS_DONE;
    }
    if (code == GNUTLS_E_SUCCESS)
        return PROGRESS_DONE;
    if (!gnutls_error_is_fatal(code))
        return PROGRESS_WAIT; /* the bound on turns ends a wait that nothing ends */
    return failed(side, "handshake", code, fault);
}

/* --- After the handshake. --- */

static long send_data(struct side *side, const void *data, size_t length, struct fault *fault) {
    ssize_t sent = gnutls_record_send(side->session, data, length);
    if (sent >= 0 || sent == GNUTLS_E_AGAIN)
        return sent < 0 ? 0 : sent;
    gnutls_fault(fault, FAULT_ERROR, "the server can't send application data", (int)sent);
    return -1;
}

static long receive_data(struct side *side, void *data, size_t size, struct fault *fault) {
    ssize_t received = gnutls_record_recv(side->session, data, size);
    if (received >= 0 || received == GNUTLS_E_AGAIN)
        return received < 0 ? 0 : received;
    gnutls_fault(fault, FAULT_ERROR, "the client can't receive application data", (int)received);
    return -1;
}

static enum progress finish(struct side *side, struct fault *fault) {
    int code = gnutls_bye(side->session, GNUTLS_SHUT_RDWR);
    if (code == GNUTLS_E_SUCCESS)
        return PROGRESS_DONE;
    if (code == GNUTLS_E_AGAIN)
        return PROGRESS_WAIT;
    gnutls_fault(fault, FAULT_ERROR, "the connection can't be closed", code);
    return PROGRESS_FAILED;
}

const struct backend linked_backend = {
    .library = "gnutls",
    .clock = &real_clock,
    .counter_events = hardware_events,
    .takes_settings = false,
    .start = start,
    .version = version,
    .version_text = version_text,
    .architecture = NULL,
    .cpu_features = NULL, /* GNUTLS_CPUID_OVERRIDE is read, but what came of it is told nowhere */
    .setup = setup,
    .teardown = teardown,
    .expect = gnutls_load_expected,
    .reload = gnutls_context_reload,
    .ask = gnutls_ask,
    .open = open_side,
    .step = step,
    .send = send_data,
    .receive = receive_data,
    .finish = finish,
    .inspect = gnutls_inspect,
    .keep = gnutls_keep,
    .close = close_side,
};
