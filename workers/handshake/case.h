/* The domain of the worker in one header: a case (what shall be measured), what a
 * handshake negotiated, a fault (why there is no number), and how the three relate.
 * Nothing here knows a library; the names are those of PROTOCOL.md (names.c). */
#ifndef KEXBENCH_CASE_H
#define KEXBENCH_CASE_H

#include <stdbool.h>
#include <stddef.h>

enum { VALUE_MAX = 255, REASON_MAX = 512, DETAIL_MAX = 1024 };
enum { DH_BITS_MIN = 512, DH_BITS_MAX = 8192, RSA_BITS_MIN = 512, RSA_BITS_MAX = 16384 };
enum { CHAIN_MAX = 10, EARLY_DATA_MAX = 16384, THREADS_MAX = 256 };
enum { TRUST_ANCHORS_MAX = 1000, TRANSFER_MAX = 16 * 1024 * 1024 };
enum { NAMES_MAX = 1000, EXTENSION_ENTRIES_MAX = 50, INTERMEDIATE_MAX = 8192 };
enum { RECORD_MAX = 16384 }; /* application data in one record (RFC 8446, section 5.1) */
/* What a client that verifies expects in the server's certificate. */
#define VERIFIED_HOST "kexbench.invalid"

enum { PSK_BYTES = 32 };
#define PSK_IDENTITY "kexbench"
enum { DTLS_MTU = 1400 }; /* bytes of a datagram, behind the headers of IP and UDP */

enum protocol { TLS_1_2, TLS_1_3, PROTOCOL_DEFAULT, BFE_0RTT, QUIC_V1, DTLS_1_2, DTLS_1_3 };
enum method {
    METHOD_RSA,
    METHOD_DHE,
    METHOD_ECDHE,
    METHOD_MLKEM,
    METHOD_DEFAULT,
    METHOD_BFE,
    METHOD_PSK /* alone: no key exchange beside it */
};
enum key_type {
    KEY_RSA,
    KEY_RSA_PSS,
    KEY_ECDSA,
    KEY_ED25519,
    KEY_ED448,
    KEY_ML_DSA_44,
    KEY_ML_DSA_65,
    KEY_ML_DSA_87,
    KEY_BFE,
    KEY_PSK /* an external pre-shared key, in place of a certificate */
};
enum cipher {
    AES_128_GCM,
    AES_256_GCM,
    CHACHA20_POLY1305,
    AES_128_CBC_SHA, /* from here on of TLS 1.2 alone, with an HMAC of its own */
    AES_256_CBC_SHA,
    AES_128_CBC_SHA256,
    AES_256_CBC_SHA256,
    AES_256_CBC_SHA384,
    CIPHER_DEFAULT
};
enum group {
    GROUP_NONE,
    GROUP_SECP192R1,
    GROUP_P256,
    GROUP_P384,
    GROUP_P521,
    GROUP_X25519,
    GROUP_X448,
    GROUP_FFDHE2048,
    GROUP_FFDHE3072,
    GROUP_FFDHE4096,
    GROUP_FFDHE6144,
    GROUP_FFDHE8192,
    GROUP_X25519MLKEM768,
    GROUP_SECP256R1MLKEM768,
    GROUP_SECP384R1MLKEM1024,
    GROUP_MLKEM512,
    GROUP_MLKEM768,
    GROUP_MLKEM1024,
    GROUP_BLS12_381,
    GROUP_CUSTOM_DH
};
enum resumption { RESUME_NONE, RESUME_SESSION_ID, RESUME_TICKET, RESUME_PSK, RESUME_PSK_DHE };
/* Of cases without resumption. CACHED: no tickets, but each session stays in the server's cache. */
enum tickets { TICKETS_NONE, TICKETS_DEFAULT, TICKETS_CACHED };
enum sharing { CONTEXT_SHARED, CONTEXT_THREAD, CONTEXT_CONNECTION, CONTEXT_POOL, CONTEXT_LIBRARY };
enum { RELOAD_MAX = 1000000, SERVER_NAMES_MAX = 10000 };
enum { POOL_THREADS = 4 }; /* that share a context of a pool; a case with a pool has at least as many */
enum trust_store { TRUST_FILE, TRUST_FOLDER, TRUST_P11_KIT };
enum roles { ROLES_BOTH, ROLES_CLIENT, ROLES_SERVER };

struct tls_case {
    char id[VALUE_MAX + 1];
    enum protocol protocol;
    enum method method;     /* the two parts of key_exchange */
    enum key_type key_type; /* of the server's certificate, and of the client's where it shows one */
    enum cipher cipher;
    enum group group;
    char group_name[VALUE_MAX +
                    1]; /* as requested; for custom DH the only place that tells dh-1024 from dh-1776 */
    unsigned dh_bits;   /* 0 unless group is GROUP_CUSTOM_DH */
    unsigned rsa_bits;  /* 0 when the certificate's key is neither RSA nor RSA-PSS */
    enum group curve;   /* GROUP_NONE when the certificate's key is not ECDSA */
    char key[VALUE_MAX + 1];
    char certificate[VALUE_MAX + 1];
    char dh_parameters[VALUE_MAX + 1];
    char ocsp_response[VALUE_MAX + 1]; /* "-": nothing is stapled */
    unsigned chain_length;             /* certificates in the file and on the wire */
    bool client_authentication;        /* the client shows the same certificate */
    enum resumption resumption;
    unsigned early_data_bytes; /* of application data in the first flight; 0: no early data */
    bool anti_replay;          /* the server refuses early data that it may have seen before */
    bool hello_retry;          /* the client's key share is of another group than the server takes */
    bool fips;                 /* OpenSSL's FIPS provider */
    unsigned threads;
    bool verification; /* the client verifies the server's chain, host name and time, a server its client's */
    char trust_anchors_file[VALUE_MAX + 1]; /* root certificates, the chain's first; "-": none */
    unsigned trust_anchors;                 /* root certificates in that file */
    enum tickets tickets;
    unsigned transfer_bytes; /* of application data from server to client, after which both close; 0: none */
    enum sharing context;    /* for whom configuration, certificate and key are loaded */
    unsigned reload_every;   /* connections; the server's configuration is then loaded anew. 0: never */
    unsigned server_names; /* each with a configuration of its own at the server; 1: the client names none */
    enum trust_store trust_store; /* from where a side that verifies loads its trust anchors */
    enum roles roles;             /* which sides live in this process */
    /* Of the certificate, beside its key: DNS names, policies and CRL distribution points. */
    unsigned certificate_names, certificate_policies, crl_distribution_points;
    unsigned
        intermediate_bytes; /* DER of each further certificate of the chain; 0: as large as it came out */
};

/* What one side of a finished handshake says of it. Names, not enums: a library may report
 * something that no case can ask for, and the mismatch should then show the library's word.
 * NULL or a negative number means "this side can't tell", as with a server that has forgotten
 * its ephemeral key; "-" means "there is none". As what is wanted, NULL and negative mean "any". */
struct negotiated {
    const char *protocol;
    const char *cipher;
    const char *group;
    const char *signature;
    const char *peer_key;
    unsigned peer_key_bits; /* 0 for keys of one size only */
    bool resumed;
    const char *client_key;       /* the key of the certificate that the client showed */
    const char *client_signature; /* the scheme of its CertificateVerify */
    int extended_master_secret;   /* of TLS 1.2 alone (RFC 7627) */
    int encrypt_then_mac;         /* the same (RFC 7366); read off the wire */
    int chain_length;             /* certificates that the client got */
    long ocsp_bytes;              /* stapled response that the client got */
    long early_data_bytes;        /* that the server accepted */
    int hello_retry;              /* these three are read off the wire, not told by the library */
    int key_shares;               /* in the client's first message */
    int tickets; /* that a TLS 1.3 server sent after the client's Finished; with TICKETS_DEFAULT that the
                    client got */
    int verified_length;        /* certificates from the server's to the trust anchor; 0: not verified */
    int client_verified_length; /* the same of the client's certificate */
    long transferred_bytes;     /* that the client received, each compared with what was sent */
    int transfer_records;       /* that held them; counted at set-up alone */
    const char *server_name;    /* whose configuration the server took; of cases with several alone */
};

/* FAULT_PEER: the other worker of a handshake ended it, whose own fault says why. */
enum fault_kind { FAULT_UNSUPPORTED, FAULT_ERROR, FAULT_MISMATCH, FAULT_PEER };

struct fault {
    enum fault_kind kind;
    char reason[REASON_MAX]; /* ours */
    char detail[DETAIL_MAX]; /* the library's own text, or empty */
};

/* Fills a fault without a detail; always returns false, so that `return fault_set(...)` reads well. */
bool fault_set(struct fault *fault, enum fault_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
const char *fault_kind_name(enum fault_kind kind);

/* Names to enums, for the request parser. False: no such name. */
bool protocol_from_name(const char *name, enum protocol *out);
bool key_exchange_from_name(const char *name, enum method *method, enum key_type *key_type);
bool cipher_from_name(const char *name, enum cipher *out);
bool group_from_name(const char *name, enum group *out, unsigned *dh_bits);
bool curve_from_name(const char *name, enum group *out);
bool tickets_from_name(const char *name, enum tickets *out);
bool sharing_from_name(const char *name, enum sharing *out);
bool resumption_from_name(const char *name, enum resumption *out);
bool trust_store_from_name(const char *name, enum trust_store *out);
bool roles_from_name(const char *name, enum roles *out);

const char *protocol_name(enum protocol protocol);
const char *method_name(enum method method);
/* "ECDHE-RSA"; valid until the next call. */
const char *key_exchange_name(enum method method, enum key_type key_type);
const char *key_type_name(enum key_type key_type); /* as in key_exchange: "ECDSA" */
const char *peer_key_name(enum key_type key_type); /* as in `negotiated`: "EC" */
const char *cipher_name(enum cipher cipher);
const char *group_name(enum group group);
unsigned curve_bits(enum group curve);
bool is_ffdhe(enum group group);
bool is_elliptic(enum group group);
bool is_hybrid(enum group group); /* a curve and ML-KEM together */
bool is_mlkem(enum group group);  /* ML-KEM alone */
bool is_rsa_key(enum key_type key_type);
bool is_ml_dsa(enum key_type key_type);

/* The IANA SignatureScheme that the case's certificate is made to sign with, "-", or NULL for the default. */
const char *case_signature(const struct tls_case *tls_case);

/* How many contexts its threads share: thread i has number i modulo so many. */
unsigned case_contexts(const struct tls_case *tls_case);

/* Is it TLS over a stream of bytes? Else it is DTLS, QUIC, or Bloom filter encryption. */
bool case_is_tls(const struct tls_case *tls_case);
bool case_is_dtls(const struct tls_case *tls_case);

/* Does the handshake have the messages of TLS 1.2, as that of DTLS 1.2 does, or of TLS 1.3, as those of DTLS
 * 1.3 and QUIC do (RFC 9147, section 5; RFC 9001, section 4)? */
bool case_has_tls_1_2(const struct tls_case *tls_case);
bool case_has_tls_1_3(const struct tls_case *tls_case);

/* Is the key exchange one with an external pre-shared key (RFC 4279, RFC 5489; RFC 8446, section 4.2.11)? */
bool case_has_psk(const struct tls_case *tls_case);

/* For backends that have TLS with certificates and nothing else: false and a fault where the case is not for
 * them. */
bool case_needs_tls(const struct tls_case *tls_case, struct fault *fault);

/* False and a fault where the library can't load trust anchors from where the case has them. */
bool case_trust_store_is_taken(const struct tls_case *tls_case, bool takes_folder, struct fault *fault);

/* Does this side verify the other's certificate? */
bool case_verifies(const struct tls_case *tls_case, bool is_client);

/* Does the case contradict itself, or ask for what TLS itself does not have? */
bool case_check(const struct tls_case *tls_case, struct fault *fault);

/* Does the cipher suite have CBC and an HMAC? They encrypt before they authenticate only as an extension
 * (RFC 7366), which all libraries here negotiate. */
bool is_cbc(enum cipher cipher);

/* What a handshake has to negotiate to count for this case; `resumed` false: the full handshake that a
 * resumption needs before it. */
struct negotiated case_wanted(const struct tls_case *tls_case, bool resumed);

/* Is the certificate's key, as the library reads it, the one the case tells? `curve` is a name of ours, or
 * the library's, or NULL where there is none. The handshake proves type and size again; the curve only this
 * does. `bits` counts for RSA, RSA-PSS and EC keys. */
bool certificate_fits(const struct tls_case *tls_case, const char *key, unsigned bits, const char *curve,
                      struct fault *fault);

/* What the library reads in a certificate beside its key. */
struct certificate_parts {
    unsigned names, policies, crl_distribution_points;
};
bool certificate_parts_fit(const struct tls_case *tls_case, const struct certificate_parts *parts,
                           struct fault *fault);
/* Is a further certificate of the chain as large as the case tells? */
bool intermediate_fits(const struct tls_case *tls_case, size_t der_bytes, struct fault *fault);

/* False and a FAULT_MISMATCH that names the field, when `got` differs in what it tells. */
bool negotiated_matches(const struct negotiated *wanted, const struct negotiated *got, const char *side,
                        struct fault *fault);

#endif
