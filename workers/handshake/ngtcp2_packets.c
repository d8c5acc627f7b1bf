/* The datagrams of a connection, through the pipes that every library has. */
#include "ngtcp2_backend.h"

/* The client's first datagram makes the server's connection: its identifiers are in there (RFC 9000,
 * section 7.2). */
static bool accept_client(struct quic_side *side, const unsigned char *datagram, size_t length,
                          struct fault *fault) {
    ngtcp2_pkt_hd first;
    int code = ngtcp2_accept(&first, datagram, length);
    if (code != 0)
        return quic_fault(side, fault, "first packet", code);
    return quic_open_server(side, &first, fault);
}

bool quic_read(struct quic_side *side, struct fault *fault) {
    unsigned char datagram[DATAGRAM_BYTES];
    size_t length;
    while ((length = pipe_read_datagram(side->tls.pipes.in, datagram, sizeof datagram)) > 0) {
        if (side->connection == NULL && !accept_client(side, datagram, length, fault)) {
            if (side->tls.pipes.over_path)
                continue; /* the first packet was lost */
            return false;
        }
        int code = ngtcp2_conn_read_pkt(side->connection, &quic_path, NULL, datagram, length, side->now);
        if (code != 0)
            return quic_fault(side, fault, "handshake", code);
    }
    return true;
}

/* The next datagram, with as much of the stream's data as it has room for; 0: there is nothing to send. Early
 * data are all that a client ever sends in memory. */
static ngtcp2_ssize next_datagram(struct quic_side *side, unsigned char out[DATAGRAM_BYTES]) {
    ngtcp2_ssize taken = -1;
    bool any = side->left > 0, ends = any && side->tls.early_to_send > 0;
    ngtcp2_vec data = {(uint8_t *)side->data, side->left};
    ngtcp2_ssize length = ngtcp2_conn_writev_stream(side->connection, NULL, NULL, out, DATAGRAM_BYTES, &taken,
                                                    ends ? NGTCP2_WRITE_STREAM_FLAG_FIN : 0,
                                                    any ? side->stream : -1, &data, any, side->now);
    if (taken > 0) {
        side->data += taken;
        side->left -= (size_t)taken;
    }
    return length;
}

bool quic_write(struct quic_side *side, struct fault *fault) {
    unsigned char datagram[DATAGRAM_BYTES];
    ngtcp2_ssize length;
    while ((length = next_datagram(side, datagram)) > 0) { /* ends: the congestion window does */
        if (pipe_write_datagram(side->tls.pipes.out, datagram, (uint16_t)length) == 0)
            return fault_set(fault, FAULT_ERROR, "a flight is larger than the pipe");
    }
    return length == 0 || quic_fault(side, fault, "flight", (int)length);
}

long quic_send(struct side *tls, const void *data, size_t length, struct fault *fault) {
    struct quic_side *side = (struct quic_side *)tls;
    if (!tls->pipes.over_path) {
        fault_set(fault, FAULT_ERROR, "QUICv1 is measured without application data after its handshake");
        return -1;
    }
    if (side->stream < 0) {
        int code = ngtcp2_conn_open_uni_stream(side->connection, &side->stream, NULL);
        if (code != 0) {
            quic_fault(side, fault, "stream", code);
            return -1;
        }
    }
    side->data = data;
    side->left = length;
    bool good = quic_write(side, fault);
    long sent = (long)(length - side->left);
    side->left = 0; /* what the congestion window has no room for is offered again */
    return good ? sent : -1;
}
