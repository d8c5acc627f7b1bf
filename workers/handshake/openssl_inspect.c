/* What one side of a finished OpenSSL handshake negotiated, from what the library reports and not from
 * the case. Runs after every handshake, outside the timed turns. */
#include "openssl_backend.h"
#include "words.h"

#include <string.h>

static const char *protocol_of(SSL *ssl) {
    switch (SSL_version(ssl)) {
    case TLS1_2_VERSION:
        return protocol_name(TLS_1_2);
    case TLS1_3_VERSION:
        return protocol_name(TLS_1_3);
    case DTLS1_2_VERSION:
        return protocol_name(DTLS_1_2);
    default:
        return SSL_get_version(ssl);
    }
}

static bool is_1_2(SSL *ssl) {
    return SSL_version(ssl) == TLS1_2_VERSION || SSL_version(ssl) == DTLS1_2_VERSION;
}

static const char *cipher_of(const SSL_CIPHER *cipher) {
    static const struct {
        int cipher, digest;
        enum cipher ours;
    } cbc[] = {{NID_aes_128_cbc, NID_sha1, AES_128_CBC_SHA},
               {NID_aes_256_cbc, NID_sha1, AES_256_CBC_SHA},
               {NID_aes_128_cbc, NID_sha256, AES_128_CBC_SHA256},
               {NID_aes_256_cbc, NID_sha256, AES_256_CBC_SHA256},
               {NID_aes_256_cbc, NID_sha384, AES_256_CBC_SHA384}};
    for (size_t i = 0; i < sizeof cbc / sizeof cbc[0]; i++) {
        if (SSL_CIPHER_get_cipher_nid(cipher) == cbc[i].cipher &&
            SSL_CIPHER_get_digest_nid(cipher) == cbc[i].digest)
            return cipher_name(cbc[i].ours);
    }
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

/* Custom DH parameters have no name: they are the case's exactly when the prime is. */
static const char *group_of_prime(struct side *side, EVP_PKEY *share) {
    const struct context *c = side->context;
    BIGNUM *p = NULL, *g = NULL;
    long private_bits = 0;
    const char *word = "unreadable DH parameters";
    if (compat_dh_numbers(share, &p, &g, &private_bits)) {
        if (c->dh_prime != NULL && BN_cmp(p, c->dh_prime) == 0 && BN_is_word(g, 2)) {
            word = c->tls_case.group_name;
        } else {
            word = lasting_word("unknown DH parameters of %d bits", BN_num_bits(p));
        }
    }
    BN_free(p);
    BN_free(g);
    return word;
}

static const char *group_of_share(struct side *side, EVP_PKEY *share) {
    bool custom = side->context->dh_prime != NULL && EVP_PKEY_base_id(share) == EVP_PKEY_DH;
    int nid = custom ? NID_undef : compat_group_nid(share);
    return nid == NID_undef ? group_of_prime(side, share) : openssl_group_word(OBJ_nid2sn(nid));
}

/* The client's view is the server's ephemeral public key as it came over the wire. With ML-KEM there is no
 * such key but a ciphertext, and the library's word has to do; that there was one at all in a resumption is
 * then read off the ServerHello. */
static const char *group_of_client(struct side *side, bool with_key) {
    EVP_PKEY *share = NULL;
    if (compat_peer_share(side->ssl, &share)) {
        const char *word = group_of_share(side, share);
        EVP_PKEY_free(share);
        return word;
    }
    const char *word = openssl_group_word(compat_group_name(side->ssl));
    const struct tls_case *c = &side->context->tls_case;
    bool encapsulated = is_hybrid(c->group) || is_mlkem(c->group);
    bool exchanges = c->resumption == RESUME_PSK_DHE || (case_has_psk(c) && c->method != METHOD_PSK);
    return with_key && (!encapsulated || !exchanges) ? "-" : word;
}

/* The server forgets its DH key in TLS 1.2, and then can't tell its group. In a resumption its library goes
 * on telling the session's first group, so that the client's share has to show that there was an exchange. */
static const char *group_of_server(struct side *side, const SSL_CIPHER *cipher, bool with_key) {
    EVP_PKEY *share = NULL;
    int kx = SSL_CIPHER_get_kx_nid(cipher);
    if (with_key && !compat_peer_share(side->ssl, &share))
        return "-";
    EVP_PKEY_free(share);
    return kx == NID_kx_dhe || kx == NID_kx_dhe_psk ? NULL : openssl_group_word(compat_group_name(side->ssl));
}

/* `with_key`: the secrets are a pre-shared key's, be it a resumption's or, in TLS 1.3, an external one. */
static const char *group_of(struct side *side, const SSL_CIPHER *cipher, bool with_key) {
    int kx = SSL_CIPHER_get_kx_nid(cipher);
    if (kx == NID_kx_rsa || kx == NID_kx_psk || (with_key && is_1_2(side->ssl)))
        return "-";
    if (COMPAT_ALWAYS_EXCHANGES)
        return openssl_group_word(compat_group_name(side->ssl));
    return side->role == ROLE_CLIENT ? group_of_client(side, with_key)
                                     : group_of_server(side, cipher, with_key);
}

/* NULL: the library does not tell what its own side signed with, and the peer's view stands alone. */
static const char *own_signature(SSL *ssl, X509 *own) {
    const char *word =
        COMPAT_TELLS_OWN_SIGNATURE ? compat_signature_name(ssl, false, X509_get0_pubkey(own)) : NULL;
    return word == NULL && COMPAT_TELLS_OWN_SIGNATURE ? "-" : word;
}

static const char *signature_of(SSL *ssl, enum role role, const SSL_CIPHER *cipher, X509 *servers) {
    EVP_PKEY *key = servers == NULL ? NULL : X509_get0_pubkey(servers);
    bool none = SSL_CIPHER_get_kx_nid(cipher) == NID_kx_rsa;
    if (!none && role == ROLE_SERVER && servers != NULL)
        return own_signature(ssl, servers);
    const char *word = none ? NULL : compat_signature_name(ssl, role == ROLE_CLIENT, key);
    return word == NULL ? "-" : word; /* no ServerKeyExchange and no CertificateVerify was there */
}

static void key_of(X509 *certificate, struct negotiated *out) {
    EVP_PKEY *key = X509_get0_pubkey(certificate);
    int type = key == NULL ? NID_undef : EVP_PKEY_base_id(key);
    bool sized = type == EVP_PKEY_RSA || type == EVP_PKEY_RSA_PSS || type == EVP_PKEY_EC;
    out->peer_key = openssl_key_word(key);
    out->peer_key_bits = sized ? (unsigned)EVP_PKEY_bits(key) : 0;
}

/* The copy lives no longer than this: an open connection holds the library's memory, not the proof's. */
static bool is_the_cases(const struct side *side, X509 *certificate, unsigned place) {
    const struct der *wanted = &side->context->chain[place];
    unsigned char *der = NULL;
    int length = wanted->bytes == NULL ? 0 : i2d_X509(certificate, &der);
    bool same = length > 0 && length == wanted->length && memcmp(der, wanted->bytes, (size_t)length) == 0;
    OPENSSL_free(der);
    return same;
}

/* Is every certificate the case's, as far as the chain goes? How far, `chain_length` tells. The library lists
 * the server's own certificate with its chain, and a client's without. */
static bool shows_the_cases(const struct side *side, X509 *shown, STACK_OF(X509) * chain, int listed) {
    bool same = is_the_cases(side, shown, 0);
    for (int i = listed; same && i < sk_X509_num(chain) && i - listed + 1 < CHAIN_MAX; i++)
        same = is_the_cases(side, sk_X509_value(chain, i), (unsigned)(i - listed + 1));
    return same;
}

static bool client_saw_response(struct side *side, struct negotiated *out, struct fault *fault) {
    const struct material *wanted = &side->context->ocsp_response;
    const unsigned char *got = NULL;
    long length = (long)SSL_get_tlsext_status_ocsp_resp(side->ssl, &got);
    out->ocsp_bytes = got == NULL || length < 0 ? 0 : length;
    if (out->ocsp_bytes == (long)wanted->length &&
        (got == NULL || memcmp(got, wanted->bytes, wanted->length) == 0))
        return true;
    return fault_set(fault, FAULT_MISMATCH, "ocsp_response: the client got %s than %s",
                     out->ocsp_bytes == 0 ? "none rather" : "another", side->context->tls_case.ocsp_response);
}

/* Certificates from the peer's to the case's trust anchor; 0 where nothing was verified. */
static bool verified_length(struct side *side, int *out, struct fault *fault) {
    const struct context *c = side->context;
    STACK_OF(X509) *chain = compat_verified_chain(side->ssl);
    *out = 0;
    if (!case_verifies(&c->tls_case, side->role == ROLE_CLIENT))
        return true;
    long result = SSL_get_verify_result(side->ssl);
    if (result != X509_V_OK || sk_X509_num(chain) <= 0)
        return fault_set(fault, FAULT_MISMATCH, "verification: %s",
                         result == X509_V_OK ? "the library built no chain"
                                             : X509_verify_cert_error_string(result));
    if (X509_cmp(sk_X509_value(chain, sk_X509_num(chain) - 1), c->trust_anchor) != 0)
        return fault_set(fault, FAULT_MISMATCH, "verification: the chain leads to another trust anchor");
    const char *host = compat_verified_host(side->ssl, sk_X509_value(chain, 0));
    if (side->role == ROLE_CLIENT && (host == NULL || strcmp(host, VERIFIED_HOST) != 0))
        return fault_set(fault, FAULT_MISMATCH, "verification: the host name was not compared");
    *out = sk_X509_num(chain);
    return true;
}

static bool client_saw(struct side *side, X509 *shown, struct negotiated *out, struct fault *fault) {
    if (shown == NULL)
        return openssl_fault(fault, FAULT_ERROR, "the handshake left no certificate");
    STACK_OF(X509) *chain = SSL_get_peer_cert_chain(side->ssl);
    if (!shows_the_cases(side, shown, chain, 1))
        return fault_set(fault, FAULT_MISMATCH, "certificate: the server showed another than %s",
                         side->context->tls_case.certificate);
    key_of(shown, out);
    out->client_signature = own_signature(side->ssl, shown); /* both certificates are the same */
    out->chain_length = sk_X509_num(chain);
    return verified_length(side, &out->verified_length, fault) && client_saw_response(side, out, fault);
}

/* A session without an id is in no cache. */
static bool is_cached(SSL *ssl) {
    unsigned length = 0;
    const unsigned char *id = SSL_SESSION_get_id(SSL_get_session(ssl), &length);
    return length > 0 && COMPAT_IS_CACHED(ssl, id, length) == 1;
}

static bool server_saw(struct side *side, X509 *own, struct negotiated *out, struct fault *fault) {
    X509 *shown = compat_peer_certificate(side->ssl);
    if (own == NULL)
        return openssl_fault(fault, FAULT_ERROR, "the handshake left no certificate");
    if (side->context->tls_case.tickets == TICKETS_CACHED && !is_cached(side->ssl))
        return fault_set(fault, FAULT_MISMATCH,
                         "tickets: wanted cached, the server's cache has not the session");
    key_of(own, out);
    out->client_key = shown == NULL ? "-" : openssl_key_word(X509_get0_pubkey(shown));
    const char *signature =
        shown == NULL ? NULL : compat_signature_name(side->ssl, true, X509_get0_pubkey(shown));
    out->client_signature = signature == NULL ? "-" : signature;
    if (shown != NULL && !shows_the_cases(side, shown, SSL_get_peer_cert_chain(side->ssl), 0))
        return fault_set(fault, FAULT_MISMATCH, "certificate: the client showed another than %s",
                         side->context->tls_case.certificate);
    out->client_verified_length = 0;
    return shown == NULL || verified_length(side, &out->client_verified_length, fault);
}

bool openssl_counts_tickets(const struct side *side) {
    const struct tls_case *c = &side->context->tls_case;
    return side->role == ROLE_CLIENT ? c->tickets == TICKETS_DEFAULT
                                     : COMPAT_PACKS_TICKETS && c->protocol == PROTOCOL_DEFAULT;
}

bool openssl_inspect(struct side *side, struct negotiated *out, struct fault *fault) {
    SSL *ssl = side->ssl;
    const SSL_CIPHER *cipher = SSL_get_current_cipher(ssl);
    bool with_key = SSL_session_reused(ssl);
    /* The library says so of an external key of TLS 1.3, too. The ClientHello tells which it was (pair.c). */
    bool resumed = with_key && !(case_has_psk(&side->context->tls_case) && !is_1_2(ssl));
    /* A resumed session still holds the certificate of its first handshake, which this one did not show. */
    X509 *servers = resumed                     ? NULL
                    : side->role == ROLE_CLIENT ? compat_peer_certificate(ssl)
                                                : SSL_get_certificate(ssl);
    if (cipher == NULL)
        return openssl_fault(fault, FAULT_ERROR, "the handshake left no cipher");
    out->protocol = protocol_of(ssl);
    out->cipher = cipher_of(cipher);
    out->group = group_of(side, cipher, with_key);
    out->signature = signature_of(ssl, side->role, cipher, servers);
    out->resumed = resumed;
    if (is_1_2(ssl))
        out->extended_master_secret = (int)SSL_get_extms_support(ssl);
    out->early_data_bytes = compat_early_data_accepted(ssl) ? (long)side->early_data_bytes : 0;
    if (side->role == ROLE_CLIENT || openssl_counts_tickets(side))
        out->tickets = side->tickets;
    if (resumed)
        return true;
    if (case_has_psk(&side->context->tls_case))
        return openssl_proves_psk(side, out, fault);
    if (side->role == ROLE_SERVER && side->context->names != NULL)
        out->server_name = openssl_served_name(side);
    return side->role == ROLE_CLIENT ? client_saw(side, servers, out, fault)
                                     : server_saw(side, servers, out, fault);
}
