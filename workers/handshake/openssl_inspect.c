/* What a finished OpenSSL handshake negotiated, from what the library reports and not from
 * the case. Runs after every handshake, outside the timed turns. */
#include "openssl_backend.h"

#include <string.h>

static const char *protocol_of(SSL *ssl) {
    switch (SSL_version(ssl)) {
    case TLS1_2_VERSION:
        return protocol_name(TLS_1_2);
    case TLS1_3_VERSION:
        return protocol_name(TLS_1_3);
    default:
        return SSL_get_version(ssl);
    }
}

static const char *cipher_of(const SSL_CIPHER *cipher) {
    switch (SSL_CIPHER_get_cipher_nid(cipher)) {
    case NID_aes_128_gcm:
        return cipher_name(AES_128_GCM);
    case NID_aes_256_gcm:
        return cipher_name(AES_256_GCM);
    case NID_chacha20_poly1305:
        return cipher_name(CHACHA20_POLY1305);
    default:
        return SSL_CIPHER_get_name(cipher);
    }
}

const char *openssl_key_word(EVP_PKEY *key) {
    int type = key == NULL ? NID_undef : EVP_PKEY_base_id(key);
    return type == EVP_PKEY_RSA ? "RSA" : type == EVP_PKEY_EC ? "EC" : OBJ_nid2sn(type);
}

/* Custom DH parameters have no name: they are the case's exactly when the prime is. */
static const char *group_of_prime(struct context *c, EVP_PKEY *share) {
    BIGNUM *p = NULL, *g = NULL;
    long private_bits = 0;
    const char *word = "unreadable DH parameters";
    if (compat_dh_numbers(share, &p, &g, &private_bits)) {
        if (c->dh_prime != NULL && BN_cmp(p, c->dh_prime) == 0 && BN_is_word(g, 2)) {
            word = c->tls_case.group_name;
        } else {
            snprintf(c->unnamed_group, sizeof c->unnamed_group, "unknown DH parameters of %d bits",
                     BN_num_bits(p));
            word = c->unnamed_group;
        }
    }
    BN_free(p);
    BN_free(g);
    return word;
}

/* The client's view: the server's ephemeral public key, as it came over the wire. */
static const char *group_of_client(struct context *c, const SSL_CIPHER *cipher) {
    EVP_PKEY *share = NULL;
    if (SSL_CIPHER_get_kx_nid(cipher) == NID_kx_rsa)
        return "-";
    if (!SSL_get_peer_tmp_key(c->client, &share))
        return NULL;
    int nid =
        c->dh_prime != NULL && EVP_PKEY_base_id(share) == EVP_PKEY_DH ? NID_undef : compat_group_nid(share);
    const char *word = nid == NID_undef ? group_of_prime(c, share) : openssl_group_word(nid);
    EVP_PKEY_free(share);
    return word;
}

/* The server forgets its DH key in TLS 1.2, and then can't tell its group. */
static const char *group_of_server(SSL *ssl, const SSL_CIPHER *cipher) {
    int kx = SSL_CIPHER_get_kx_nid(cipher);
    if (kx == NID_kx_rsa)
        return "-";
    if (kx == NID_kx_dhe)
        return NULL;
    int nid = compat_server_group_nid(ssl);
    return nid == NID_undef ? NULL : openssl_group_word(nid);
}

/* The library tells type and digest of a signature; together with the key's type they name the scheme. */
static const char *signature_word(int type, int digest) {
    static const struct {
        int type, digest;
        const char *word;
    } table[] = {
        {EVP_PKEY_RSA, NID_sha256, "rsa_pkcs1_sha256"},
        {EVP_PKEY_RSA, NID_sha384, "rsa_pkcs1_sha384"},
        {EVP_PKEY_RSA, NID_sha512, "rsa_pkcs1_sha512"},
        /* Cases have no RSA-PSS keys, which would make it rsa_pss_pss_*: peer_key tells. */
        {EVP_PKEY_RSA_PSS, NID_sha256, "rsa_pss_rsae_sha256"},
        {EVP_PKEY_RSA_PSS, NID_sha384, "rsa_pss_rsae_sha384"},
        {EVP_PKEY_RSA_PSS, NID_sha512, "rsa_pss_rsae_sha512"},
        {EVP_PKEY_EC, NID_sha256, "ecdsa_secp256r1_sha256"},
        {EVP_PKEY_EC, NID_sha384, "ecdsa_secp384r1_sha384"},
        {EVP_PKEY_EC, NID_sha512, "ecdsa_secp521r1_sha512"},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (table[i].type == type && table[i].digest == digest)
            return table[i].word;
    }
    return OBJ_nid2sn(type);
}

static const char *signature_of_client(SSL *ssl) {
    int type = NID_undef, digest = NID_undef;
    if (!SSL_get_peer_signature_type_nid(ssl, &type))
        return "-"; /* no ServerKeyExchange and no CertificateVerify was seen */
    SSL_get_peer_signature_nid(ssl, &digest);
    return signature_word(type, digest);
}

static const char *signature_of_server(SSL *ssl, const SSL_CIPHER *cipher) {
    int type = NID_undef, digest = NID_undef;
    if (SSL_CIPHER_get_kx_nid(cipher) == NID_kx_rsa)
        return "-";
    if (!SSL_get_signature_type_nid(ssl, &type) || !SSL_get_signature_nid(ssl, &digest))
        return NULL;
    return signature_word(type, digest);
}

static void key_of(X509 *certificate, struct negotiated *out) {
    EVP_PKEY *key = X509_get0_pubkey(certificate);
    out->peer_key = openssl_key_word(key);
    out->peer_key_bits = key == NULL ? 0 : (unsigned)EVP_PKEY_bits(key);
}

static bool same_certificate(struct context *c, X509 *certificate) {
    unsigned char *to = c->peer_der;
    return i2d_X509(certificate, NULL) == c->certificate_der_length &&
           i2d_X509(certificate, &to) == c->certificate_der_length &&
           memcmp(c->peer_der, c->certificate_der, (size_t)c->certificate_der_length) == 0;
}

bool openssl_inspect(struct context *c, struct negotiated *client, struct negotiated *server,
                     struct fault *fault) {
    X509 *peer = compat_peer_certificate(c->client), *own = SSL_get_certificate(c->server);
    const SSL_CIPHER *clients = SSL_get_current_cipher(c->client),
                     *servers = SSL_get_current_cipher(c->server);
    if (peer == NULL || own == NULL || clients == NULL || servers == NULL)
        return openssl_fault(fault, FAULT_ERROR, "the handshake left no certificate or no cipher");
    if (!same_certificate(c, peer))
        return fault_set(fault, FAULT_MISMATCH, "certificate: the server showed another than %s",
                         c->tls_case.certificate);
    *client = (struct negotiated){.protocol = protocol_of(c->client),
                                  .cipher = cipher_of(clients),
                                  .group = group_of_client(c, clients),
                                  .signature = signature_of_client(c->client),
                                  .resumed = SSL_session_reused(c->client)};
    *server = (struct negotiated){.protocol = protocol_of(c->server),
                                  .cipher = cipher_of(servers),
                                  .group = group_of_server(c->server, servers),
                                  .signature = signature_of_server(c->server, servers),
                                  .resumed = SSL_session_reused(c->server)};
    key_of(peer, client);
    key_of(own, server);
    return true;
}
