/* GnuTLS has names for everything that priority strings and reports speak of. Asking by name instead of by
 * number lets one source serve headers that know fewer algorithms than the library, and the other way round.
 */
#include "gnutls_backend.h"

#include <string.h>

static const struct {
    enum group group;
    const char *name;
} groups[] = {
    {GROUP_SECP192R1, "SECP192R1"},
    {GROUP_P256, "SECP256R1"},
    {GROUP_P384, "SECP384R1"},
    {GROUP_P521, "SECP521R1"},
    {GROUP_X25519, "X25519"},
    {GROUP_X448, "X448"},
    {GROUP_FFDHE2048, "FFDHE2048"},
    {GROUP_FFDHE3072, "FFDHE3072"},
    {GROUP_FFDHE4096, "FFDHE4096"},
    {GROUP_FFDHE6144, "FFDHE6144"},
    {GROUP_FFDHE8192, "FFDHE8192"},
    {GROUP_X25519MLKEM768, "X25519-MLKEM768"},
    {GROUP_SECP256R1MLKEM768, "SECP256R1-MLKEM768"},
    {GROUP_SECP384R1MLKEM1024, "SECP384R1-MLKEM1024"},
    {GROUP_MLKEM512, "MLKEM512"},
    {GROUP_MLKEM768, "MLKEM768"},
    {GROUP_MLKEM1024, "MLKEM1024"},
};

static const struct {
    enum cipher ours;
    gnutls_cipher_algorithm_t cipher;
    gnutls_mac_algorithm_t mac;
    const char *cipher_name, *mac_name;
} cbc_suites[] = {
    {AES_128_CBC_SHA, GNUTLS_CIPHER_AES_128_CBC, GNUTLS_MAC_SHA1, "AES-128-CBC", "SHA1"},
    {AES_256_CBC_SHA, GNUTLS_CIPHER_AES_256_CBC, GNUTLS_MAC_SHA1, "AES-256-CBC", "SHA1"},
    {AES_128_CBC_SHA256, GNUTLS_CIPHER_AES_128_CBC, GNUTLS_MAC_SHA256, "AES-128-CBC", "SHA256"},
    {AES_256_CBC_SHA256, GNUTLS_CIPHER_AES_256_CBC, GNUTLS_MAC_SHA256, "AES-256-CBC", "SHA256"},
    {AES_256_CBC_SHA384, GNUTLS_CIPHER_AES_256_CBC, GNUTLS_MAC_SHA384, "AES-256-CBC", "SHA384"},
};
enum { CBC_SUITES = sizeof cbc_suites / sizeof cbc_suites[0] };

/* The library has two names for what is one code point in TLS: in 1.2 it ties no curve to ECDSA. */
static const struct {
    const char *scheme, *tls_1_2, *tls_1_3;
} signatures[] = {
    {"rsa_pkcs1_sha256", "RSA-SHA256", NULL},
    {"rsa_pss_rsae_sha256", "RSA-PSS-RSAE-SHA256", "RSA-PSS-RSAE-SHA256"},
    {"rsa_pss_rsae_sha384", "RSA-PSS-RSAE-SHA384", "RSA-PSS-RSAE-SHA384"},
    {"rsa_pss_rsae_sha512", "RSA-PSS-RSAE-SHA512", "RSA-PSS-RSAE-SHA512"},
    {"rsa_pss_pss_sha256", "RSA-PSS-SHA256", "RSA-PSS-SHA256"},
    {"rsa_pss_pss_sha384", "RSA-PSS-SHA384", "RSA-PSS-SHA384"},
    {"rsa_pss_pss_sha512", "RSA-PSS-SHA512", "RSA-PSS-SHA512"},
    {"ecdsa_secp256r1_sha256", "ECDSA-SHA256", "ECDSA-SECP256R1-SHA256"},
    {"ecdsa_secp384r1_sha384", "ECDSA-SHA384", "ECDSA-SECP384R1-SHA384"},
    {"ecdsa_secp521r1_sha512", "ECDSA-SHA512", "ECDSA-SECP521R1-SHA512"},
    {"ed25519", "EdDSA-Ed25519", "EdDSA-Ed25519"},
    {"ed448", "EdDSA-Ed448", "EdDSA-Ed448"},
    {"mldsa44", NULL, "ML-DSA-44"},
    {"mldsa65", NULL, "ML-DSA-65"},
    {"mldsa87", NULL, "ML-DSA-87"},
};

static const struct {
    enum key_type key_type;
    const char *name;
} keys[] = {
    {KEY_RSA, "RSA"},
    {KEY_RSA_PSS, "RSA-PSS"},
    {KEY_ECDSA, "EC/ECDSA"},
    {KEY_ED25519, "EdDSA (Ed25519)"},
    {KEY_ED448, "EdDSA (Ed448)"},
    {KEY_ML_DSA_44, "ML-DSA-44"},
    {KEY_ML_DSA_65, "ML-DSA-65"},
    {KEY_ML_DSA_87, "ML-DSA-87"},
};

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

const char *gnutls_name_of_group(enum group group) {
    for (size_t i = 0; i < COUNT(groups); i++) {
        if (groups[i].group == group)
            return groups[i].name;
    }
    return NULL;
}

const char *gnutls_our_group(const char *name) {
    for (size_t i = 0; name != NULL && i < COUNT(groups); i++) {
        if (strcmp(groups[i].name, name) == 0)
            return group_name(groups[i].group);
    }
    return NULL;
}

const char *gnutls_name_of_signature(const char *scheme, bool tls_1_3) {
    for (size_t i = 0; i < COUNT(signatures); i++) {
        if (strcmp(signatures[i].scheme, scheme) == 0)
            return tls_1_3 ? signatures[i].tls_1_3 : signatures[i].tls_1_2;
    }
    return NULL;
}

static bool is_named(const char *known, const char *name) {
    return known != NULL && strcmp(known, name) == 0;
}

const char *gnutls_our_signature(const char *name) {
    for (size_t i = 0; name != NULL && i < COUNT(signatures); i++) {
        if (is_named(signatures[i].tls_1_2, name) || is_named(signatures[i].tls_1_3, name))
            return signatures[i].scheme;
    }
    return NULL;
}

const char *gnutls_name_of_key(enum key_type key_type) {
    for (size_t i = 0; i < COUNT(keys); i++) {
        if (keys[i].key_type == key_type)
            return keys[i].name;
    }
    return NULL;
}

const char *gnutls_our_key(const char *name) {
    for (size_t i = 0; name != NULL && i < COUNT(keys); i++) {
        if (strcmp(keys[i].name, name) == 0)
            return peer_key_name(keys[i].key_type);
    }
    return NULL;
}

const char *gnutls_name_of_cipher(enum cipher cipher) {
    for (size_t i = 0; i < CBC_SUITES; i++) {
        if (cbc_suites[i].ours == cipher)
            return cbc_suites[i].cipher_name;
    }
    return cipher_name(cipher);
}

const char *gnutls_name_of_mac(enum cipher cipher) {
    for (size_t i = 0; i < CBC_SUITES; i++) {
        if (cbc_suites[i].ours == cipher)
            return cbc_suites[i].mac_name;
    }
    return "AEAD";
}

bool gnutls_our_cbc(gnutls_cipher_algorithm_t cipher, gnutls_mac_algorithm_t mac, enum cipher *out) {
    for (size_t i = 0; i < CBC_SUITES; i++) {
        if (cbc_suites[i].cipher == cipher && cbc_suites[i].mac == mac) {
            *out = cbc_suites[i].ours;
            return true;
        }
    }
    return false;
}
