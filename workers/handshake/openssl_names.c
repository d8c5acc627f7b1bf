/* Our words and OpenSSL's. */
#include "openssl_backend.h"

#include <string.h>
#include <strings.h>

enum { SPELLINGS = 3 };

/* The first spelling is one that every version takes in a list of groups. */
static const struct {
    enum group group;
    const char *spellings[SPELLINGS];
} groups[] = {
    {GROUP_SECP192R1, {"P-192", "prime192v1", "secp192r1"}},
    {GROUP_P256, {"P-256", "prime256v1", "secp256r1"}},
    {GROUP_P384, {"P-384", "secp384r1"}},
    {GROUP_P521, {"P-521", "secp521r1"}},
    {GROUP_X25519, {"X25519"}},
    {GROUP_X448, {"X448"}},
    {GROUP_FFDHE2048, {"ffdhe2048"}},
    {GROUP_FFDHE3072, {"ffdhe3072"}},
    {GROUP_FFDHE4096, {"ffdhe4096"}},
    {GROUP_FFDHE6144, {"ffdhe6144"}},
    {GROUP_FFDHE8192, {"ffdhe8192"}},
    {GROUP_X25519MLKEM768, {"X25519MLKEM768"}},
    {GROUP_SECP256R1MLKEM768, {"SecP256r1MLKEM768"}},
    {GROUP_SECP384R1MLKEM1024, {"SecP384r1MLKEM1024"}},
    {GROUP_MLKEM512, {"MLKEM512"}},
    {GROUP_MLKEM768, {"MLKEM768"}},
    {GROUP_MLKEM1024, {"MLKEM1024"}},
};
enum { GROUPS = sizeof groups / sizeof groups[0] };

const char *openssl_group_name(enum group group) {
    for (size_t i = 0; i < GROUPS; i++) {
        if (groups[i].group == group)
            return groups[i].spellings[0];
    }
    return NULL;
}

const char *openssl_group_word(const char *name) {
    for (size_t i = 0; name != NULL && i < GROUPS; i++) {
        for (int s = 0; s < SPELLINGS && groups[i].spellings[s] != NULL; s++) {
            if (strcasecmp(name, groups[i].spellings[s]) == 0)
                return group_name(groups[i].group);
        }
    }
    return name;
}

/* Names of types since 3.0, and what 1.1.1 calls them where that differs. */
static const struct {
    enum key_type type;
    const char *name, *old_name;
} keys[] = {
    {KEY_RSA, "RSA", "rsaEncryption"},   {KEY_RSA_PSS, "RSA-PSS", "RSASSA-PSS"},
    {KEY_ECDSA, "EC", "id-ecPublicKey"}, {KEY_ED25519, "ED25519", NULL},
    {KEY_ED448, "ED448", NULL},          {KEY_ML_DSA_44, "ML-DSA-44", NULL},
    {KEY_ML_DSA_65, "ML-DSA-65", NULL},  {KEY_ML_DSA_87, "ML-DSA-87", NULL},
};

const char *openssl_key_word(EVP_PKEY *key) {
    const char *name = key == NULL ? NULL : compat_key_name(key);
    for (size_t i = 0; name != NULL && i < sizeof keys / sizeof keys[0]; i++) {
        if (strcasecmp(name, keys[i].name) == 0 ||
            (keys[i].old_name != NULL && strcmp(name, keys[i].old_name) == 0))
            return peer_key_name(keys[i].type);
    }
    return name;
}

/* Edwards keys use the ECDSA suites of TLS 1.2, RSA-PSS keys the RSA ones. */
bool openssl_suite_name(const struct tls_case *c, char *out, size_t size) {
    static const char *const old[] = {
        [AES_128_GCM] = "AES128-GCM-SHA256",       [AES_256_GCM] = "AES256-GCM-SHA384",
        [CHACHA20_POLY1305] = "CHACHA20-POLY1305", [AES_128_CBC_SHA] = "AES128-SHA",
        [AES_256_CBC_SHA] = "AES256-SHA",          [AES_128_CBC_SHA256] = "AES128-SHA256",
        [AES_256_CBC_SHA256] = "AES256-SHA256",    [AES_256_CBC_SHA384] = "AES256-SHA384"};
    static const char *const new[] = {[AES_128_GCM] = "TLS_AES_128_GCM_SHA256",
                                      [AES_256_GCM] = "TLS_AES_256_GCM_SHA384",
                                      [CHACHA20_POLY1305] = "TLS_CHACHA20_POLY1305_SHA256"};
    static const char *const psk[] = {
        [AES_128_GCM] = "PSK-AES128-GCM-SHA256",       [AES_256_GCM] = "PSK-AES256-GCM-SHA384",
        [CHACHA20_POLY1305] = "PSK-CHACHA20-POLY1305", [AES_128_CBC_SHA] = "PSK-AES128-CBC-SHA",
        [AES_256_CBC_SHA] = "PSK-AES256-CBC-SHA",      [AES_128_CBC_SHA256] = "PSK-AES128-CBC-SHA256",
        [AES_256_CBC_SHA384] = "PSK-AES256-CBC-SHA384"};
    const char *method = c->method == METHOD_DHE ? "DHE-" : "ECDHE-";
    const char *key = case_has_psk(c) ? "" : is_rsa_key(c->key_type) ? "RSA-" : "ECDSA-";
    const char *rest = c->protocol == TLS_1_3 ? new[c->cipher]
                       : case_has_psk(c)      ? psk[c->cipher]
                                              : old[c->cipher];
    bool bare = c->protocol == TLS_1_3 || c->method == METHOD_RSA || c->method == METHOD_PSK;
    int length = snprintf(out, size, "%s%s%s", bare ? "" : method, bare ? "" : key, rest);
    return length > 0 && (size_t)length < size;
}
