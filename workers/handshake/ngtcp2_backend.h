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

/* Time is virtual: it goes on by this much with each turn, so that no timer ever expires. */
enum { TURN_NS = 1000000 };

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
    int64_t stream;     /* that a client sends early data on; negative: none */
    size_t early_bytes; /* a client's: sent; a server's: received in 0-RTT packets */
    bool early_differs; /* from what a client sends */
    bool ticket_sent;
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

/* ngtcp2_packets.c: all datagrams that lie in the pipe, and all that there is to send. */
bool quic_read(struct quic_side *side, struct fault *fault);
bool quic_write(struct quic_side *side, struct fault *fault);

#endif
