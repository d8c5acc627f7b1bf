/* A connection of ngtcp2: what both sides agree to, and what the library asks of its user. */
#include "ngtcp2_backend.h"

#include "wire.h"

#include <gnutls/crypto.h>

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

enum { CONNECTION_ID_BYTES = 8 };

/* Nothing is ever sent there. */
static struct sockaddr_in address = {.sin_family = AF_INET};
const ngtcp2_path quic_path = {
    .local = {.addr = (ngtcp2_sockaddr *)&address, .addrlen = sizeof address},
    .remote = {.addr = (ngtcp2_sockaddr *)&address, .addrlen = sizeof address},
};

bool quic_fault(const struct quic_side *side, struct fault *fault, const char *what, int code) {
    const char *alert = NULL;
    if (code == NGTCP2_ERR_CRYPTO && side->connection != NULL)
        alert = gnutls_alert_get_name(ngtcp2_conn_get_tls_alert(side->connection));
    fault_set(fault, FAULT_ERROR, "the %s's %s failed", side->tls.role == ROLE_CLIENT ? "client" : "server",
              what);
    snprintf(fault->detail, sizeof fault->detail, "%s%s%s", ngtcp2_strerror(code), alert != NULL ? ": " : "",
             alert != NULL ? alert : "");
    return false;
}

/* --- Callbacks. --- */

static ngtcp2_conn *connection_of(ngtcp2_crypto_conn_ref *reference) {
    return ((struct quic_side *)reference->user_data)->connection;
}

static void make_random(uint8_t *out, size_t length, const ngtcp2_rand_ctx *context) {
    (void)context;
    gnutls_rnd(GNUTLS_RND_NONCE, out, length); /* fails only where GnuTLS is shut down */
}

static int new_connection_id(ngtcp2_conn *connection, ngtcp2_cid *id, uint8_t *token, size_t length,
                             void *user) {
    (void)connection, (void)user;
    id->datalen = length;
    return gnutls_rnd(GNUTLS_RND_NONCE, id->data, length) < 0 ||
                   gnutls_rnd(GNUTLS_RND_RANDOM, token, NGTCP2_STATELESS_RESET_TOKENLEN) < 0
               ? NGTCP2_ERR_CALLBACK_FAILURE
               : 0;
}

/* The wire of the direction gets both hellos from here, since they are not in the clear. */
static int take_crypto(ngtcp2_conn *connection, encryption_level level, uint64_t offset, const uint8_t *data,
                       size_t length, void *user) {
    struct quic_side *side = user;
    struct wire *wire = side->tls.pipes.in->wire;
    if (level == ENCRYPTION_INITIAL && wire != NULL)
        wire_feed_initial(wire, data, length);
    return ngtcp2_crypto_recv_crypto_data_cb(connection, level, offset, data, length, user);
}

static const ngtcp2_callbacks callbacks = {
    .client_initial = ngtcp2_crypto_client_initial_cb,
    .recv_client_initial = ngtcp2_crypto_recv_client_initial_cb,
    .recv_crypto_data = take_crypto,
    .encrypt = ngtcp2_crypto_encrypt_cb,
    .decrypt = ngtcp2_crypto_decrypt_cb,
    .hp_mask = ngtcp2_crypto_hp_mask_cb,
    .recv_stream_data = quic_take_stream,
    .recv_retry = ngtcp2_crypto_recv_retry_cb,
    .rand = make_random,
    .get_new_connection_id = new_connection_id,
    .update_key = ngtcp2_crypto_update_key_cb,
    .delete_crypto_aead_ctx = ngtcp2_crypto_delete_crypto_aead_ctx_cb,
    .delete_crypto_cipher_ctx = ngtcp2_crypto_delete_crypto_cipher_ctx_cb,
    .get_path_challenge_data = ngtcp2_crypto_get_path_challenge_data_cb,
    .version_negotiation = ngtcp2_crypto_version_negotiation_cb,
};

/* --- Connections. --- */

static void log_to(ngtcp2_settings *settings, ngtcp2_qlog_write log) {
#if NGTCP2_VERSION_NUM < 0x010000
    settings->qlog.write = log;
#else
    settings->qlog_write = log;
#endif
}

static void settings_of(const struct quic_side *side, ngtcp2_settings *settings,
                        ngtcp2_transport_params *parameters) {
    ngtcp2_settings_default(settings);
    settings->initial_ts = side->now;
    settings->max_tx_udp_payload_size = DATAGRAM_BYTES;
    settings->no_tx_udp_payload_size_shaping = 1;
    settings->no_pmtud = 1;
    ngtcp2_transport_params_default(parameters);
    bool over_path = side->tls.pipes.over_path, is_client = side->tls.role == ROLE_CLIENT;
    if (over_path) {
        settings->cc_algo = NGTCP2_CC_ALGO_CUBIC;            /* as TCP there */
        settings->handshake_timeout = 3600 * NGTCP2_SECONDS; /* whoever has the path ends its connections */
        log_to(settings, quic_note_sent);
    }
    if (is_client && !over_path)
        return;
    parameters->initial_max_streams_uni = 1;
    parameters->initial_max_stream_data_uni = parameters->initial_max_data =
        is_client ? TRANSFER_MAX : EARLY_DATA_MAX;
}

static void random_id(ngtcp2_cid *id) {
    id->datalen = CONNECTION_ID_BYTES;
    make_random(id->data, id->datalen, NULL);
}

static void belong_together(struct quic_side *side) {
    side->reference = (ngtcp2_crypto_conn_ref){.get_conn = connection_of, .user_data = side};
    gnutls_session_set_ptr(side->tls.session, &side->reference);
    ngtcp2_conn_set_tls_native_handle(side->connection, side->tls.session);
}

/* A stream for early data, to a server whose limits the client remembers. */
static int open_early(struct quic_side *side) {
    const struct quic_context *c = (const struct quic_context *)side->tls.context;
#if NGTCP2_VERSION_NUM < 0x010000
    ngtcp2_conn_set_early_remote_transport_params(side->connection, &c->early);
#else
    int code =
        ngtcp2_conn_decode_and_set_0rtt_transport_params(side->connection, c->early.bytes, c->early.length);
    if (code != 0)
        return code;
#endif
    side->data = quic_early_data;
    side->left = side->tls.early_to_send;
    return ngtcp2_conn_open_uni_stream(side->connection, &side->stream, NULL);
}

bool quic_open_client(struct quic_side *side, struct fault *fault) {
    ngtcp2_settings settings;
    ngtcp2_transport_params parameters;
    ngtcp2_cid own, servers;
    settings_of(side, &settings, &parameters);
    random_id(&own);
    random_id(&servers);
    int code = ngtcp2_conn_client_new(&side->connection, &servers, &own, &quic_path, NGTCP2_PROTO_VER_V1,
                                      &callbacks, &settings, &parameters, NULL, side);
    if (code != 0) {
        side->connection = NULL;
        return quic_fault(side, fault, "connection", code);
    }
    belong_together(side);
    if (side->tls.early_to_send > 0 && (code = open_early(side)) != 0)
        return quic_fault(side, fault, "stream of early data", code);
    return true;
}

bool quic_open_server(struct quic_side *side, const ngtcp2_pkt_hd *first, struct fault *fault) {
    ngtcp2_settings settings;
    ngtcp2_transport_params parameters;
    ngtcp2_cid own;
    settings_of(side, &settings, &parameters);
    random_id(&own);
    parameters.original_dcid = first->dcid;
#if NGTCP2_VERSION_NUM >= 0x010000
    parameters.original_dcid_present = 1;
#endif
    int code = ngtcp2_conn_server_new(&side->connection, &first->scid, &own, &quic_path, first->version,
                                      &callbacks, &settings, &parameters, NULL, side);
    if (code != 0) {
        side->connection = NULL;
        return quic_fault(side, fault, "connection", code);
    }
    belong_together(side);
    return true;
}

bool quic_keep_parameters(const struct quic_side *client, struct fault *fault) {
    struct quic_context *c = (struct quic_context *)client->tls.context;
#if NGTCP2_VERSION_NUM < 0x010000
    const ngtcp2_transport_params *parameters = ngtcp2_conn_get_remote_transport_params(client->connection);
    if (parameters == NULL)
        return fault_set(fault, FAULT_ERROR, "the server sent no transport parameters");
    c->early = *parameters;
#else
    ngtcp2_ssize length =
        ngtcp2_conn_encode_0rtt_transport_params(client->connection, c->early.bytes, sizeof c->early.bytes);
    if (length < 0)
        return quic_fault(client, fault, "memory of transport parameters", (int)length);
    c->early.length = (size_t)length;
#endif
    return true;
}
