/* What the files of the ngtcp2 backend share: QUIC version 1 (RFC 9000), with GnuTLS for its handshake (RFC
 * 9001). Contexts and sides begin with those of the GnuTLS backend, whose functions take them. */
#ifndef KEXBENCH_NGTCP2_BACKEND_H
#define KEXBENCH_NGTCP2_BACKEND_H

#include "gnutls_backend.h"

#include <ngtcp2/ngtcp2.h>
#include <ngtcp2/ngtcp2_crypto.h>
#include <ngtcp2/ngtcp2_crypto_gnutls.h>

/* Every path takes datagrams of this size (RFC 9000, section 14), so none is searched for a larger one. */
enum { DATAGRAM_BYTES = 1200 };

/* A congestion window is ten datagrams at first (RFC 9002, section 7.2). The first has the ClientHello, and
 * the others headers, tags and frames of at most 60 bytes. */
enum { EARLY_WINDOW_BYTES = 9 * (DATAGRAM_BYTES - 60) };

/* In memory time is virtual: it goes on by this much with each turn, so that no timer ever expires. */
enum { TURN_NS = 1000000 };

/* What a packet may have to be sent again: CRYPTO frames of three kinds of packets, and a stream. */
enum { SENT_INITIAL, SENT_HANDSHAKE, SENT_LATER, SENT_STREAM, SENT_KINDS };
struct sent {
    uint64_t until, bytes; /* where the last byte ends; how many were sent, each counted once */
};

/* What a client has to remember of a server's transport parameters along with its ticket (RFC 9000,
 * section 7.4.1). */
#if NGTCP2_VERSION_NUM < 0x010000
typedef ngtcp2_crypto_level encryption_level;
typedef ngtcp2_transport_params early_parameters;
#define ENCRYPTION_INITIAL NGTCP2_CRYPTO_LEVEL_INITIAL
#define STREAM_DATA_EARLY NGTCP2_STREAM_DATA_FLAG_EARLY
#else
typedef ngtcp2_encryption_level encryption_level;
typedef struct {
    size_t length;
    unsigned char bytes[256];
} early_parameters;
#define ENCRYPTION_INITIAL NGTCP2_ENCRYPTION_LEVEL_INITIAL
#define STREAM_DATA_EARLY NGTCP2_STREAM_DATA_FLAG_0RTT
#endif

struct quic_context {
    struct context tls;
    early_parameters early; /* of the server that `tls.kept` is a session with */
};

struct quic_side {
    struct side tls;
    ngtcp2_crypto_conn_ref reference; /* what the session points to */
    ngtcp2_conn *connection;          /* a server's: NULL until the client's first packet is there */
    ngtcp2_tstamp now;
    int64_t stream;            /* that this side sends on; negative: none */
    const unsigned char *data; /* what is left to be sent on it */
    size_t left;
    size_t early_bytes; /* a server's: received, in memory in 0-RTT packets */
    bool early_ended;
    bool early_differs; /* from what a client sends */
    bool ticket_sent;
    /* Over a path alone: application data that came, and what is known of what was sent. */
    unsigned char *came;
    size_t came_bytes, taken_bytes;
    struct sent sent[SENT_KINDS];
    unsigned sent_again;
};

/* The early data of every client. */
extern unsigned char quic_early_data[EARLY_DATA_MAX];

/* Puts ngtcp2's text for `code` into the fault's detail, with the alert of TLS if that is the cause; false.
 */
bool quic_fault(const struct quic_side *side, struct fault *fault, const char *what, int code);

/* ngtcp2_connection.c: both leave the connection NULL on failure. A server's answers `first`. */
bool quic_open_client(struct quic_side *side, struct fault *fault);
bool quic_open_server(struct quic_side *side, const ngtcp2_pkt_hd *first, struct fault *fault);
/* Takes over what a later connection with early data has to know. */
bool quic_keep_parameters(const struct quic_side *client, struct fault *fault);
extern const ngtcp2_path quic_path;

/* ngtcp2_stream.c: application data, which a path alone has: both sides send on a stream of their own. */
int quic_take_stream(ngtcp2_conn *connection, uint32_t flags, int64_t stream, uint64_t offset,
                     const uint8_t *data, size_t length, void *side, void *stream_user);
/* Of what came. */
long quic_receive(struct quic_side *side, void *data, size_t size);

/* ngtcp2_again.c: takes what the library logs. */
void quic_note_sent(void *side, uint32_t flags, const void *event, size_t length);

/* ngtcp2_packets.c: all datagrams that lie in the pipe, and all that there is to send. */
bool quic_read(struct quic_side *side, struct fault *fault);
bool quic_write(struct quic_side *side, struct fault *fault);
/* On the side's own stream. */
long quic_send(struct side *side, const void *data, size_t length, struct fault *fault);

#endif
