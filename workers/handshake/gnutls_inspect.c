/* What a finished GnuTLS handshake negotiated, from what the library reports and not from the
 * case. Runs after every handshake, outside the timed turns. */
#include "gnutls_backend.h"

#include <stdio.h>
#include <string.h>

static const char *protocol_of(gnutls_session_t session) {
    gnutls_protocol_t version = gnutls_protocol_get_version(session);
    if (version == GNUTLS_TLS1_2)
        return protocol_name(TLS_1_2);
    if (version == GNUTLS_TLS1_3)
        return protocol_name(TLS_1_3);
    return gnutls_protocol_get_name(version);
}

static const char *cipher_of(gnutls_session_t session) {
    gnutls_cipher_algorithm_t cipher = gnutls_cipher_get(session);
    switch (cipher) {
    case GNUTLS_CIPHER_AES_128_GCM:
        return cipher_name(AES_128_GCM);
    case GNUTLS_CIPHER_AES_256_GCM:
        return cipher_name(AES_256_GCM);
    case GNUTLS_CIPHER_CHACHA20_POLY1305:
        return cipher_name(CHACHA20_POLY1305);
    default:
        return gnutls_cipher_get_name(cipher);
    }
}

/* Custom DH parameters have no name: they are the case's exactly when the prime is. */
static const char *group_of_prime(struct context *c, gnutls_session_t session) {
    gnutls_datum_t generator = {0}, prime = {0}, two = {(unsigned char *)"\x02", 1};
    if (gnutls_dh_get_group(session, &generator, &prime) < 0)
        return NULL;
    const char *word = c->tls_case.group_name;
    if (c->dh == NULL || !gnutls_same_number(prime, c->dh_prime) || !gnutls_same_number(generator, two)) {
        snprintf(c->unnamed_group, sizeof c->unnamed_group, "unknown DH parameters of %u bits",
                 gnutls_number_bits(prime));
        word = c->unnamed_group;
    }
    gnutls_free(generator.data);
    gnutls_free(prime.data);
    return word;
}

static const char *group_of(struct context *c, gnutls_session_t session) {
    gnutls_kx_algorithm_t kx = gnutls_kx_get(session);
    gnutls_group_t group = gnutls_group_get(session);
    if (kx == GNUTLS_KX_RSA)
        return "-";
    switch (group) {
    case GNUTLS_GROUP_INVALID:
        return kx == GNUTLS_KX_DHE_RSA ? group_of_prime(c, session) : NULL;
    case GNUTLS_GROUP_X25519:
        return group_name(GROUP_X25519);
    case GNUTLS_GROUP_FFDHE2048:
        return group_name(GROUP_FFDHE2048);
    case GNUTLS_GROUP_FFDHE3072:
        return group_name(GROUP_FFDHE3072);
    case GNUTLS_GROUP_FFDHE4096:
        return group_name(GROUP_FFDHE4096);
    default:
        break;
    }
    unsigned bits;
    const char *curve = gnutls_our_curve((gnutls_ecc_curve_t)group, &bits); /* the numbers are the same */
    return curve != NULL ? curve : gnutls_group_get_name(group);
}

/* The library has two numbers for what is one code point in TLS: for 1.2 and for 1.3. */
static const char *signature_of(gnutls_session_t session) {
    if (gnutls_kx_get(session) == GNUTLS_KX_RSA)
        return "-"; /* nothing was signed, but the library tells what it would have used */
    int sign = gnutls_sign_algorithm_get(session);
    switch (sign) {
    case GNUTLS_SIGN_RSA_SHA256:
        return "rsa_pkcs1_sha256";
    case GNUTLS_SIGN_RSA_PSS_RSAE_SHA256:
        return "rsa_pss_rsae_sha256";
    case GNUTLS_SIGN_ECDSA_SHA256:
    case GNUTLS_SIGN_ECDSA_SECP256R1_SHA256:
        return "ecdsa_secp256r1_sha256";
    case GNUTLS_SIGN_ECDSA_SHA384:
    case GNUTLS_SIGN_ECDSA_SECP384R1_SHA384:
        return "ecdsa_secp384r1_sha384";
    case GNUTLS_SIGN_ECDSA_SHA512:
    case GNUTLS_SIGN_ECDSA_SECP521R1_SHA512:
        return "ecdsa_secp521r1_sha512";
    default:
        return gnutls_sign_get_name((gnutls_sign_algorithm_t)sign);
    }
}

static bool same_bytes(const gnutls_datum_t *a, const gnutls_datum_t *b) {
    return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

static struct negotiated view(struct context *c, gnutls_session_t session) {
    return (struct negotiated){.protocol = protocol_of(session),
                               .cipher = cipher_of(session),
                               .group = group_of(c, session),
                               .signature = signature_of(session),
                               /* Read from the case's certificate at set-up: the peer's is the same bytes. */
                               .peer_key = c->key_word,
                               .peer_key_bits = c->key_bits,
                               .resumed = gnutls_session_is_resumed(session) != 0};
}

bool gnutls_inspect(struct context *c, struct negotiated *client, struct negotiated *server,
                    struct fault *fault) {
    unsigned count = 0;
    const gnutls_datum_t *peer = gnutls_certificate_get_peers(c->client, &count);
    const gnutls_datum_t *own = gnutls_certificate_get_ours(c->server);
    if (peer == NULL || count == 0 || own == NULL)
        return fault_set(fault, FAULT_ERROR, "the handshake left no certificate");
    if (!same_bytes(&peer[0], &c->certificate_der) || !same_bytes(own, &c->certificate_der))
        return fault_set(fault, FAULT_MISMATCH, "certificate: the server showed another than %s",
                         c->tls_case.certificate);
    *client = view(c, c->client);
    *server = view(c, c->server);
    return true;
}
