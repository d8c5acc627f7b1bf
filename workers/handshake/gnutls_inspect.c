/* What a finished GnuTLS handshake negotiated, from what the library reports and not from the
 * case. Runs after every handshake, outside the timed turns. */
#include "gnutls_backend.h"
#include "words.h"

#include <string.h>

static const char *protocol_of(gnutls_session_t session) {
    gnutls_protocol_t version = gnutls_protocol_get_version(session);
    if (version == GNUTLS_TLS1_2)
        return protocol_name(TLS_1_2);
    if (version == GNUTLS_TLS1_3)
        return protocol_name(TLS_1_3);
    if (version == GNUTLS_DTLS1_2)
        return protocol_name(DTLS_1_2);
    return gnutls_protocol_get_name(version);
}

static const char *cipher_of(gnutls_session_t session) {
    gnutls_cipher_algorithm_t cipher = gnutls_cipher_get(session);
    enum cipher cbc;
    if (gnutls_our_cbc(cipher, gnutls_mac_get(session), &cbc))
        return cipher_name(cbc);
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
static const char *group_of_prime(struct side *side) {
    const struct context *c = side->context;
    gnutls_datum_t generator = {0}, prime = {0}, two = {(unsigned char *)"\x02", 1};
    if (gnutls_dh_get_group(side->session, &generator, &prime) < 0)
        return NULL;
    const char *word = c->tls_case.group_name;
    if (c->dh_prime.size == 0 || !gnutls_same_number(prime, c->dh_prime) ||
        !gnutls_same_number(generator, two)) {
        word = lasting_word("unknown DH parameters of %u bits", gnutls_number_bits(prime));
    }
    gnutls_free(generator.data);
    gnutls_free(prime.data);
    return word;
}

static const char *group_of(struct side *side, bool resumed) {
    gnutls_session_t session = side->session;
    gnutls_kx_algorithm_t kx = gnutls_kx_get(session);
    gnutls_group_t group = gnutls_group_get(session);
    bool tls_1_3 = gnutls_protocol_get_version(session) == GNUTLS_TLS1_3;
    if (kx == GNUTLS_KX_RSA || kx == GNUTLS_KX_PSK)
        return "-";
    if (resumed && (!tls_1_3 || group == GNUTLS_GROUP_INVALID))
        return "-"; /* in TLS 1.2 the library still tells the group of the session's first handshake */
    if (group == GNUTLS_GROUP_INVALID)
        return kx == GNUTLS_KX_DHE_RSA || kx == GNUTLS_KX_DHE_PSK ? group_of_prime(side) : NULL;
    const char *name = gnutls_group_get_name(group), *ours = gnutls_our_group(name);
    return ours != NULL ? ours : name;
}

static const char *signature_of(gnutls_session_t session, bool resumed) {
    if (resumed || gnutls_kx_get(session) == GNUTLS_KX_RSA || gnutls_auth_get_type(session) == GNUTLS_CRD_PSK)
        return "-"; /* nothing was signed, but the library tells what it would have used, or once used */
    int sign = gnutls_sign_algorithm_get(session);
    const char *name = gnutls_sign_get_name((gnutls_sign_algorithm_t)sign),
               *ours = gnutls_our_signature(name);
    return ours != NULL ? ours : name;
}

/* Unknown is the library's word for none. */
static const char *client_signature_of(gnutls_session_t session) {
    int sign = gnutls_sign_algorithm_get_client(session);
    const char *name = gnutls_sign_get_name((gnutls_sign_algorithm_t)sign),
               *ours = gnutls_our_signature(name);
    return sign == GNUTLS_SIGN_UNKNOWN || name == NULL ? "-" : ours != NULL ? ours : name;
}

static bool same_bytes(const gnutls_datum_t *a, const gnutls_datum_t *b) {
    return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

/* Is the list the case's chain as far as it goes? How far, `chain_length` tells. */
static bool is_ours(const struct context *c, const gnutls_datum_t *list, unsigned count) {
    for (unsigned i = 0; i < count && i < c->chain_length; i++) {
        if (!same_bytes(&list[i], &c->chain[i]))
            return false;
    }
    return true;
}

static bool other_certificate(const struct context *c, const char *who, struct fault *fault) {
    return fault_set(fault, FAULT_MISMATCH, "certificate: the %s showed another than %s", who,
                     c->tls_case.certificate);
}

/* The status is that of the chain which was compared with the case's, whose trust anchor set-up found. */
static bool verified_length(struct side *side, int *out, struct fault *fault) {
    const struct context *c = side->context;
    *out = 0;
    if (!case_verifies(&c->tls_case, side->role == ROLE_CLIENT))
        return true;
    unsigned status = gnutls_session_get_verify_cert_status(side->session);
    if (status != 0)
        return fault_set(fault, FAULT_MISMATCH, "verification: the library reports status %#x", status);
    *out = (int)c->chain_length + 1;
    return true;
}

/* Key words are read from the case's certificate: what was shown is the same bytes. */
static bool inspect_client(struct side *side, struct negotiated *out, struct fault *fault) {
    const struct context *c = side->context;
    unsigned count = 0;
    const gnutls_datum_t *peer = gnutls_certificate_get_peers(side->session, &count);
    if (peer == NULL || count == 0)
        return fault_set(fault, FAULT_ERROR, "the handshake left no certificate");
    if (!is_ours(c, peer, count))
        return other_certificate(c, "server", fault);
    out->peer_key = peer_key_name(c->tls_case.key_type);
    out->peer_key_bits = c->key_bits;
    out->chain_length = (int)count;
    gnutls_datum_t response = {0};
    out->ocsp_bytes = gnutls_ocsp_status_request_get(side->session, &response) < 0 ? 0 : response.size;
    if (c->ocsp.size > 0 && !same_bytes(&response, &c->ocsp))
        return fault_set(fault, FAULT_MISMATCH, "ocsp_response: the server stapled %s %s",
                         out->ocsp_bytes == 0 ? "nothing instead of" : "another than",
                         c->tls_case.ocsp_response);
    return verified_length(side, &out->verified_length, fault);
}

static bool inspect_server(struct side *side, struct negotiated *out, struct fault *fault) {
    const struct context *c = side->context;
    unsigned count = 0;
    const gnutls_datum_t *own = gnutls_certificate_get_ours(side->session);
    const gnutls_datum_t *peer = gnutls_certificate_get_peers(side->session, &count);
    if (own == NULL)
        return fault_set(fault, FAULT_ERROR, "the handshake left no certificate");
    if (!is_ours(c, own, 1))
        return other_certificate(c, "server", fault);
    if (peer != NULL && !is_ours(c, peer, count))
        return other_certificate(c, "client", fault);
    out->server_name = gnutls_served_name(side);
    bool shown = peer != NULL && count > 0;
    out->client_key = shown ? peer_key_name(c->tls_case.key_type) : "-";
    out->client_verified_length = 0;
    return !shown || verified_length(side, &out->client_verified_length, fault);
}

bool gnutls_inspect(struct side *side, struct negotiated *out, struct fault *fault) {
    bool resumed = gnutls_session_is_resumed(side->session) != 0;
    out->protocol = protocol_of(side->session);
    out->cipher = cipher_of(side->session);
    out->group = group_of(side, resumed);
    out->signature = signature_of(side->session, resumed);
    out->resumed = resumed;
    gnutls_protocol_t version = gnutls_protocol_get_version(side->session);
    if (version == GNUTLS_TLS1_2 || version == GNUTLS_DTLS1_2)
        out->extended_master_secret = gnutls_session_ext_master_secret_status(side->session) != 0;
    if (side->role == ROLE_CLIENT)
        out->tickets = side->tickets;
    if (side->role == ROLE_SERVER) {
        bool accepted = (gnutls_session_get_flags(side->session) & GNUTLS_SFLAGS_EARLY_DATA) != 0;
        out->early_data_bytes = accepted ? side->early_taken : 0;
    }
    if (resumed)
        return true; /* no certificate was shown */
    if (case_has_psk(&side->context->tls_case))
        return gnutls_proves_psk(side, out, fault);
    out->client_signature = client_signature_of(side->session);
    return side->role == ROLE_CLIENT ? inspect_client(side, out, fault) : inspect_server(side, out, fault);
}
