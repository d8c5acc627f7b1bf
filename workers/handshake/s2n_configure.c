/* Configurations of both roles. s2n-tls verifies unless told otherwise, and each case tells it. */
#include "s2n_backend.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { ONE_WEEK_S = 7 * 24 * 3600, TICKET_NAME_BYTES = 8 }; /* TLS 1.3 allows tickets no longer life */

/* The chain was read at set-up, so that what the library can't load is the key. */
static bool load_pair(struct configuration *out, struct material *chain, struct material *key,
                      struct fault *fault) {
    out->certificate = s2n_cert_chain_and_key_new();
    if (out->certificate == NULL)
        return fault_set(fault, FAULT_ERROR, "out of memory");
    if (s2n_cert_chain_and_key_load_pem_bytes(out->certificate, chain->bytes, chain->length, key->bytes,
                                              key->length) == S2N_SUCCESS)
        return true;
    return s2n_fault(fault, FAULT_ERROR,
                     s2n_errno == S2N_ERR_KEY_MISMATCH ? "the key does not belong to the certificate"
                                                       : "the key can't be read");
}

/* With default settings the library may refuse what it thinks weak: that is its answer to the case. */
static bool load_certificate(struct context *c, struct configuration *out, struct fault *fault) {
    const struct tls_case *t = &c->tls_case;
    enum fault_kind refusal = t->protocol == PROTOCOL_DEFAULT ? FAULT_UNSUPPORTED : FAULT_ERROR;
    struct material chain = {0}, key = {0};
    bool good = material_read(c->folder, t->certificate, &chain, fault) &&
                material_read(c->folder, t->key, &key, fault) && load_pair(out, &chain, &key, fault);
    material_free(&chain);
    material_free(&key);
    return good &&
           (s2n_config_add_cert_chain_and_key_to_store(out->config, out->certificate) == S2N_SUCCESS ||
            s2n_fault(fault, refusal, "the library does not take the certificate"));
}

/* From the file, as applications do it. That function also asks for OCSP responses. */
static bool set_verification(struct context *c, enum role role, struct s2n_config *config,
                             struct fault *fault) {
    char path[PATH_MAX];
    if (!case_verifies(&c->tls_case, role == ROLE_CLIENT))
        return s2n_config_disable_x509_verification(config) == S2N_SUCCESS ||
               s2n_fault(fault, FAULT_ERROR, "verification can't be switched off");
    if (snprintf(path, sizeof path, "%s/%s", c->folder, c->tls_case.trust_anchors_file) >= (int)sizeof path)
        return fault_set(fault, FAULT_ERROR, "the material folder's path is too long");
    return (s2n_config_set_verification_ca_location(config, path, NULL) == S2N_SUCCESS &&
            s2n_config_set_status_request_type(config, S2N_STATUS_REQUEST_NONE) == S2N_SUCCESS &&
            s2n_config_set_max_cert_chain_depth(config, CHAIN_MAX + 1) == S2N_SUCCESS) ||
           s2n_fault(fault, FAULT_ERROR, "the trust anchors can't be loaded");
}

static bool set_ocsp(struct context *c, enum role role, struct configuration *out, struct fault *fault) {
    if (c->expected.ocsp_response.length == 0)
        return true;
    bool good =
        role == ROLE_CLIENT
            ? s2n_config_set_status_request_type(out->config, S2N_STATUS_REQUEST_OCSP) == S2N_SUCCESS &&
                  s2n_config_set_check_stapled_ocsp_response(out->config, 0) == S2N_SUCCESS
            : s2n_cert_chain_and_key_set_ocsp_data(out->certificate, c->expected.ocsp_response.bytes,
                                                   c->expected.ocsp_response.length) == S2N_SUCCESS;
    return good || s2n_fault(fault, FAULT_ERROR, "OCSP stapling can't be set up");
}

/* --- Resumption. The server's cache holds one session: the full handshake at set-up stores it, later ones
 * retrieve it, so that no lock is needed. --- */

static int store(struct s2n_connection *connection, void *data, uint64_t ttl_s, const void *key,
                 uint64_t key_size, const void *value, uint64_t value_size) {
    const struct side *side = s2n_connection_get_ctx(connection);
    struct context *c = data;
    (void)ttl_s;
    if (side->resumes)
        return S2N_SUCCESS;
    return bytes_copy(&c->cached_id, key, key_size) && bytes_copy(&c->cached, value, value_size)
               ? S2N_SUCCESS
               : S2N_FAILURE;
}

static int retrieve(struct s2n_connection *connection, void *data, const void *key, uint64_t key_size,
                    void *value, uint64_t *value_size) {
    const struct context *c = data;
    (void)connection;
    if (key_size != c->cached_id.length || memcmp(key, c->cached_id.at, key_size) != 0 ||
        *value_size < c->cached.length)
        return S2N_FAILURE;
    memcpy(value, c->cached.at, c->cached.length);
    *value_size = c->cached.length;
    return S2N_SUCCESS;
}

static int forget(struct s2n_connection *connection, void *data, const void *key, uint64_t key_size) {
    (void)connection, (void)data, (void)key, (void)key_size;
    return S2N_SUCCESS;
}

static int take_ticket(struct s2n_connection *connection, void *data, struct s2n_session_ticket *ticket) {
    struct side *side = s2n_connection_get_ctx(connection);
    unsigned char copy[4096];
    size_t length = 0;
    (void)data;
    side->tickets++;
    if (side->context->tls_case.resumption == RESUME_NONE)
        return S2N_SUCCESS;
    bool good = s2n_session_ticket_get_data_len(ticket, &length) == S2N_SUCCESS && length <= sizeof copy &&
                s2n_session_ticket_get_data(ticket, length, copy) == S2N_SUCCESS &&
                bytes_copy(&side->ticket, copy, length);
    return good ? S2N_SUCCESS : S2N_FAILURE;
}

/* Both the cache and tickets encrypt with this key. */
static bool set_key(struct context *c, struct s2n_config *config) {
    return s2n_config_set_session_state_lifetime(config, ONE_WEEK_S) == S2N_SUCCESS &&
           s2n_config_set_ticket_encrypt_decrypt_key_lifetime(config, ONE_WEEK_S) == S2N_SUCCESS &&
           s2n_config_add_ticket_crypto_key(config, (const uint8_t *)"kexbench", TICKET_NAME_BYTES,
                                            c->ticket_key, sizeof c->ticket_key, 0) == S2N_SUCCESS;
}

static bool set_cache(struct context *c, struct s2n_config *config) {
    return s2n_config_set_cache_store_callback(config, store, c) == S2N_SUCCESS &&
           s2n_config_set_cache_retrieve_callback(config, retrieve, c) == S2N_SUCCESS &&
           s2n_config_set_cache_delete_callback(config, forget, c) == S2N_SUCCESS &&
           s2n_config_set_session_cache_onoff(config, 1) == S2N_SUCCESS && set_key(c, config);
}

static bool set_tickets(struct context *c, enum role role, bool resumes, struct s2n_config *config) {
    const struct tls_case *t = &c->tls_case;
    if (s2n_config_set_session_tickets_onoff(config, 1) != S2N_SUCCESS)
        return false;
    if (role == ROLE_CLIENT)
        return s2n_config_set_session_ticket_cb(config, take_ticket, NULL) == S2N_SUCCESS;
    return set_key(c, config) &&
           (t->tickets == TICKETS_DEFAULT ||
            s2n_config_set_initial_ticket_count(config, resumes ? 0 : 1) == S2N_SUCCESS) &&
           (t->early_data_bytes == 0 ||
            s2n_config_set_server_max_early_data_size(config, EARLY_DATA_MAX) == S2N_SUCCESS);
}

static bool set_resumption(struct context *c, enum role role, bool resumes, struct s2n_config *config,
                           struct fault *fault) {
    const struct tls_case *t = &c->tls_case;
    bool good = true;
    if (t->resumption == RESUME_SESSION_ID)
        good = role == ROLE_CLIENT || set_cache(c, config);
    else if (t->resumption != RESUME_NONE || t->tickets == TICKETS_DEFAULT)
        good = set_tickets(c, role, resumes, config);
    return good || s2n_fault(fault, FAULT_ERROR, "resumption can't be set up");
}

/* --- Both. --- */

static s2n_cert_auth_type client_authentication(const struct tls_case *t, enum role role) {
    if (!t->client_authentication)
        return S2N_CERT_AUTH_NONE;
    return role == ROLE_CLIENT ? S2N_CERT_AUTH_OPTIONAL : S2N_CERT_AUTH_REQUIRED;
}

bool s2n_configure(struct context *c, enum role role, bool resumes, struct configuration *out,
                   struct fault *fault) {
    const struct tls_case *t = &c->tls_case;
    out->config = s2n_config_new_minimal(); /* the other function loads this machine's trust store */
    if (out->config == NULL ||
        s2n_config_set_client_auth_type(out->config, client_authentication(t, role)) != S2N_SUCCESS)
        return s2n_fault(fault, FAULT_ERROR, "no configuration");
    if (t->protocol != PROTOCOL_DEFAULT)
        out->config->security_policy = &c->policies[role].whole;
    return set_verification(c, role, out->config, fault) &&
           ((role == ROLE_CLIENT && !t->client_authentication) || load_certificate(c, out, fault)) &&
           set_ocsp(c, role, out, fault) && set_resumption(c, role, resumes, out->config, fault);
}

void s2n_configuration_free(struct configuration *configuration) {
    if (configuration->config != NULL)
        (void)s2n_config_free(configuration->config);
    if (configuration->certificate != NULL)
        (void)s2n_cert_chain_and_key_free(configuration->certificate);
    *configuration = (struct configuration){0};
}
