/* Cases: tables of names, the contradictions a case can hold, and the comparison of
 * what was negotiated with what was asked. Pure; no library, no I/O. */
#include "case.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const protocols[] = {[TLS_1_2] = "TLSv1.2", [TLS_1_3] = "TLSv1.3"};
static const char *const key_exchanges[] = {[KX_RSA] = "RSA",
                                            [KX_DHE_RSA] = "DHE-RSA",
                                            [KX_ECDHE_RSA] = "ECDHE-RSA",
                                            [KX_ECDHE_ECDSA] = "ECDHE-ECDSA"};
static const char *const ciphers[] = {
    [AES_128_GCM] = "AES-128-GCM", [AES_256_GCM] = "AES-256-GCM", [CHACHA20_POLY1305] = "CHACHA20-POLY1305"};

static const struct {
    const char *name;
    unsigned curve_bits;   /* 0: can't be the curve of a certificate */
    const char *signature; /* what an EC certificate on this curve signs with */
} groups[] = {
    [GROUP_NONE] = {"-", 0, NULL},
    /* TLS 1.2 reads the code point as "ECDSA with SHA-256", whatever the curve; TLS 1.3 has none for P-192.
     */
    [GROUP_SECP192R1] = {"secp192r1", 192, "ecdsa_secp256r1_sha256"},
    [GROUP_P256] = {"P-256", 256, "ecdsa_secp256r1_sha256"},
    [GROUP_P384] = {"P-384", 384, "ecdsa_secp384r1_sha384"},
    [GROUP_P521] = {"P-521", 521, "ecdsa_secp521r1_sha512"},
    [GROUP_X25519] = {"X25519", 0, NULL},
    [GROUP_FFDHE2048] = {"ffdhe2048", 0, NULL},
    [GROUP_FFDHE3072] = {"ffdhe3072", 0, NULL},
    [GROUP_FFDHE4096] = {"ffdhe4096", 0, NULL},
    [GROUP_CUSTOM_DH] = {"dh", 0, NULL},
};

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

bool fault_set(struct fault *fault, enum fault_kind kind, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fault->reason, sizeof fault->reason, format, arguments);
    va_end(arguments);
    fault->kind = kind;
    fault->detail[0] = '\0';
    return false;
}

const char *fault_kind_name(enum fault_kind kind) {
    static const char *const names[] = {
        [FAULT_UNSUPPORTED] = "unsupported", [FAULT_ERROR] = "error", [FAULT_MISMATCH] = "mismatch"};
    return names[kind];
}

static bool find(const char *name, const char *const table[], size_t count, unsigned *out) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(name, table[i]) == 0) {
            *out = (unsigned)i;
            return true;
        }
    }
    return false;
}

bool protocol_from_name(const char *name, enum protocol *out) {
    unsigned index;
    if (!find(name, protocols, COUNT(protocols), &index))
        return false;
    *out = (enum protocol)index;
    return true;
}

bool key_exchange_from_name(const char *name, enum key_exchange *out) {
    unsigned index;
    if (!find(name, key_exchanges, COUNT(key_exchanges), &index))
        return false;
    *out = (enum key_exchange)index;
    return true;
}

bool cipher_from_name(const char *name, enum cipher *out) {
    unsigned index;
    if (!find(name, ciphers, COUNT(ciphers), &index))
        return false;
    *out = (enum cipher)index;
    return true;
}

/* "dh-1776" and nothing like it: no sign, no leading zero, no trailing text, so one group has one name. */
static bool custom_dh_bits(const char *name, unsigned *bits) {
    if (strncmp(name, "dh-", 3) != 0 || name[3] == '0')
        return false;
    unsigned value = 0;
    size_t digits = 0;
    for (const char *c = name + 3; *c != '\0'; c++, digits++) {
        if (*c < '0' || *c > '9' || digits == 5)
            return false;
        value = value * 10 + (unsigned)(*c - '0');
    }
    *bits = value;
    return value >= DH_BITS_MIN && value <= DH_BITS_MAX;
}

bool group_from_name(const char *name, enum group *out, unsigned *dh_bits) {
    *dh_bits = 0;
    for (size_t i = 0; i < GROUP_CUSTOM_DH; i++) {
        if (strcmp(name, groups[i].name) == 0) {
            *out = (enum group)i;
            return true;
        }
    }
    *out = GROUP_CUSTOM_DH;
    return custom_dh_bits(name, dh_bits);
}

bool curve_from_name(const char *name, enum group *out) {
    unsigned dh_bits;
    return group_from_name(name, out, &dh_bits) && (*out == GROUP_NONE || groups[*out].curve_bits != 0);
}

const char *protocol_name(enum protocol protocol) {
    return protocols[protocol];
}

const char *cipher_name(enum cipher cipher) {
    return ciphers[cipher];
}

const char *group_name(enum group group) {
    return groups[group].name;
}

unsigned curve_bits(enum group curve) {
    return groups[curve].curve_bits;
}

bool is_ffdhe(enum group group) {
    return group == GROUP_FFDHE2048 || group == GROUP_FFDHE3072 || group == GROUP_FFDHE4096;
}

bool is_elliptic(enum group group) {
    return group >= GROUP_SECP192R1 && group <= GROUP_X25519;
}

const char *case_signature(const struct tls_case *tls_case) {
    if (tls_case->key_exchange == KX_RSA)
        return "-";
    if (tls_case->key_exchange == KX_ECDHE_ECDSA)
        return groups[tls_case->curve].signature;
    return tls_case->protocol == TLS_1_3 ? "rsa_pss_rsae_sha256" : "rsa_pkcs1_sha256";
}

/* A case that can't be meant: its parts contradict each other, in any library. */
static bool check_contradictions(const struct tls_case *c, struct fault *fault) {
    const char *kx = key_exchanges[c->key_exchange];
    bool custom = c->group == GROUP_CUSTOM_DH;
    bool fits = false;
    switch (c->key_exchange) {
    case KX_RSA:
        fits = c->group == GROUP_NONE;
        break;
    case KX_DHE_RSA:
        fits = custom || is_ffdhe(c->group);
        break;
    case KX_ECDHE_RSA:
    case KX_ECDHE_ECDSA:
        fits = is_elliptic(c->group);
        break;
    }
    if (!fits)
        return fault_set(fault, FAULT_ERROR, "key_exchange=%s can't use group=%s", kx, c->group_name);
    bool wants_ec = c->key_exchange == KX_ECDHE_ECDSA;
    if (wants_ec != (c->curve != GROUP_NONE))
        return fault_set(fault, FAULT_ERROR, "key_exchange=%s %s", kx,
                         wants_ec ? "needs a curve" : "takes no curve");
    if (wants_ec == (c->rsa_bits != 0))
        return fault_set(fault, FAULT_ERROR, "key_exchange=%s %s", kx,
                         wants_ec ? "takes no rsa_bits" : "needs rsa_bits");
    if (strcmp(c->key, "-") == 0 || strcmp(c->certificate, "-") == 0)
        return fault_set(fault, FAULT_ERROR, "a case needs a key and a certificate");
    if (custom == (strcmp(c->dh_parameters, "-") == 0))
        return fault_set(fault, FAULT_ERROR, "group=%s %s", c->group_name,
                         custom ? "needs dh_parameters" : "takes no dh_parameters");
    return true;
}

/* A case that no library can run, because the TLS standards lack it. */
static bool check_standards(const struct tls_case *c, struct fault *fault) {
    if (c->protocol == TLS_1_2) {
        if (c->key_exchange == KX_RSA && c->cipher == CHACHA20_POLY1305)
            return fault_set(fault, FAULT_UNSUPPORTED,
                             "TLS 1.2 has no CHACHA20-POLY1305 suite with RSA key exchange");
        return true;
    }
    if (c->key_exchange == KX_RSA)
        return fault_set(fault, FAULT_UNSUPPORTED, "TLS 1.3 has no RSA key exchange");
    if (c->group == GROUP_CUSTOM_DH)
        return fault_set(fault, FAULT_UNSUPPORTED, "TLS 1.3 has no custom DH parameters");
    if (c->group == GROUP_SECP192R1)
        return fault_set(fault, FAULT_UNSUPPORTED, "TLS 1.3 has no group secp192r1");
    if (c->curve == GROUP_SECP192R1)
        return fault_set(fault, FAULT_UNSUPPORTED, "TLS 1.3 has no signature scheme for secp192r1");
    return true;
}

bool case_check(const struct tls_case *tls_case, struct fault *fault) {
    return check_contradictions(tls_case, fault) && check_standards(tls_case, fault);
}

struct negotiated case_wanted(const struct tls_case *c) {
    bool ec = c->key_exchange == KX_ECDHE_ECDSA;
    return (struct negotiated){
        .protocol = protocols[c->protocol],
        .cipher = ciphers[c->cipher],
        .group = c->group_name,
        .signature = case_signature(c),
        .peer_key = ec ? "EC" : "RSA",
        .peer_key_bits = ec ? curve_bits(c->curve) : c->rsa_bits,
        .resumed = false,
    };
}

bool certificate_fits(const struct tls_case *c, const char *key, unsigned bits, const char *curve,
                      struct fault *fault) {
    struct negotiated wanted = case_wanted(c);
    const char *has = key == NULL ? "an unknown one" : key;
    if (strcmp(wanted.peer_key, has) != 0)
        return fault_set(fault, FAULT_ERROR, "peer_key: wanted %s, the certificate has %s", wanted.peer_key,
                         has);
    if (c->curve != GROUP_NONE && (curve == NULL || strcmp(groups[c->curve].name, curve) != 0))
        return fault_set(fault, FAULT_ERROR, "curve: wanted %s, the certificate has %s",
                         groups[c->curve].name, curve == NULL ? "an unknown one" : curve);
    if (wanted.peer_key_bits != bits)
        return fault_set(fault, FAULT_ERROR, "peer_key_bits: wanted %u, the certificate has %u",
                         wanted.peer_key_bits, bits);
    return true;
}

static bool same_word(const char *field, const char *wanted, const char *got, const char *side,
                      struct fault *fault) {
    if (got == NULL || strcmp(wanted, got) == 0)
        return true;
    return fault_set(fault, FAULT_MISMATCH, "%s: wanted %s, the %s got %s", field, wanted, side, got);
}

bool negotiated_matches(const struct negotiated *wanted, const struct negotiated *got, const char *side,
                        struct fault *fault) {
    if (!same_word("protocol", wanted->protocol, got->protocol, side, fault) ||
        !same_word("cipher", wanted->cipher, got->cipher, side, fault) ||
        !same_word("group", wanted->group, got->group, side, fault) ||
        !same_word("signature", wanted->signature, got->signature, side, fault) ||
        !same_word("peer_key", wanted->peer_key, got->peer_key, side, fault))
        return false;
    if (wanted->peer_key_bits != got->peer_key_bits)
        return fault_set(fault, FAULT_MISMATCH, "peer_key_bits: wanted %u, the %s got %u",
                         wanted->peer_key_bits, side, got->peer_key_bits);
    if (wanted->resumed != got->resumed)
        return fault_set(fault, FAULT_MISMATCH, "resumed: wanted %s, the %s got %s",
                         wanted->resumed ? "true" : "false", side, got->resumed ? "true" : "false");
    return true;
}
