#include "iana.h"

#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

static const struct {
    unsigned number;
    enum group group;
} groups[] = {{19, GROUP_SECP192R1},
              {23, GROUP_P256},
              {24, GROUP_P384},
              {25, GROUP_P521},
              {29, GROUP_X25519},
              {30, GROUP_X448},
              {256, GROUP_FFDHE2048},
              {257, GROUP_FFDHE3072},
              {258, GROUP_FFDHE4096},
              {259, GROUP_FFDHE6144},
              {260, GROUP_FFDHE8192},
              {512, GROUP_MLKEM512},
              {513, GROUP_MLKEM768},
              {514, GROUP_MLKEM1024},
              {4587, GROUP_SECP256R1MLKEM768},
              {4588, GROUP_X25519MLKEM768},
              {4589, GROUP_SECP384R1MLKEM1024}};

static const struct {
    unsigned number;
    const char *word;
} signatures[] = {{0, "-"},
                  {0x0201, "rsa_pkcs1_sha1"},
                  {0x0203, "ecdsa_sha1"},
                  {0x0401, "rsa_pkcs1_sha256"},
                  {0x0501, "rsa_pkcs1_sha384"},
                  {0x0601, "rsa_pkcs1_sha512"},
                  {0x0403, "ecdsa_secp256r1_sha256"},
                  {0x0503, "ecdsa_secp384r1_sha384"},
                  {0x0603, "ecdsa_secp521r1_sha512"},
                  {0x0804, "rsa_pss_rsae_sha256"},
                  {0x0805, "rsa_pss_rsae_sha384"},
                  {0x0806, "rsa_pss_rsae_sha512"},
                  {0x0807, "ed25519"},
                  {0x0808, "ed448"},
                  {0x0809, "rsa_pss_pss_sha256"},
                  {0x080a, "rsa_pss_pss_sha384"},
                  {0x080b, "rsa_pss_pss_sha512"},
                  {0x0904, "mldsa44"},
                  {0x0905, "mldsa65"},
                  {0x0906, "mldsa87"}};

/* In TLS 1.2 keys on Edwards curves use the suites of ECDSA, RSA-PSS keys those of RSA (RFC 8422,
 * section 5.10, and RFC 8446, section 4.2.3). Those with pre-shared keys are of RFC 4279, 5487, 5489, 7905
 * and 8442. */
static const struct suite {
    unsigned number;
    enum cipher cipher;
    enum method method;
    enum { ECDSA, RSA, PSK } key;
} suites[] = {{0x1301, AES_128_GCM, METHOD_DEFAULT, ECDSA},
              {0x1302, AES_256_GCM, METHOD_DEFAULT, ECDSA},
              {0x1303, CHACHA20_POLY1305, METHOD_DEFAULT, ECDSA},
              {0xc02b, AES_128_GCM, METHOD_ECDHE, ECDSA},
              {0xc02c, AES_256_GCM, METHOD_ECDHE, ECDSA},
              {0xcca9, CHACHA20_POLY1305, METHOD_ECDHE, ECDSA},
              {0xc009, AES_128_CBC_SHA, METHOD_ECDHE, ECDSA},
              {0xc00a, AES_256_CBC_SHA, METHOD_ECDHE, ECDSA},
              {0xc023, AES_128_CBC_SHA256, METHOD_ECDHE, ECDSA},
              {0xc024, AES_256_CBC_SHA384, METHOD_ECDHE, ECDSA},
              {0xc02f, AES_128_GCM, METHOD_ECDHE, RSA},
              {0xc030, AES_256_GCM, METHOD_ECDHE, RSA},
              {0xcca8, CHACHA20_POLY1305, METHOD_ECDHE, RSA},
              {0xc013, AES_128_CBC_SHA, METHOD_ECDHE, RSA},
              {0xc014, AES_256_CBC_SHA, METHOD_ECDHE, RSA},
              {0xc027, AES_128_CBC_SHA256, METHOD_ECDHE, RSA},
              {0xc028, AES_256_CBC_SHA384, METHOD_ECDHE, RSA},
              {0x009e, AES_128_GCM, METHOD_DHE, RSA},
              {0x009f, AES_256_GCM, METHOD_DHE, RSA},
              {0xccaa, CHACHA20_POLY1305, METHOD_DHE, RSA},
              {0x0033, AES_128_CBC_SHA, METHOD_DHE, RSA},
              {0x0039, AES_256_CBC_SHA, METHOD_DHE, RSA},
              {0x0067, AES_128_CBC_SHA256, METHOD_DHE, RSA},
              {0x006b, AES_256_CBC_SHA256, METHOD_DHE, RSA},
              {0x009c, AES_128_GCM, METHOD_RSA, RSA},
              {0x009d, AES_256_GCM, METHOD_RSA, RSA},
              {0x002f, AES_128_CBC_SHA, METHOD_RSA, RSA},
              {0x0035, AES_256_CBC_SHA, METHOD_RSA, RSA},
              {0x003c, AES_128_CBC_SHA256, METHOD_RSA, RSA},
              {0x003d, AES_256_CBC_SHA256, METHOD_RSA, RSA},
              {0xd001, AES_128_GCM, METHOD_ECDHE, PSK},
              {0xd002, AES_256_GCM, METHOD_ECDHE, PSK},
              {0xccac, CHACHA20_POLY1305, METHOD_ECDHE, PSK},
              {0xc035, AES_128_CBC_SHA, METHOD_ECDHE, PSK},
              {0xc036, AES_256_CBC_SHA, METHOD_ECDHE, PSK},
              {0xc037, AES_128_CBC_SHA256, METHOD_ECDHE, PSK},
              {0xc038, AES_256_CBC_SHA384, METHOD_ECDHE, PSK},
              {0x00aa, AES_128_GCM, METHOD_DHE, PSK},
              {0x00ab, AES_256_GCM, METHOD_DHE, PSK},
              {0xccad, CHACHA20_POLY1305, METHOD_DHE, PSK},
              {0x0090, AES_128_CBC_SHA, METHOD_DHE, PSK},
              {0x0091, AES_256_CBC_SHA, METHOD_DHE, PSK},
              {0x00b2, AES_128_CBC_SHA256, METHOD_DHE, PSK},
              {0x00b3, AES_256_CBC_SHA384, METHOD_DHE, PSK},
              {0x00a8, AES_128_GCM, METHOD_PSK, PSK},
              {0x00a9, AES_256_GCM, METHOD_PSK, PSK},
              {0xccab, CHACHA20_POLY1305, METHOD_PSK, PSK},
              {0x008c, AES_128_CBC_SHA, METHOD_PSK, PSK},
              {0x008d, AES_256_CBC_SHA, METHOD_PSK, PSK},
              {0x00ae, AES_128_CBC_SHA256, METHOD_PSK, PSK},
              {0x00af, AES_256_CBC_SHA384, METHOD_PSK, PSK}};

const char *iana_protocol_word(unsigned version) {
    switch (version) {
    case 0x0303:
        return protocol_name(TLS_1_2);
    case 0x0304:
        return protocol_name(TLS_1_3);
    case 0xfefd:
        return protocol_name(DTLS_1_2);
    case 0xfefc:
        return protocol_name(DTLS_1_3);
    default:
        return NULL;
    }
}

const char *iana_group_word(unsigned number) {
    for (size_t i = 0; i < COUNT(groups); i++) {
        if (groups[i].number == number)
            return group_name(groups[i].group);
    }
    return number == 0 ? "-" : NULL;
}

const char *iana_signature_word(unsigned number) {
    for (size_t i = 0; i < COUNT(signatures); i++) {
        if (signatures[i].number == number)
            return signatures[i].word;
    }
    return NULL;
}

bool iana_suite(unsigned number, enum cipher *cipher, enum method *method) {
    for (size_t i = 0; i < COUNT(suites); i++) {
        if (suites[i].number == number) {
            *cipher = suites[i].cipher;
            *method = suites[i].method;
            return true;
        }
    }
    return false;
}

unsigned iana_group_number(enum group group) {
    for (size_t i = 0; i < COUNT(groups); i++) {
        if (groups[i].group == group)
            return groups[i].number;
    }
    return 0;
}

unsigned iana_signature_number(const char *word) {
    for (size_t i = 0; word != NULL && i < COUNT(signatures); i++) {
        if (strcmp(signatures[i].word, word) == 0)
            return signatures[i].number;
    }
    return 0;
}

unsigned iana_suite_number(const struct tls_case *c) {
    enum method method = case_has_tls_1_3(c) ? METHOD_DEFAULT : c->method;
    int key = case_has_psk(c) ? PSK : is_rsa_key(c->key_type) ? RSA : ECDSA;
    for (size_t i = 0; c->protocol != PROTOCOL_DEFAULT && i < COUNT(suites); i++) {
        const struct suite *suite = &suites[i];
        if (suite->cipher == c->cipher && suite->method == method &&
            (method == METHOD_DEFAULT || (int)suite->key == key))
            return suite->number;
    }
    return 0;
}
