/* External pre-shared keys, in the place of certificates. */
#include "gnutls_backend.h"

#include <string.h>

/* The library frees what it gets. Another identity ends the handshake. */
static int server_key(gnutls_session_t session, const char *username, gnutls_datum_t *out) {
    const struct side *side = gnutls_session_get_ptr(session);
    if (strcmp(username, PSK_IDENTITY) != 0)
        return -1;
    out->data = gnutls_malloc(PSK_BYTES);
    if (out->data == NULL)
        return -1;
    memcpy(out->data, side->context->psk, PSK_BYTES);
    out->size = PSK_BYTES;
    return 0;
}

bool gnutls_make_psk(struct context *c, struct configuration *out, enum role role, struct fault *fault) {
    gnutls_datum_t key = {c->psk, PSK_BYTES};
    int code = role == ROLE_CLIENT ? gnutls_psk_allocate_client_credentials(&out->psk_client)
                                   : gnutls_psk_allocate_server_credentials(&out->psk_server);
    if (code >= 0 && role == ROLE_CLIENT)
        code = gnutls_psk_set_client_credentials(out->psk_client, PSK_IDENTITY, &key, GNUTLS_PSK_KEY_RAW);
    if (code >= 0 && role == ROLE_SERVER)
        gnutls_psk_set_server_credentials_function(out->psk_server, server_key);
    return code >= 0 || gnutls_fault(fault, FAULT_ERROR, "no credentials with a pre-shared key", code);
}

void gnutls_free_psk(struct configuration *configuration) {
    if (configuration->psk_client != NULL)
        gnutls_psk_free_client_credentials(configuration->psk_client);
    if (configuration->psk_server != NULL)
        gnutls_psk_free_server_credentials(configuration->psk_server);
}

int gnutls_use_psk(struct side *side, const struct configuration *from) {
    if (side->role == ROLE_CLIENT)
        return gnutls_credentials_set(side->session, GNUTLS_CRD_PSK, from->psk_client);
    gnutls_session_set_ptr(side->session, side);
    return gnutls_credentials_set(side->session, GNUTLS_CRD_PSK, from->psk_server);
}

/* A client knows the identity that it sent; the server's word is compared, and in TLS 1.3 the ClientHello
 * (pair.c). */
bool gnutls_proves_psk(struct side *side, struct negotiated *out, struct fault *fault) {
    unsigned count = 0;
    const char *identity =
        side->role == ROLE_SERVER ? gnutls_psk_server_get_username(side->session) : PSK_IDENTITY;
    if (gnutls_auth_get_type(side->session) != GNUTLS_CRD_PSK ||
        gnutls_certificate_get_peers(side->session, &count) != NULL)
        return fault_set(fault, FAULT_MISMATCH, "certificate: wanted none beside a pre-shared key");
    if (identity == NULL || strcmp(identity, PSK_IDENTITY) != 0)
        return fault_set(fault, FAULT_MISMATCH, "psk_identity: wanted %s, the server got %s", PSK_IDENTITY,
                         identity == NULL ? "none" : identity);
    out->peer_key = peer_key_name(KEY_PSK);
    out->client_signature = out->client_key = "-";
    out->chain_length = 0;
    out->ocsp_bytes = 0;
    out->verified_length = out->client_verified_length = 0;
    return true;
}
