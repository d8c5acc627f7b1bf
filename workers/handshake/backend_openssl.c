/* The OpenSSL backend: configuration of both sides, the pair's life, its turns. Material is
 * loaded in openssl_material.c, what was negotiated is read in openssl_inspect.c. */
#include "openssl_backend.h"

#include <stdlib.h>
#include <string.h>

bool openssl_fault(struct fault *fault, enum fault_kind kind, const char *reason) {
    enum { ENTRIES = 4 };
    fault_set(fault, kind, "%s", reason);
    size_t used = 0;
    for (int i = 0; i < ENTRIES; i++) {
        unsigned long code = ERR_get_error();
        if (code == 0)
            break;
        char text[256];
        ERR_error_string_n(code, text, sizeof text);
        int wrote =
            snprintf(fault->detail + used, sizeof fault->detail - used, "%s%s", used > 0 ? "; " : "", text);
        used += wrote > 0 ? (size_t)wrote : 0;
        if (used >= sizeof fault->detail)
            break;
    }
    ERR_clear_error();
    return false;
}

/* Names that 1.1.1 and 4.0 both take. */
static const struct {
    enum group group;
    int nid;
    const char *name;
} groups[] = {
    {GROUP_SECP192R1, NID_X9_62_prime192v1, "P-192"},
    {GROUP_P256, NID_X9_62_prime256v1, "P-256"},
    {GROUP_P384, NID_secp384r1, "P-384"},
    {GROUP_P521, NID_secp521r1, "P-521"},
    {GROUP_X25519, NID_X25519, "X25519"},
    {GROUP_FFDHE2048, NID_ffdhe2048, "ffdhe2048"},
    {GROUP_FFDHE3072, NID_ffdhe3072, "ffdhe3072"},
    {GROUP_FFDHE4096, NID_ffdhe4096, "ffdhe4096"},
};
enum { GROUPS = sizeof groups / sizeof groups[0] };

const char *openssl_group_name(enum group group) {
    for (size_t i = 0; i < GROUPS; i++) {
        if (groups[i].group == group)
            return groups[i].name;
    }
    return NULL;
}

int openssl_group_nid(enum group group) {
    for (size_t i = 0; i < GROUPS; i++) {
        if (groups[i].group == group)
            return groups[i].nid;
    }
    return NID_undef;
}

const char *openssl_group_word(int nid) {
    for (size_t i = 0; i < GROUPS; i++) {
        if (groups[i].nid == nid)
            return group_name(groups[i].group);
    }
    return OBJ_nid2sn(nid);
}

/* --- The transport: a BIO over our own pipes, so that every library has the same one. --- */

static BIO_METHOD *pipe_method;

static int pipe_bio_write(BIO *bio, const char *data, int length) {
    const struct pipe_end *end = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    size_t taken = length > 0 ? pipe_write(end->out, data, (size_t)length) : 0;
    if (taken > 0)
        return (int)taken;
    BIO_set_retry_write(bio);
    return -1;
}

static int pipe_bio_read(BIO *bio, char *data, int length) {
    const struct pipe_end *end = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    size_t given = length > 0 ? pipe_read(end->in, data, (size_t)length) : 0;
    if (given > 0)
        return (int)given;
    BIO_set_retry_read(bio);
    return -1;
}

static long pipe_bio_control(BIO *bio, int command, long number, void *pointer) {
    (void)number, (void)pointer;
    const struct pipe_end *end = BIO_get_data(bio);
    if (command == BIO_CTRL_FLUSH)
        return 1;
    return command == BIO_CTRL_PENDING ? (long)pipe_pending(end->in) : 0;
}

static bool start(const char *settings, struct fault *fault) {
    (void)settings;
    /* Both: the variable for what reads it later, the flag for what is read now. */
    setenv("OPENSSL_CONF", "/dev/null", 1);
    if (!OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, NULL))
        return openssl_fault(fault, FAULT_ERROR, "OpenSSL did not start");
    pipe_method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "kexbench pipe");
    if (pipe_method == NULL || !BIO_meth_set_write(pipe_method, pipe_bio_write) ||
        !BIO_meth_set_read(pipe_method, pipe_bio_read) || !BIO_meth_set_ctrl(pipe_method, pipe_bio_control))
        return openssl_fault(fault, FAULT_ERROR, "OpenSSL did not make a BIO method");
    return true;
}

static const char *version_text(void) {
    return OpenSSL_version(OPENSSL_VERSION);
}

/* "3.0.19" of "OpenSSL 3.0.19 27 Jan 2026": the library that runs, not the header. */
static const char *version(void) {
    static char word[64];
    if (sscanf(version_text(), "%*63s %63s", word) != 1)
        strcpy(word, "unknown");
    return word;
}

/* --- Configuration: exactly one protocol, cipher, group and signature scheme on each side. --- */

static bool suite_name(const struct tls_case *c, char *out, size_t size) {
    static const char *const kx[] = {[KX_RSA] = "",
                                     [KX_DHE_RSA] = "DHE-RSA-",
                                     [KX_ECDHE_RSA] = "ECDHE-RSA-",
                                     [KX_ECDHE_ECDSA] = "ECDHE-ECDSA-"};
    static const char *const old[] = {[AES_128_GCM] = "AES128-GCM-SHA256",
                                      [AES_256_GCM] = "AES256-GCM-SHA384",
                                      [CHACHA20_POLY1305] = "CHACHA20-POLY1305"};
    static const char *const new[] = {[AES_128_GCM] = "TLS_AES_128_GCM_SHA256",
                                      [AES_256_GCM] = "TLS_AES_256_GCM_SHA384",
                                      [CHACHA20_POLY1305] = "TLS_CHACHA20_POLY1305_SHA256"};
    bool tls_1_3 = c->protocol == TLS_1_3;
    int length = snprintf(out, size, "%s%s", tls_1_3 ? "" : kx[c->key_exchange],
                          tls_1_3 ? new[c->cipher] : old[c->cipher]);
    return length > 0 && (size_t)length < size;
}

/* The case's group first: it is the one the client prefers. The certificate's curve has to be offered as
 * well. Where a suite uses no group, P-256 stands there, so that no ffdhe group is offered by default. */
static bool set_groups(SSL_CTX *ctx, const struct tls_case *c, struct fault *fault) {
    const char *first = openssl_group_name(c->group);
    const char *second = openssl_group_name(c->curve);
    char list[64];
    if (first == NULL || (is_ffdhe(c->group) && c->protocol == TLS_1_2 && !OPENSSL_HAS_PROVIDERS))
        first = "P-256"; /* 1.1.1 takes no ffdhe name here, and needs none for TLS 1.2 */
    bool both = second != NULL && strcmp(first, second) != 0;
    snprintf(list, sizeof list, "%s%s%s", first, both ? ":" : "", both ? second : "");
    if (SSL_CTX_set1_groups_list(ctx, list) == 1)
        return true;
    char reason[128];
    snprintf(reason, sizeof reason, "the library does not take the group list %s", list);
    return openssl_fault(fault, FAULT_UNSUPPORTED, reason);
}

static int accept_any_chain(X509_STORE_CTX *store, void *argument) {
    (void)store, (void)argument;
    return 1; /* no chain is built; every handshake's certificate is compared with the case's afterwards */
}

static SSL_CTX *configure(const struct tls_case *c, struct fault *fault) {
    int wire_version = c->protocol == TLS_1_3 ? TLS1_3_VERSION : TLS1_2_VERSION;
    const char *signature = c->key_exchange == KX_RSA ? "rsa_pkcs1_sha256" : case_signature(c);
    char suite[64];
    SSL_CTX *ctx = SSL_CTX_new(TLS_method());
    if (ctx == NULL) {
        openssl_fault(fault, FAULT_ERROR, "no SSL_CTX");
        return NULL;
    }
    SSL_CTX_set_security_level(ctx, 0); /* RSA-1024, DH-1024 and P-192 are wanted here */
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
    SSL_CTX_set_cert_verify_callback(ctx, accept_any_chain, NULL);
    bool good = suite_name(c, suite, sizeof suite);
    if (SSL_CTX_set_min_proto_version(ctx, wire_version) != 1 ||
        SSL_CTX_set_max_proto_version(ctx, wire_version) != 1)
        good = openssl_fault(fault, FAULT_UNSUPPORTED, "the library does not take this protocol version");
    else if (SSL_CTX_set_num_tickets(ctx, 0) != 1)
        good = openssl_fault(fault, FAULT_ERROR, "session tickets can't be turned off");
    else if ((c->protocol == TLS_1_3 ? SSL_CTX_set_ciphersuites(ctx, suite)
                                     : SSL_CTX_set_cipher_list(ctx, suite)) != 1)
        good = openssl_fault(fault, FAULT_UNSUPPORTED, "the library does not take this cipher suite");
    else if (!set_groups(ctx, c, fault))
        good = false;
    else if (SSL_CTX_set1_sigalgs_list(ctx, signature) != 1)
        good = openssl_fault(fault, FAULT_UNSUPPORTED, "the library does not take this signature scheme");
    if (good)
        return ctx;
    SSL_CTX_free(ctx);
    return NULL;
}

static void teardown(struct context *c) {
    SSL_CTX_free(c->client_ctx);
    SSL_CTX_free(c->server_ctx);
    BN_free(c->dh_prime);
    OPENSSL_free(c->certificate_der);
    OPENSSL_free(c->peer_der);
    free(c);
    ERR_clear_error();
}

static struct context *setup(const struct tls_case *tls_case, const char *material, struct fault *fault) {
    struct context *c = calloc(1, sizeof *c);
    if (c == NULL) {
        fault_set(fault, FAULT_ERROR, "out of memory");
        return NULL;
    }
    c->tls_case = *tls_case;
    c->client_end = (struct pipe_end){.in = &c->to_client, .out = &c->to_server};
    c->server_end = (struct pipe_end){.in = &c->to_server, .out = &c->to_client};
    c->client_ctx = configure(tls_case, fault);
    c->server_ctx = c->client_ctx == NULL ? NULL : configure(tls_case, fault);
    if (c->server_ctx != NULL && openssl_load_material(c, material, fault))
        return c;
    teardown(c);
    return NULL;
}

/* --- The pair. --- */

static SSL *new_side(SSL_CTX *ctx, struct pipe_end *end) {
    SSL *ssl = SSL_new(ctx);
    BIO *bio = BIO_new(pipe_method);
    if (ssl == NULL || bio == NULL) {
        SSL_free(ssl);
        BIO_free(bio);
        return NULL;
    }
    BIO_set_data(bio, end);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl, bio, bio);
    return ssl;
}

static void close_pair(struct context *c) {
    SSL_free(c->client);
    SSL_free(c->server);
    c->client = c->server = NULL;
    ERR_clear_error(); /* what a failed handshake left must not be taken for the next one's */
}

static bool open_pair(struct context *c, struct fault *fault) {
    pipe_reset(&c->to_client);
    pipe_reset(&c->to_server);
    c->client = new_side(c->client_ctx, &c->client_end);
    c->server = new_side(c->server_ctx, &c->server_end);
    if (c->client == NULL || c->server == NULL) {
        openssl_fault(fault, FAULT_ERROR, "no SSL object");
        close_pair(c);
        return false;
    }
    SSL_set_connect_state(c->client);
    SSL_set_accept_state(c->server);
    return true;
}

static enum progress step(SSL *ssl, const char *failed, struct fault *fault) {
    int result = SSL_do_handshake(ssl);
    if (result == 1)
        return PROGRESS_DONE;
    int error = SSL_get_error(ssl, result);
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE)
        return PROGRESS_WAIT;
    openssl_fault(fault, FAULT_ERROR, failed);
    return PROGRESS_FAILED;
}

static enum progress client_step(struct context *c, struct fault *fault) {
    return step(c->client, "the client's handshake failed", fault);
}

static enum progress server_step(struct context *c, struct fault *fault) {
    return step(c->server, "the server's handshake failed", fault);
}

static void bytes_sent(const struct context *c, uint64_t *client, uint64_t *server) {
    *client = c->to_server.written;
    *server = c->to_client.written;
}

const struct backend backend = {
    .library = "openssl",
    .clock = &real_clock,
    .takes_settings = false,
    .start = start,
    .version = version,
    .version_text = version_text,
    .architecture = NULL,
    .setup = setup,
    .teardown = teardown,
    .open = open_pair,
    .client_step = client_step,
    .server_step = server_step,
    .inspect = openssl_inspect,
    .bytes_sent = bytes_sent,
    .close = close_pair,
};
