/* Keys, certificates and DH parameters for OpenSSL: loaded from bytes, and refused when they
 * are not what the case says. */
#include "openssl_backend.h"

#include "material.h"

#include <string.h>

/* A curve that this build lacks shows only when a key on it is parsed. */
static bool parse_fault(struct fault *fault, const char *reason) {
    unsigned long first = ERR_peek_error(), last = ERR_peek_last_error();
    bool no_curve = (ERR_GET_LIB(first) == ERR_LIB_EC && ERR_GET_REASON(first) == EC_R_UNKNOWN_GROUP) ||
                    (ERR_GET_LIB(last) == ERR_LIB_EC && ERR_GET_REASON(last) == EC_R_UNKNOWN_GROUP);
    return openssl_fault(fault, no_curve ? FAULT_UNSUPPORTED : FAULT_ERROR, reason);
}

static BIO *open_pem(const char *folder, const char *name, struct material *material, struct fault *fault) {
    if (!material_read(folder, name, material, fault))
        return NULL;
    BIO *bio = BIO_new_mem_buf(material->bytes, (int)material->length);
    if (bio == NULL) {
        openssl_fault(fault, FAULT_ERROR, "out of memory");
        material_free(material);
    }
    return bio;
}

static void close_pem(BIO *bio, struct material *material) {
    BIO_free(bio);
    material_free(material);
}

static bool keep_der(struct context *c, X509 *certificate) {
    unsigned char *der = NULL;
    c->certificate_der_length = i2d_X509(certificate, &der);
    if (c->certificate_der_length <= 0)
        return false;
    c->certificate_der = der;
    c->peer_der = OPENSSL_malloc((size_t)c->certificate_der_length);
    return c->peer_der != NULL;
}

static bool check_key(const struct context *c, X509 *certificate, struct fault *fault) {
    EVP_PKEY *key = X509_get0_pubkey(certificate);
    if (key == NULL)
        return parse_fault(fault, "the certificate's key can't be used");
    const char *curve =
        EVP_PKEY_base_id(key) == EVP_PKEY_EC ? openssl_group_word(compat_group_nid(key)) : NULL;
    return certificate_fits(&c->tls_case, openssl_key_word(key), (unsigned)EVP_PKEY_bits(key), curve, fault);
}

static bool load_certificate(struct context *c, const char *folder, struct fault *fault) {
    struct material material;
    BIO *bio = open_pem(folder, c->tls_case.certificate, &material, fault);
    if (bio == NULL)
        return false;
    X509 *certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    close_pem(bio, &material);
    if (certificate == NULL)
        return parse_fault(fault, "the certificate can't be read");
    bool good = check_key(c, certificate, fault);
    if (good && (!keep_der(c, certificate) || SSL_CTX_use_certificate(c->server_ctx, certificate) != 1))
        good = parse_fault(fault, "the certificate can't be used");
    X509_free(certificate);
    return good;
}

/* Never asks a person: an encrypted key is an error. */
static int no_password(char *buffer, int size, int writing, void *user) {
    (void)buffer, (void)size, (void)writing, (void)user;
    return -1;
}

static bool load_key(struct context *c, const char *folder, struct fault *fault) {
    struct material material;
    BIO *bio = open_pem(folder, c->tls_case.key, &material, fault);
    if (bio == NULL)
        return false;
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL);
    close_pem(bio, &material);
    if (key == NULL)
        return parse_fault(fault, "the key can't be read");
    bool good =
        SSL_CTX_use_PrivateKey(c->server_ctx, key) == 1 && SSL_CTX_check_private_key(c->server_ctx) == 1;
    EVP_PKEY_free(key);
    return good || openssl_fault(fault, FAULT_ERROR, "the key does not belong to the certificate");
}

static bool check_dh(struct context *c, EVP_PKEY *dh, struct fault *fault) {
    BIGNUM *generator = NULL;
    long private_bits = 0;
    bool good = compat_dh_numbers(dh, &c->dh_prime, &generator, &private_bits);
    if (!good)
        openssl_fault(fault, FAULT_ERROR, "the DH parameters can't be used");
    else if ((unsigned)BN_num_bits(c->dh_prime) != c->tls_case.dh_bits)
        good = fault_set(fault, FAULT_ERROR, "group: wanted %s, the file has a prime of %d bits",
                         c->tls_case.group_name, BN_num_bits(c->dh_prime));
    else if (!BN_is_word(generator, 2))
        good = fault_set(fault, FAULT_ERROR, "the generator of the DH parameters is not 2");
    else if (private_bits != 0)
        /* It would decide the exponent's length, and with it the cost, in place of the library. */
        good = fault_set(fault, FAULT_ERROR, "the DH parameters hold a privateValueLength of %ld bits",
                         private_bits);
    BN_free(generator);
    return good;
}

static bool load_custom_dh(struct context *c, const char *folder, struct fault *fault) {
    struct material material;
    BIO *bio = open_pem(folder, c->tls_case.dh_parameters, &material, fault);
    if (bio == NULL)
        return false;
    EVP_PKEY *dh = compat_dh_from_pem(bio);
    close_pem(bio, &material);
    if (dh == NULL)
        return openssl_fault(fault, FAULT_ERROR, "the DH parameters can't be read");
    bool good = check_dh(c, dh, fault);
    if (good && !compat_use_dh(c->server_ctx, dh))
        good = openssl_fault(fault, FAULT_ERROR, "the DH parameters can't be used");
    EVP_PKEY_free(dh);
    return good;
}

/* Before 4.0 no OpenSSL negotiates ffdhe groups in TLS 1.2 (RFC 7919): the server brings the parameters. */
static bool use_named_dh(struct context *c, struct fault *fault) {
    EVP_PKEY *dh = compat_dh_from_group(openssl_group_nid(c->tls_case.group));
    if (dh == NULL)
        return openssl_fault(fault, FAULT_UNSUPPORTED, "the library does not know this DH group");
    bool good = compat_use_dh(c->server_ctx, dh);
    EVP_PKEY_free(dh);
    return good || openssl_fault(fault, FAULT_ERROR, "the DH group can't be used");
}

bool openssl_load_material(struct context *c, const char *folder, struct fault *fault) {
    if (!load_certificate(c, folder, fault) || !load_key(c, folder, fault))
        return false;
    if (c->tls_case.group == GROUP_CUSTOM_DH)
        return load_custom_dh(c, folder, fault);
    if (is_ffdhe(c->tls_case.group) && c->tls_case.protocol == TLS_1_2)
        return use_named_dh(c, fault);
    return true;
}
