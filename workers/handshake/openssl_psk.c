/* External pre-shared keys. In TLS 1.3 the library takes the same callbacks, for a key of SHA-256. */
#include "openssl_backend.h"

#include <string.h>

static const struct context *context_of(SSL *ssl) {
    return SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
}

static unsigned give_key(SSL *ssl, unsigned char *key, unsigned most) {
    if (most < PSK_BYTES)
        return 0;
    memcpy(key, context_of(ssl)->psk, PSK_BYTES);
    return PSK_BYTES;
}

static unsigned client_key(SSL *ssl, const char *hint, char *identity, unsigned identity_most,
                           unsigned char *key, unsigned key_most) {
    (void)hint;
    if (identity_most < sizeof PSK_IDENTITY)
        return 0;
    memcpy(identity, PSK_IDENTITY, sizeof PSK_IDENTITY);
    return give_key(ssl, key, key_most);
}

/* 0: another identity, which ends the handshake. */
static unsigned server_key(SSL *ssl, const char *identity, unsigned char *key, unsigned key_most) {
    return identity != NULL && strcmp(identity, PSK_IDENTITY) == 0 ? give_key(ssl, key, key_most) : 0;
}

bool openssl_load_psk(struct context *c, struct fault *fault) {
    return material_read_psk(c->folder, c->tls_case.key, c->psk, fault);
}

void openssl_use_psk(struct context *c, SSL_CTX *ctx, enum role role) {
    SSL_CTX_set_app_data(ctx, c);
    if (role == ROLE_CLIENT)
        SSL_CTX_set_psk_client_callback(ctx, client_key);
    else
        SSL_CTX_set_psk_server_callback(ctx, server_key);
}

/* In TLS 1.3 the ClientHello's identity is compared (pair.c), in TLS 1.2 that which both sides keep. */
bool openssl_proves_psk(const struct side *side, struct negotiated *out, struct fault *fault) {
    const char *identity = SSL_get_psk_identity(side->ssl);
    bool told = case_has_tls_1_2(&side->context->tls_case);
    if (compat_peer_certificate(side->ssl) != NULL || SSL_get_certificate(side->ssl) != NULL)
        return fault_set(fault, FAULT_MISMATCH, "certificate: wanted none beside a pre-shared key");
    if (told && (identity == NULL || strcmp(identity, PSK_IDENTITY) != 0))
        return fault_set(fault, FAULT_MISMATCH, "psk_identity: wanted %s, the %s got %s", PSK_IDENTITY,
                         side->role == ROLE_CLIENT ? "client" : "server",
                         identity == NULL ? "none" : identity);
    out->peer_key = peer_key_name(KEY_PSK);
    out->client_signature = out->client_key = "-";
    out->chain_length = 0;
    out->ocsp_bytes = 0;
    out->verified_length = out->client_verified_length = 0;
    return true;
}
