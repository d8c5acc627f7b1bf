/* The rows that every backend has to negotiate or call unsupported, and how a row becomes a case. */
#ifndef KEXBENCH_MATRIX_H
#define KEXBENCH_MATRIX_H

#include "request.h"

#include "check.h"

struct row {
    const char *protocol, *key_exchange, *cipher, *group;
    unsigned rsa_bits;
    const char *curve;
    const char *further; /* keys that differ from the usual */
};

#define LARGE                                                                                                \
    "chain_length=2 certificate_names=100 certificate_policies=2 crl_distribution_points=3 "                 \
    "intermediate_bytes=1500"
#define VERIFIED "chain_length=2 verification=yes trust_anchors_file=root.pem"

static const struct row rows[] = {
    {"TLSv1.2", "RSA", "AES-128-GCM", "-", 1024, "-", ""},
    {"TLSv1.2", "RSA", "AES-256-GCM", "-", 1776, "-", ""},
    {"TLSv1.2", "RSA", "AES-128-GCM", "-", 2048, "-", ""},
    {"TLSv1.2", "RSA", "AES-128-GCM", "-", 3072, "-", ""},
    {"TLSv1.2", "RSA", "AES-128-GCM", "-", 4096, "-", ""},
    {"TLSv1.2", "DHE-RSA", "AES-128-GCM", "dh-1024", 1024, "-", ""},
    {"TLSv1.2", "DHE-RSA", "AES-256-GCM", "dh-1776", 1776, "-", ""},
    {"TLSv1.2", "DHE-RSA", "CHACHA20-POLY1305", "dh-1024", 3072, "-", ""},
    {"TLSv1.2", "DHE-RSA", "AES-128-GCM", "ffdhe2048", 2048, "-", ""},
    {"TLSv1.2", "DHE-RSA", "AES-128-GCM", "ffdhe3072", 2048, "-", ""},
    {"TLSv1.2", "DHE-RSA", "AES-128-GCM", "ffdhe4096", 2048, "-", ""},
    {"TLSv1.2", "ECDHE-RSA", "AES-128-GCM", "secp192r1", 1024, "-", ""},
    {"TLSv1.2", "ECDHE-RSA", "AES-256-GCM", "P-256", 1776, "-", ""},
    {"TLSv1.2", "ECDHE-RSA", "AES-128-GCM", "P-384", 2048, "-", ""},
    {"TLSv1.2", "ECDHE-RSA", "AES-128-GCM", "P-521", 2048, "-", ""},
    {"TLSv1.2", "ECDHE-RSA", "CHACHA20-POLY1305", "X25519", 4096, "-", ""},
    {"TLSv1.2", "ECDHE-ECDSA", "AES-128-GCM", "secp192r1", 0, "secp192r1", ""},
    {"TLSv1.2", "ECDHE-ECDSA", "AES-128-GCM", "P-256", 0, "secp192r1", ""},
    {"TLSv1.2", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "secp192r1", ""},
    {"TLSv1.2", "ECDHE-ECDSA", "AES-128-GCM", "secp192r1", 0, "P-256", ""},
    {"TLSv1.2", "ECDHE-ECDSA", "AES-128-GCM", "P-256", 0, "P-256", ""},
    {"TLSv1.2", "ECDHE-ECDSA", "CHACHA20-POLY1305", "X25519", 0, "P-256", ""},
    {"TLSv1.2", "ECDHE-ECDSA", "AES-256-GCM", "P-256", 0, "P-384", ""},
    {"TLSv1.2", "ECDHE-ECDSA", "AES-256-GCM", "P-384", 0, "P-256", ""},
    {"TLSv1.2", "ECDHE-ECDSA", "AES-256-GCM", "P-521", 0, "P-521", ""},
    {"TLSv1.3", "DHE-RSA", "AES-128-GCM", "ffdhe2048", 2048, "-", ""},
    {"TLSv1.3", "DHE-RSA", "AES-128-GCM", "ffdhe3072", 2048, "-", ""},
    {"TLSv1.3", "ECDHE-RSA", "AES-128-GCM", "X25519", 1024, "-", ""},
    {"TLSv1.3", "ECDHE-RSA", "AES-256-GCM", "P-256", 1776, "-", ""},
    {"TLSv1.3", "ECDHE-RSA", "CHACHA20-POLY1305", "P-384", 2048, "-", ""},
    {"TLSv1.3", "ECDHE-RSA", "AES-128-GCM", "X25519", 3072, "-", ""},
    {"TLSv1.3", "ECDHE-RSA", "AES-128-GCM", "P-521", 4096, "-", ""},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", ""},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "P-256", 0, "P-256", ""},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-256-GCM", "P-256", 0, "P-384", ""},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-256-GCM", "P-384", 0, "P-384", ""},
    {"TLSv1.3", "ECDHE-ECDSA", "CHACHA20-POLY1305", "X25519", 0, "P-521", ""},
    {"TLSv1.2", "ECDHE-RSA", "AES-128-GCM", "X448", 2048, "-", ""},
    {"TLSv1.2", "DHE-RSA", "AES-128-GCM", "ffdhe8192", 2048, "-", ""},
    {"TLSv1.2", "ECDHE-RSA-PSS", "AES-128-GCM", "P-256", 2048, "-", ""},
    {"TLSv1.2", "ECDHE-Ed25519", "AES-128-GCM", "X25519", 0, "-", ""},
    {"TLSv1.2", "ECDHE-Ed448", "AES-128-GCM", "X25519", 0, "-", ""},
    {"TLSv1.2", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", "client_authentication=yes"},
    {"TLSv1.2", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", "ocsp_response=ec-P-256.ocsp.der"},
    {"TLSv1.2", "ECDHE-RSA", "AES-128-GCM", "X25519", 2048, "-", "chain_length=3"},
    {"TLSv1.2", "RSA", "AES-128-GCM", "-", 2048, "-", "resumption=session-id"},
    {"TLSv1.2", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", "resumption=session-id"},
    {"TLSv1.2", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", "resumption=ticket"},
    {"TLSv1.2", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", "threads=2"},
    {"TLSv1.3", "DHE-ECDSA", "AES-128-GCM", "ffdhe6144", 0, "P-256", ""},
    {"TLSv1.3", "ECDHE-RSA", "AES-128-GCM", "X448", 2048, "-", ""},
    {"TLSv1.3", "ECDHE-RSA-PSS", "AES-128-GCM", "P-256", 2048, "-", ""},
    {"TLSv1.3", "ECDHE-Ed25519", "AES-128-GCM", "X25519", 0, "-", ""},
    {"TLSv1.3", "ECDHE-Ed448", "AES-128-GCM", "X448", 0, "-", ""},
    {"TLSv1.3", "ECDHE-ML-DSA-44", "AES-128-GCM", "X25519", 0, "-", ""},
    {"TLSv1.3", "ECDHE-ML-DSA-65", "AES-128-GCM", "X25519MLKEM768", 0, "-", ""},
    {"TLSv1.3", "MLKEM-ML-DSA-87", "AES-256-GCM", "MLKEM1024", 0, "-", ""},
    {"TLSv1.3", "MLKEM-ECDSA", "AES-128-GCM", "MLKEM512", 0, "P-256", ""},
    {"TLSv1.3", "MLKEM-ECDSA", "AES-128-GCM", "MLKEM768", 0, "P-256", ""},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519MLKEM768", 0, "P-256", ""},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "SecP256r1MLKEM768", 0, "P-256", ""},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-256-GCM", "SecP384r1MLKEM1024", 0, "P-384", ""},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", "client_authentication=yes"},
    {"TLSv1.3", "ECDHE-Ed25519", "AES-128-GCM", "X25519", 0, "-", "client_authentication=yes"},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", "ocsp_response=ec-P-256.ocsp.der"},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", "chain_length=3"},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "P-384", 0, "P-256", "hello_retry=yes"},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", "hello_retry=yes"},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", "resumption=psk"},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", "resumption=psk-dhe"},
    {"TLSv1.3", "ECDHE-RSA", "AES-256-GCM", "P-256", 2048, "-", "resumption=psk-dhe threads=2"},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256",
     "resumption=psk-dhe early_data_bytes=1000"},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256",
     "resumption=psk-dhe early_data_bytes=16384 anti_replay=yes"},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", "resumption=psk early_data_bytes=1000"},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", "threads=2"},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "P-256", 0, "P-256", "fips=yes"},
    {"TLSv1.2", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", VERIFIED},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", VERIFIED},
    {"TLSv1.3", "ECDHE-RSA", "AES-128-GCM", "X25519", 2048, "-", VERIFIED},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", VERIFIED " client_authentication=yes"},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", VERIFIED " context=connection"},
    {"TLSv1.2", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", "tickets=default"},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", "tickets=default"},
    {"TLSv1.2", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", "tickets=cached"},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", "tickets=default transfer_bytes=4096"},
    {"TLSv1.2", "ECDHE-ECDSA", "CHACHA20-POLY1305", "X25519", 0, "P-256", "transfer_bytes=1000"},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-256-GCM", "X25519", 0, "P-256", "transfer_bytes=1048576"},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256",
     "resumption=psk-dhe transfer_bytes=16385"},
    {"TLSv1.2", "DHE-RSA", "AES-128-GCM", "dh-1024", 1024, "-", "context=connection"},
    {"TLSv1.2", "RSA", "AES-128-GCM", "-", 2048, "-", "context=connection transfer_bytes=1"},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", "threads=2 context=thread"},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", "threads=2 context=connection"},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", "threads=4 context=pool"},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", "reload_every=2"},
    {"TLSv1.2", "DHE-RSA", "AES-128-GCM", "dh-1024", 1024, "-", "reload_every=1"},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", "server_names=2"},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256",
     VERIFIED " client_authentication=yes server_names=100"},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "P-384", 0, "P-256", "hello_retry=yes server_names=3"},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256",
     "ocsp_response=ec-P-256.ocsp.der tickets=default server_names=3"},
    {"TLSv1.2", "DHE-RSA", "AES-128-GCM", "dh-1024", 1024, "-", "server_names=3"},
    {"default", "default-ECDSA", "-", "-", 0, "P-256", "server_names=3"},
    {"DTLSv1.2", "ECDHE-ECDSA", "AES-128-GCM", "P-256", 0, "P-256", "server_names=3"},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", "threads=2 context=library"},
    {"TLSv1.2", "ECDHE-RSA", "AES-128-GCM", "P-256", 2048, "-", VERIFIED " threads=2 context=library"},
    {"default", "default-ECDSA", "-", "-", 0, "P-256", VERIFIED " transfer_bytes=4096"},
    {"default", "default-RSA", "-", "-", 2048, "-", ""},
    {"default", "default-ECDSA", "-", "-", 0, "P-256", ""},
    {"TLSv1.2", "RSA", "AES-128-CBC-SHA", "-", 2048, "-", ""},
    {"TLSv1.2", "RSA", "AES-256-CBC-SHA256", "-", 2048, "-", "transfer_bytes=20000"},
    {"TLSv1.2", "DHE-RSA", "AES-256-CBC-SHA", "ffdhe2048", 2048, "-", ""},
    {"TLSv1.2", "DHE-RSA", "AES-128-CBC-SHA256", "dh-1024", 1024, "-", ""},
    {"TLSv1.2", "ECDHE-RSA", "AES-128-CBC-SHA", "X25519", 2048, "-", "resumption=ticket"},
    {"TLSv1.2", "ECDHE-RSA", "AES-128-CBC-SHA256", "P-256", 2048, "-", ""},
    {"TLSv1.2", "ECDHE-ECDSA", "AES-256-CBC-SHA", "P-256", 0, "P-256", "resumption=session-id"},
    {"TLSv1.2", "ECDHE-ECDSA", "AES-256-CBC-SHA384", "P-256", 0, "P-256", "transfer_bytes=20000"},
    {"TLSv1.2", "ECDHE-ECDSA", "AES-128-CBC-SHA", "P-256", 0, "P-256", "fips=yes"},
    {"TLSv1.2", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", LARGE},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", LARGE},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", LARGE " client_authentication=yes"},
    {"TLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256",
     LARGE " verification=yes trust_anchors_file=root.pem"},
    {"TLSv1.2", "PSK", "AES-128-GCM", "-", 0, "-", ""},
    {"TLSv1.2", "PSK", "AES-256-GCM", "-", 0, "-", "transfer_bytes=20000"},
    {"TLSv1.2", "PSK", "AES-128-CBC-SHA256", "-", 0, "-", "context=connection"},
    {"TLSv1.2", "DHE-PSK", "AES-128-GCM", "ffdhe2048", 0, "-", ""},
    {"TLSv1.2", "DHE-PSK", "AES-256-GCM", "dh-1024", 0, "-", ""},
    {"TLSv1.2", "ECDHE-PSK", "AES-128-GCM", "P-256", 0, "-", ""},
    {"TLSv1.2", "ECDHE-PSK", "CHACHA20-POLY1305", "X25519", 0, "-", "threads=2"},
    {"TLSv1.2", "ECDHE-PSK", "AES-128-CBC-SHA256", "P-256", 0, "-", ""},
    {"TLSv1.2", "ECDHE-PSK", "AES-256-CBC-SHA384", "P-384", 0, "-", ""},
    {"TLSv1.3", "PSK", "AES-128-GCM", "-", 0, "-", ""},
    {"TLSv1.3", "ECDHE-PSK", "AES-128-GCM", "P-256", 0, "-", ""},
    {"TLSv1.3", "ECDHE-PSK", "CHACHA20-POLY1305", "X25519MLKEM768", 0, "-", "threads=2"},
    {"TLSv1.3", "DHE-PSK", "AES-128-GCM", "ffdhe2048", 0, "-", ""},
    {"DTLSv1.2", "RSA", "AES-128-GCM", "-", 2048, "-", ""},
    {"DTLSv1.2", "ECDHE-ECDSA", "AES-128-GCM", "P-256", 0, "P-256", ""},
    {"DTLSv1.2", "ECDHE-RSA", "AES-256-GCM", "X25519", 4096, "-", ""},
    {"DTLSv1.2", "DHE-RSA", "AES-128-GCM", "ffdhe3072", 2048, "-", ""},
    {"DTLSv1.2", "ECDHE-RSA", "AES-128-GCM", "X25519", 2048, "-", "chain_length=3"},
    {"DTLSv1.2", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", VERIFIED " client_authentication=yes"},
    {"DTLSv1.2", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", "resumption=session-id"},
    {"DTLSv1.2", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", "resumption=ticket"},
    {"DTLSv1.2", "ECDHE-ECDSA", "AES-128-GCM", "X25519", 0, "P-256", "threads=2 context=thread"},
    {"DTLSv1.2", "ECDHE-ECDSA", "AES-256-CBC-SHA384", "P-256", 0, "P-256", LARGE},
    {"DTLSv1.2", "PSK", "AES-256-GCM", "-", 0, "-", ""},
    {"DTLSv1.2", "ECDHE-PSK", "AES-128-CBC-SHA256", "P-256", 0, "-", ""},
    {"DTLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "P-256", 0, "P-256", ""},
    {"DTLSv1.3", "ECDHE-RSA", "AES-128-GCM", "X25519", 2048, "-", "chain_length=3"},
    {"DTLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "X25519MLKEM768", 0, "P-256", ""},
    {"DTLSv1.3", "ECDHE-ECDSA", "AES-128-GCM", "P-256", 0, "P-256", "resumption=psk-dhe"},
    {"DTLSv1.3", "ECDHE-PSK", "AES-128-GCM", "P-256", 0, "-", ""},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static struct tls_case read_case(const char *line) {
    char reason[REASON_MAX];
    struct request request;
    if (!request_parse(line, strlen(line), &request, reason))
        CHECK_TEXT(reason, line);
    return request.tls_case;
}

/* The name of the row's key among the material: "rsa-pss-2048", "ec-P-256", "ml-dsa-65". */
static void key_name(const struct row *row, char *out, size_t size) {
    enum method method;
    enum key_type type;
    CHECK(key_exchange_from_name(row->key_exchange, &method, &type));
    const char *chain = strstr(row->further, "chain_length=3") != NULL       ? "-chain-3"
                        : strstr(row->further, "certificate_names=") != NULL ? "-large"
                        : strstr(row->further, "verification=yes") != NULL   ? "-verified"
                                                                             : "";
    if (is_rsa_key(type))
        snprintf(out, size, "%s-%u%s", type == KEY_RSA ? "rsa" : "rsa-pss", row->rsa_bits, chain);
    else if (type == KEY_ECDSA)
        snprintf(out, size, "ec-%s%s", row->curve, chain);
    else
        snprintf(out, size, "%s%s", key_type_name(type), chain);
    for (char *c = out; type != KEY_ECDSA && *c != '\0'; c++)
        *c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
}

/* Appends the usual values of the keys that `line` does not hold. */
static void fill_up(char *line, size_t size) {
    static const char *const usual[] = {"dh_parameters=-",
                                        "ocsp_response=-",
                                        "chain_length=1",
                                        "client_authentication=no",
                                        "resumption=none",
                                        "early_data_bytes=0",
                                        "anti_replay=no",
                                        "hello_retry=no",
                                        "fips=no",
                                        "threads=1",
                                        "verification=no",
                                        "trust_anchors_file=-",
                                        "trust_anchors=1",
                                        "tickets=none",
                                        "transfer_bytes=0",
                                        "context=shared",
                                        "roles=both",
                                        "certificate_names=1",
                                        "certificate_policies=0",
                                        "crl_distribution_points=0",
                                        "intermediate_bytes=0",
                                        "trust_store=file",
                                        "reload_every=0",
                                        "server_names=1"};
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) {
        char key[64];
        size_t length = strlen(line);
        snprintf(key, sizeof key, " %.*s=", (int)strcspn(usual[i], "="), usual[i]);
        if (strstr(line, key) == NULL)
            snprintf(line + length, size - length, " %s", usual[i]);
    }
}

/* The `setup` request of a row. */
static void line_of(const struct row *row, char *line, size_t size) {
    char name[64], dh[64] = "-", files[192] = "key=key.psk certificate=-";
    key_name(row, name, sizeof name);
    if (strstr(row->key_exchange, "PSK") == NULL)
        snprintf(files, sizeof files, "key=%s.key.pem certificate=%s.cert.pem", name, name);
    if (strncmp(row->group, "dh-", 3) == 0)
        snprintf(dh, sizeof dh, "%s.pem", row->group);
    snprintf(line, size,
             "setup id=a protocol=%s key_exchange=%s cipher=%s group=%s rsa_bits=%u curve=%s %s "
             "dh_parameters=%s%s%s",
             row->protocol, row->key_exchange, row->cipher, row->group, row->rsa_bits, row->curve, files, dh,
             row->further[0] == '\0' ? "" : " ", row->further);
    fill_up(line, size);
}

static struct tls_case case_of(const struct row *row) {
    char line[2048];
    line_of(row, line, sizeof line);
    return read_case(line);
}

#endif
