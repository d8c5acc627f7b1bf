/* What a finished handshake of a foreign library negotiated. Runs after every handshake, outside the timed
 * turns. */
#include "foreign_backend.h"

#include "iana.h"
#include "words.h"

#include <string.h>

struct foreign_proof {
    const struct context *context;
    int certificates; /* of the peer's */
    bool others_peer, others_own, other_response;
    long ocsp_bytes;
};

/* Whether the chain is as long as the case's, `chain_length` tells. */
void foreign_show(struct foreign_view *view, int what, const void *bytes, size_t length) {
    struct foreign_proof *proof = view->proof;
    const struct expected *wanted = &proof->context->expected;
    const struct material *response = &wanted->ocsp_response;
    switch (what) {
    case FOREIGN_STAPLED:
        proof->ocsp_bytes = (long)length;
        proof->other_response =
            length != response->length || (length > 0 && memcmp(bytes, response->bytes, length) != 0);
        break;
    case FOREIGN_OWN:
        proof->others_own |= !expected_at(wanted, 0, bytes, length);
        break;
    default:
        proof->others_peer |= !expected_at(wanted, (size_t)proof->certificates++, bytes, length) &&
                              proof->certificates <= (int)proof->context->tls_case.chain_length;
    }
}

/* NULL: the library does not tell. */
static const char *worded(const char *word, int number, const char *what) {
    return word != NULL || number < 0 ? word : lasting_word("%s %#x", what, (unsigned)number);
}

static const char *cipher_word(int number) {
    enum cipher cipher;
    enum method method;
    return number >= 0 && iana_suite((unsigned)number, &cipher, &method) ? cipher_name(cipher) : NULL;
}

static const char *signature_word(int number) {
    return number < 0 ? NULL : iana_signature_word((unsigned)number);
}

/* Key words are read from the case's certificate: what was shown is the same bytes. */
static bool inspect_client(struct side *side, const struct foreign_proof *proof, struct negotiated *out,
                           struct fault *fault) {
    const struct context *c = side->context;
    if (proof->certificates == 0)
        return fault_set(fault, FAULT_ERROR, "the handshake left no certificate");
    if (proof->others_peer)
        return fault_set(fault, FAULT_MISMATCH, "certificate: the server showed another than %s",
                         c->tls_case.certificate);
    out->peer_key = peer_key_name(c->tls_case.key_type);
    out->peer_key_bits = c->expected.key_bits;
    out->chain_length = proof->certificates;
    out->ocsp_bytes = proof->ocsp_bytes;
    return (!proof->other_response && proof->ocsp_bytes == (long)c->expected.ocsp_response.length) ||
           fault_set(fault, FAULT_MISMATCH, "ocsp_response: the client got %s than %s",
                     out->ocsp_bytes == 0 ? "none rather" : "another", c->tls_case.ocsp_response);
}

static bool inspect_server(struct side *side, const struct foreign_proof *proof, struct negotiated *out,
                           struct fault *fault) {
    const struct context *c = side->context;
    if (proof->others_own || proof->others_peer)
        return fault_set(fault, FAULT_MISMATCH, "certificate: the %s showed another than %s",
                         proof->others_own ? "server" : "client", c->tls_case.certificate);
    out->client_key = proof->certificates > 0 ? peer_key_name(c->tls_case.key_type) : "-";
    return true;
}

bool foreign_compare(struct side *side, struct negotiated *out, struct fault *fault) {
    struct foreign_proof proof = {.context = side->context};
    struct foreign_view view = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, &proof};
    if (foreign_inspect(side->foreign, &view, fault) == 0)
        return false;
    if (view.resumed == FOREIGN_UNKNOWN)
        return fault_set(fault, FAULT_ERROR, "the library can't tell whether it resumed");
    out->protocol = worded(view.protocol < 0 ? NULL : iana_protocol_word((unsigned)view.protocol),
                           view.protocol, "protocol");
    out->cipher = worded(cipher_word(view.suite), view.suite, "suite");
    out->group = worded(view.group < 0 ? NULL : iana_group_word((unsigned)view.group), view.group, "group");
    out->signature = worded(signature_word(view.signature), view.signature, "signature");
    out->resumed = view.resumed != 0;
    out->extended_master_secret = view.extended_master_secret;
    out->early_data_bytes = view.early_data_bytes;
    out->tickets = view.tickets;
    if (out->resumed)
        return true; /* no certificate was shown */
    out->client_signature = worded(signature_word(view.client_signature), view.client_signature, "signature");
    *(side->role == ROLE_CLIENT ? &out->verified_length : &out->client_verified_length) =
        view.verified_length;
    return side->role == ROLE_CLIENT ? inspect_client(side, &proof, out, fault)
                                     : inspect_server(side, &proof, out, fault);
}
