/* Tables of names: the words of PROTOCOL.md, and what each group and key type is. */
#include "case.h"

#include <stdio.h>
#include <string.h>

static const char *const protocols[] = {
    [TLS_1_2] = "TLSv1.2", [TLS_1_3] = "TLSv1.3",   [PROTOCOL_DEFAULT] = "default", [BFE_0RTT] = "BFE-0RTT-1",
    [QUIC_V1] = "QUICv1",  [DTLS_1_2] = "DTLSv1.2", [DTLS_1_3] = "DTLSv1.3"};
static const char *const methods[] = {
    [METHOD_RSA] = "RSA",         [METHOD_DHE] = "DHE", [METHOD_ECDHE] = "ECDHE", [METHOD_MLKEM] = "MLKEM",
    [METHOD_DEFAULT] = "default", [METHOD_BFE] = "BFE", [METHOD_PSK] = "PSK"};
static const char *const key_types[] = {[KEY_RSA] = "RSA",
                                        [KEY_RSA_PSS] = "RSA-PSS",
                                        [KEY_ECDSA] = "ECDSA",
                                        [KEY_ED25519] = "Ed25519",
                                        [KEY_ED448] = "Ed448",
                                        [KEY_ML_DSA_44] = "ML-DSA-44",
                                        [KEY_ML_DSA_65] = "ML-DSA-65",
                                        [KEY_ML_DSA_87] = "ML-DSA-87",
                                        [KEY_BFE] = "BFE",
                                        [KEY_PSK] = "PSK"};
static const char *const ciphers[] = {[AES_128_GCM] = "AES-128-GCM",
                                      [AES_256_GCM] = "AES-256-GCM",
                                      [CHACHA20_POLY1305] = "CHACHA20-POLY1305",
                                      [AES_128_CBC_SHA] = "AES-128-CBC-SHA",
                                      [AES_256_CBC_SHA] = "AES-256-CBC-SHA",
                                      [AES_128_CBC_SHA256] = "AES-128-CBC-SHA256",
                                      [AES_256_CBC_SHA256] = "AES-256-CBC-SHA256",
                                      [AES_256_CBC_SHA384] = "AES-256-CBC-SHA384",
                                      [CIPHER_DEFAULT] = "-"};
static const char *const resumptions[] = {[RESUME_NONE] = "none",
                                          [RESUME_SESSION_ID] = "session-id",
                                          [RESUME_TICKET] = "ticket",
                                          [RESUME_PSK] = "psk",
                                          [RESUME_PSK_DHE] = "psk-dhe"};
static const char *const ticket_words[] = {
    [TICKETS_NONE] = "none", [TICKETS_DEFAULT] = "default", [TICKETS_CACHED] = "cached"};
static const char *const sharings[] = {[CONTEXT_SHARED] = "shared",
                                       [CONTEXT_THREAD] = "thread",
                                       [CONTEXT_CONNECTION] = "connection",
                                       [CONTEXT_POOL] = "pool",
                                       [CONTEXT_LIBRARY] = "library"};
static const char *const trust_stores[] = {
    [TRUST_FILE] = "file", [TRUST_FOLDER] = "folder", [TRUST_P11_KIT] = "p11-kit"};
static const char *const roles[] = {
    [ROLES_BOTH] = "both", [ROLES_CLIENT] = "client", [ROLES_SERVER] = "server"};

static const struct {
    const char *name;
    unsigned curve_bits; /* 0: can't be the curve of a certificate */
} groups[] = {
    [GROUP_NONE] = {"-", 0},
    [GROUP_SECP192R1] = {"secp192r1", 192},
    [GROUP_P256] = {"P-256", 256},
    [GROUP_P384] = {"P-384", 384},
    [GROUP_P521] = {"P-521", 521},
    [GROUP_X25519] = {"X25519", 0},
    [GROUP_X448] = {"X448", 0},
    [GROUP_FFDHE2048] = {"ffdhe2048", 0},
    [GROUP_FFDHE3072] = {"ffdhe3072", 0},
    [GROUP_FFDHE4096] = {"ffdhe4096", 0},
    [GROUP_FFDHE6144] = {"ffdhe6144", 0},
    [GROUP_FFDHE8192] = {"ffdhe8192", 0},
    [GROUP_X25519MLKEM768] = {"X25519MLKEM768", 0},
    [GROUP_SECP256R1MLKEM768] = {"SecP256r1MLKEM768", 0},
    [GROUP_SECP384R1MLKEM1024] = {"SecP384r1MLKEM1024", 0},
    [GROUP_MLKEM512] = {"MLKEM512", 0},
    [GROUP_MLKEM768] = {"MLKEM768", 0},
    [GROUP_MLKEM1024] = {"MLKEM1024", 0},
    [GROUP_BLS12_381] = {"BLS12-381", 0},
    [GROUP_CUSTOM_DH] = {"dh", 0},
};

#define COUNT(table) (sizeof(table) / sizeof(table)[0])
/* Finds `name` in a table of names that an enum indexes. */
#define FIND(name, table, type, out)                                                                         \
    for (size_t i = 0; i < COUNT(table); i++) {                                                              \
        if (strcmp(name, table[i]) == 0) {                                                                   \
            *(out) = (type)i;                                                                                \
            return true;                                                                                     \
        }                                                                                                    \
    }                                                                                                        \
    return false

bool protocol_from_name(const char *name, enum protocol *out) {
    FIND(name, protocols, enum protocol, out);
}

bool cipher_from_name(const char *name, enum cipher *out) {
    FIND(name, ciphers, enum cipher, out);
}

bool resumption_from_name(const char *name, enum resumption *out) {
    FIND(name, resumptions, enum resumption, out);
}

bool tickets_from_name(const char *name, enum tickets *out) {
    FIND(name, ticket_words, enum tickets, out);
}

bool sharing_from_name(const char *name, enum sharing *out) {
    FIND(name, sharings, enum sharing, out);
}

bool trust_store_from_name(const char *name, enum trust_store *out) {
    FIND(name, trust_stores, enum trust_store, out);
}

bool roles_from_name(const char *name, enum roles *out) {
    FIND(name, roles, enum roles, out);
}

static bool key_type_from_name(const char *name, enum key_type *out) {
    FIND(name, key_types, enum key_type, out);
}

/* "RSA", "BFE", "PSK", or a method and the certificate's key with a hyphen between. */
bool key_exchange_from_name(const char *name, enum method *method, enum key_type *key_type) {
    *method = METHOD_RSA;
    *key_type = KEY_RSA;
    if (strcmp(name, methods[METHOD_RSA]) == 0)
        return true;
    if (strcmp(name, methods[METHOD_BFE]) == 0) {
        *method = METHOD_BFE;
        *key_type = KEY_BFE;
        return true;
    }
    if (strcmp(name, methods[METHOD_PSK]) == 0) {
        *method = METHOD_PSK;
        *key_type = KEY_PSK;
        return true;
    }
    for (size_t i = METHOD_DHE; i <= METHOD_DEFAULT; i++) {
        size_t length = strlen(methods[i]);
        if (strncmp(name, methods[i], length) == 0 && name[length] == '-') {
            *method = (enum method)i;
            return key_type_from_name(name + length + 1, key_type) && *key_type != KEY_BFE &&
                   (*key_type != KEY_PSK || i == METHOD_DHE || i == METHOD_ECDHE);
        }
    }
    return false;
}

const char *key_exchange_name(enum method method, enum key_type key_type) {
    static char text[64];
    if (method == METHOD_RSA || method == METHOD_BFE || method == METHOD_PSK)
        return method_name(method);
    snprintf(text, sizeof text, "%s-%s", method_name(method), key_type_name(key_type));
    return text;
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

const char *method_name(enum method method) {
    return methods[method];
}

const char *key_type_name(enum key_type key_type) {
    return key_types[key_type];
}

const char *peer_key_name(enum key_type key_type) {
    return key_type == KEY_ECDSA ? "EC" : key_types[key_type];
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

bool is_cbc(enum cipher cipher) {
    return cipher >= AES_128_CBC_SHA && cipher <= AES_256_CBC_SHA384;
}

bool is_ffdhe(enum group group) {
    return group >= GROUP_FFDHE2048 && group <= GROUP_FFDHE8192;
}

bool is_elliptic(enum group group) {
    return group >= GROUP_SECP192R1 && group <= GROUP_X448;
}

bool is_hybrid(enum group group) {
    return group >= GROUP_X25519MLKEM768 && group <= GROUP_SECP384R1MLKEM1024;
}

bool is_mlkem(enum group group) {
    return group >= GROUP_MLKEM512 && group <= GROUP_MLKEM1024;
}

bool is_rsa_key(enum key_type key_type) {
    return key_type == KEY_RSA || key_type == KEY_RSA_PSS;
}

bool is_ml_dsa(enum key_type key_type) {
    return key_type >= KEY_ML_DSA_44 && key_type <= KEY_ML_DSA_87;
}
