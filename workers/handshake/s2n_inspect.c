/* What one side of a finished s2n-tls handshake negotiated, from what the connection holds and not from the
 * case. Runs after every handshake, outside the timed turns. */
#include "s2n_backend.h"
#include "words.h"

#include <string.h>

static const char *protocol_of(const struct s2n_connection *connection) {
    switch (connection->actual_protocol_version) {
    case S2N_TLS12:
        return protocol_name(TLS_1_2);
    case S2N_TLS13:
        return protocol_name(TLS_1_3);
    default:
        return lasting_word("protocol %u", connection->actual_protocol_version);
    }
}

/* In TLS 1.2 a resumption exchanges no key, though the connection holds what the session's first handshake
 * used. */
static const char *group_of(const struct s2n_connection *connection, enum method method, bool resumed) {
    const struct s2n_kem_group *group = connection->kex_params.server_kem_group_params.kem_group;
    const struct s2n_ecc_named_curve *curve = connection->kex_params.server_ecc_evp_params.negotiated_curve;
    bool tls_1_3 = connection->actual_protocol_version == S2N_TLS13;
    if (!tls_1_3 && (resumed || method == METHOD_RSA))
        return "-";
    const char *word = group != NULL   ? iana_group_word(group->iana_id)
                       : curve != NULL ? iana_group_word(curve->iana_id)
                                       : "-";
    return word != NULL ? word : group != NULL ? group->name : curve->name;
}

static const char *signature_of(const struct s2n_signature_scheme *scheme) {
    const char *word = scheme == NULL ? "-" : iana_signature_word(scheme->iana_value);
    return word != NULL ? word : lasting_word("signature %#x", scheme->iana_value);
}

static bool same_as(const struct certificate *wanted, X509 *shown) {
    unsigned char *der = NULL;
    int length = i2d_X509(shown, &der);
    bool same = length > 0 && same_certificate(wanted, der, (size_t)length);
    OPENSSL_free(der);
    return same;
}

/* Is the chain that came over the wire the case's, as far as it goes? How far, `chain_length` tells. */
static bool shows_the_cases(const struct side *side, const STACK_OF(X509) * shown) {
    for (size_t i = 0; i < sk_X509_num(shown) && i < side->context->tls_case.chain_length; i++) {
        if (!same_as(&side->context->expected.chain[i], sk_X509_value(shown, i)))
            return false;
    }
    return true;
}

static bool other_certificate(const struct side *side, const char *who, struct fault *fault) {
    return fault_set(fault, FAULT_MISMATCH, "certificate: the %s showed another than %s", who,
                     side->context->tls_case.certificate);
}

/* Certificates from the peer's to the case's trust anchor; 0 where nothing was verified. */
static bool verified_length(const struct side *side, int *out, struct fault *fault) {
    const struct s2n_x509_validator *validator = &side->connection->x509_validator;
    *out = 0;
    if (!case_verifies(&side->context->tls_case, side->role == ROLE_CLIENT))
        return true;
    STACK_OF(X509) *chain =
        validator->store_ctx == NULL ? NULL : X509_STORE_CTX_get0_chain(validator->store_ctx);
    if (validator->skip_cert_validation || !s2n_x509_validator_is_cert_chain_validated(validator) ||
        chain == NULL || sk_X509_num(chain) == 0)
        return fault_set(fault, FAULT_MISMATCH, "verification: the library built no chain");
    if (!same_as(&side->context->expected.trust_anchor, sk_X509_value(chain, sk_X509_num(chain) - 1)))
        return fault_set(fault, FAULT_MISMATCH, "verification: the chain leads to another trust anchor");
    if (side->role == ROLE_CLIENT && !side->host_matched)
        return fault_set(fault, FAULT_MISMATCH, "verification: the host name was not compared");
    *out = (int)sk_X509_num(chain);
    return true;
}

static bool client_saw(const struct side *side, struct negotiated *out, struct fault *fault) {
    const struct context *c = side->context;
    const STACK_OF(X509) *shown = side->connection->x509_validator.cert_chain_from_wire;
    uint32_t ocsp_bytes = 0;
    const uint8_t *response = s2n_connection_get_ocsp_response(side->connection, &ocsp_bytes);
    if (shown == NULL || sk_X509_num(shown) == 0)
        return fault_set(fault, FAULT_ERROR, "the handshake left no certificate");
    if (!shows_the_cases(side, shown))
        return other_certificate(side, "server", fault);
    out->peer_key = peer_key_name(c->tls_case.key_type); /* what was shown is the same bytes */
    out->peer_key_bits = c->expected.key_bits;
    out->chain_length = (int)sk_X509_num(shown);
    out->ocsp_bytes = response == NULL ? 0 : (long)ocsp_bytes;
    if (out->ocsp_bytes != (long)c->expected.ocsp_response.length ||
        (response != NULL && memcmp(response, c->expected.ocsp_response.bytes, ocsp_bytes) != 0))
        return fault_set(fault, FAULT_MISMATCH, "ocsp_response: the client got %s than %s",
                         response == NULL ? "none rather" : "another", c->tls_case.ocsp_response);
    return verified_length(side, &out->verified_length, fault);
}

static bool server_saw(const struct side *side, struct negotiated *out, struct fault *fault) {
    const struct context *c = side->context;
    const struct s2n_cert_chain_and_key *own = side->connection->handshake_params.our_chain_and_key;
    const STACK_OF(X509) *shown = side->connection->x509_validator.cert_chain_from_wire;
    bool is_shown = shown != NULL && sk_X509_num(shown) > 0;
    if (own == NULL || own->cert_chain->head == NULL)
        return fault_set(fault, FAULT_ERROR, "the handshake left no certificate");
    const struct s2n_blob *der = &own->cert_chain->head->raw;
    if (!expected_at(&c->expected, 0, der->data, der->size))
        return other_certificate(side, "server", fault);
    if (is_shown && !shows_the_cases(side, shown))
        return other_certificate(side, "client", fault);
    out->client_key = is_shown ? peer_key_name(c->tls_case.key_type) : "-";
    out->client_verified_length = 0;
    return !is_shown || verified_length(side, &out->client_verified_length, fault);
}

bool s2n_inspect(struct side *side, struct negotiated *out, struct fault *fault) {
    struct s2n_connection *connection = side->connection;
    uint8_t first = 0, second = 0;
    enum cipher cipher;
    enum method method = METHOD_DEFAULT;
    if (s2n_connection_get_cipher_iana_value(connection, &first, &second) != S2N_SUCCESS)
        return s2n_fault(fault, FAULT_ERROR, "the handshake left no cipher");
    bool known = iana_suite((unsigned)first << 8 | second, &cipher, &method);
    bool resumed = s2n_connection_is_session_resumed(connection) == 1;
    bool signs = !resumed && method != METHOD_RSA;
    out->protocol = protocol_of(connection);
    out->cipher = known ? cipher_name(cipher) : s2n_connection_get_cipher(connection);
    out->group = group_of(connection, method, resumed);
    out->signature = signs ? signature_of(connection->handshake_params.server_cert_sig_scheme) : "-";
    out->resumed = resumed;
    if (connection->actual_protocol_version == S2N_TLS12)
        out->extended_master_secret = connection->ems_negotiated;
    if (side->role == ROLE_CLIENT)
        out->tickets = side->tickets;
    else
        out->early_data_bytes = side->early_taken;
    if (resumed)
        return true; /* no certificate was shown */
    out->client_signature = s2n_connection_client_cert_used(connection) == 1
                                ? signature_of(connection->handshake_params.client_cert_sig_scheme)
                                : "-";
    return side->role == ROLE_CLIENT ? client_saw(side, out, fault) : server_saw(side, out, fault);
}
