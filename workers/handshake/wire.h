/* Reads along on one direction of a handshake: counts TLS records, and parses the direction's first message,
 * a ClientHello or a ServerHello, which is in the clear in every version of TLS. So the bytes themselves
 * prove what no library tells: whether a HelloRetryRequest was sent, how many key shares the client made,
 * with what a resumption was asked for, whether records are encrypted before they are authenticated, whether
 * the master secret is the extended one, which pre-shared key and which server the client named, and whether
 * a server of DTLS asked for a cookie. */
#ifndef KEXBENCH_WIRE_H
#define KEXBENCH_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WIRE_HEAD_BYTES = 4096, WIRE_NEXT_BYTES = 6 };

/* RFC 8446, section 4.1.3: the random of a ServerHello that is a HelloRetryRequest. */
extern const unsigned char WIRE_HELLO_RETRY_RANDOM[32];

struct wire {
    bool counts_records;   /* else the first record is all that is read, which costs no more than its copy */
    uint64_t records;      /* of QUIC: datagrams */
    size_t largest_record; /* bytes behind the header, since this was last set to 0 */
    size_t left_in_record; /* of the record that is being written */
    size_t header_bytes;   /* how much of the next record's header was seen */
    unsigned char header[5];
    bool head_whole;
    size_t head_length;
    unsigned char head[WIRE_HEAD_BYTES]; /* the direction's first record, or as much as there is room for */
    bool reads_dtls;                     /* else datagrams are QUIC's */
    bool dtls;                           /* what was read is DTLS */
    bool asked_for_cookie;               /* by a HelloVerifyRequest, or a HelloRetryRequest with one */
    bool asked_to_retry;                 /* the head is what came behind a HelloRetryRequest */
    size_t next_length;
    unsigned char next[WIRE_NEXT_BYTES]; /* the header of the record behind it, and the type of its message */
};

struct session_id {
    const unsigned char *bytes; /* inside the head */
    size_t length;
};

struct client_hello {
    struct session_id session_id;
    unsigned key_shares;
    bool ticket;                    /* of TLS 1.2 (RFC 5077), not the empty one that asks for a ticket */
    struct session_id server_name;  /* the first host name (RFC 6066, section 3); empty: none */
    struct session_id psk_identity; /* of the first pre-shared key that is offered; empty: none is */
};

struct server_hello {
    struct session_id session_id;
    bool hello_retry;
    bool cookie; /* was asked for */
    bool key_share;
    bool pre_shared_key;
    bool encrypt_then_mac;
    bool extended_master_secret; /* of TLS 1.2 alone */
    bool new_ticket;             /* TLS 1.2: a NewSessionTicket follows at once, as in a resumption */
    bool resumes;                /* TLS 1.2: a ticket or ChangeCipherSpec follows, not a certificate */
};

void wire_reset(struct wire *wire);
void wire_feed(struct wire *wire, const unsigned char *bytes, size_t length);

/* Of QUIC: that a datagram was written; and what the CRYPTO frames of the direction's Initial packets hold,
 * in order, as whoever got them decrypted them (RFC 9001, section 5.2). */
void wire_datagram(struct wire *wire);
void wire_feed_initial(struct wire *wire, const unsigned char *bytes, size_t length);

/* A datagram of DTLS (wire_dtls.c). */
void wire_feed_dtls(struct wire *wire, const unsigned char *bytes, size_t length);

/* False: the head holds no whole message of this kind. */
bool wire_client_hello(const struct wire *wire, struct client_hello *out);
bool wire_server_hello(const struct wire *wire, struct server_hello *out);

#endif
