/* What one side of a finished wolfSSL handshake negotiated, as the library's own words and structures tell
 * it. */
#include "wolfssl_backend.h"

#include "iana.h"
#include "wolfssl_structures.h"
#include "words.h"

static bool is_1_2(const struct wolfssl_facts *facts) {
    return facts->version == 0x0303 || facts->version == 0xFEFD;
}

static const char *cipher_of(WOLFSSL *ssl) {
    enum cipher cipher;
    enum method method;
    return iana_suite((unsigned)wolfSSL_get_current_cipher_suite(ssl), &cipher, &method)
               ? cipher_name(cipher)
               : wolfSSL_get_cipher_name(ssl);
}

/* In TLS 1.2 a resumption has no group. In TLS 1.3 it has one unless the pre-shared key stands alone; that
 * there was an exchange at all, or none, is read off the ServerHello (pair.c). */
static const char *group_of(WOLFSSL *ssl, const struct wolfssl_facts *facts, bool resumed) {
    if (resumed && (is_1_2(facts) || facts->pre_shared_key_alone))
        return "-";
    const char *word = facts->group == 0 ? NULL : iana_group_word(facts->group);
    return word != NULL ? word : wolfSSL_get_curve_name(ssl);
}

/* NULL: this side does not know. */
static const char *signature_word(unsigned number) {
    const char *word = iana_signature_word(number);
    return word == NULL && number != WOLFSSL_FORGOTTEN ? lasting_word("signature %#x", number) : word;
}

/* Key words are read from the case's certificate: what was shown is the same bytes. */
static bool inspect_client(struct side *side, const struct wolfssl_facts *facts, struct negotiated *out,
                           struct fault *fault) {
    const struct context *c = side->context;
    const struct tls_case *t = &c->tls_case;
    if (side->peer_certificates < 1)
        return fault_set(fault, FAULT_MISMATCH, "certificate: the server showed another than %s",
                         t->certificate);
    if (t->verification && !side->verified)
        return fault_set(fault, FAULT_MISMATCH, "verification: the library did not verify the chain");
    out->peer_key = peer_key_name(t->key_type);
    out->peer_key_bits = c->expected.key_bits;
    out->chain_length = side->peer_certificates;
    out->verified_length = t->verification ? (int)t->chain_length + 1 : 0;
    out->ocsp_bytes = 0; /* no configuration asks for a response */
    out->client_signature = facts->signed_as_client ? signature_word(facts->own_signature) : "-";
    return true;
}

static bool inspect_server(struct side *side, const struct wolfssl_facts *facts, struct negotiated *out,
                           struct fault *fault) {
    const struct context *c = side->context;
    const struct tls_case *t = &c->tls_case;
    bool shown = side->peer_certificates != 0, verifies = case_verifies(t, false);
    if (side->peer_certificates < 0)
        return fault_set(fault, FAULT_MISMATCH, "certificate: the client showed another than %s",
                         t->certificate);
    if (shown && verifies && !side->verified)
        return fault_set(fault, FAULT_MISMATCH, "verification: the library did not verify the chain");
    out->client_key = shown ? peer_key_name(t->key_type) : "-";
    out->client_verified_length = shown && verifies ? (int)t->chain_length + 1 : 0;
    out->client_signature = shown ? signature_word(facts->peer_signature) : "-";
    return true;
}

bool wolfssl_inspect(struct side *side, struct negotiated *out, struct fault *fault) {
    struct wolfssl_facts facts = wolfssl_facts(side->ssl);
    bool resumed = wolfSSL_session_reused(side->ssl) == 1, client = side->role == ROLE_CLIENT;
    const char *protocol = iana_protocol_word(facts.version);
    out->protocol = protocol == NULL ? wolfSSL_get_version(side->ssl) : protocol;
    out->cipher = cipher_of(side->ssl);
    out->group = group_of(side->ssl, &facts, resumed);
    out->signature = resumed ? "-" : signature_word(client ? facts.peer_signature : facts.own_signature);
    out->resumed = resumed;
    if (is_1_2(&facts))
        out->extended_master_secret = facts.extended_master_secret;
    if (client)
        out->tickets = side->tickets;
    else
        out->early_data_bytes = 0; /* no configuration takes any */
    if (resumed)
        return true; /* no certificate was shown */
    return client ? inspect_client(side, &facts, out, fault) : inspect_server(side, &facts, out, fault);
}
