/* The domain of the worker in one header: a case (what shall be measured), what a
 * handshake negotiated, a fault (why there is no number), and how the three relate.
 * Nothing here knows a library; the names are those of PROTOCOL.md. */
#ifndef KEXBENCH_CASE_H
#define KEXBENCH_CASE_H

#include <stdbool.h>
#include <stddef.h>

enum { VALUE_MAX = 255, REASON_MAX = 512, DETAIL_MAX = 1024 };
enum { DH_BITS_MIN = 512, DH_BITS_MAX = 8192, RSA_BITS_MIN = 512, RSA_BITS_MAX = 16384 };

enum protocol { TLS_1_2, TLS_1_3 };
enum key_exchange { KX_RSA, KX_DHE_RSA, KX_ECDHE_RSA, KX_ECDHE_ECDSA };
enum cipher { AES_128_GCM, AES_256_GCM, CHACHA20_POLY1305 };
enum group {
    GROUP_NONE,
    GROUP_SECP192R1,
    GROUP_P256,
    GROUP_P384,
    GROUP_P521,
    GROUP_X25519,
    GROUP_FFDHE2048,
    GROUP_FFDHE3072,
    GROUP_FFDHE4096,
    GROUP_CUSTOM_DH
};

struct tls_case {
    char id[VALUE_MAX + 1];
    enum protocol protocol;
    enum key_exchange key_exchange;
    enum cipher cipher;
    enum group group;
    char group_name[VALUE_MAX +
                    1]; /* as requested; for custom DH the only place that tells dh-1024 from dh-1776 */
    unsigned dh_bits;   /* 0 unless group is GROUP_CUSTOM_DH */
    unsigned rsa_bits;  /* 0 when the certificate's key is not RSA */
    enum group curve;   /* GROUP_NONE when the certificate's key is not EC */
    char key[VALUE_MAX + 1];
    char certificate[VALUE_MAX + 1];
    char dh_parameters[VALUE_MAX + 1];
};

/* What one side of a finished handshake says of it. Names, not enums: a library may report
 * something that no case can ask for, and the mismatch should then show the library's word.
 * NULL means "this side can't tell", as with a server that has forgotten its ephemeral key;
 * "-" means "there is none". */
struct negotiated {
    const char *protocol;
    const char *cipher;
    const char *group;
    const char *signature;
    const char *peer_key;
    unsigned peer_key_bits;
    bool resumed;
};

enum fault_kind { FAULT_UNSUPPORTED, FAULT_ERROR, FAULT_MISMATCH };

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
bool key_exchange_from_name(const char *name, enum key_exchange *out);
bool cipher_from_name(const char *name, enum cipher *out);
bool group_from_name(const char *name, enum group *out, unsigned *dh_bits);
bool curve_from_name(const char *name, enum group *out);

const char *protocol_name(enum protocol protocol);
const char *cipher_name(enum cipher cipher);
const char *group_name(enum group group);
unsigned curve_bits(enum group curve);
bool is_ffdhe(enum group group);
bool is_elliptic(enum group group);

/* The IANA SignatureScheme that the case's certificate is made to sign with, or "-". */
const char *case_signature(const struct tls_case *tls_case);

/* Does the case contradict itself, or ask for what TLS itself does not have? */
bool case_check(const struct tls_case *tls_case, struct fault *fault);

/* What a handshake has to negotiate to count for this case. */
struct negotiated case_wanted(const struct tls_case *tls_case);

/* Is the certificate's key, as the library reads it, the one the case tells? `curve` is a name of ours, or
 * the library's, or NULL where there is none. The handshake proves type and size again; the curve only this
 * does. */
bool certificate_fits(const struct tls_case *tls_case, const char *key, unsigned bits, const char *curve,
                      struct fault *fault);

/* False and a FAULT_MISMATCH that names the field, when `got` differs in what it tells. */
bool negotiated_matches(const struct negotiated *wanted, const struct negotiated *got, const char *side,
                        struct fault *fault);

#endif
