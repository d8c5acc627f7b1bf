/* Keys, certificates, DH parameters and OCSP responses for OpenSSL: loaded from bytes, and refused when
 * they are not what the case says. */
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
    c->certificate_der = der;
    return c->certificate_der_length > 0;
}

static bool check_key(const struct context *c, X509 *certificate, struct fault *fault) {
    EVP_PKEY *key = X509_get0_pubkey(certificate);
    if (key == NULL)
        return parse_fault(fault, "the certificate's key can't be used");
    const char *curve =
        EVP_PKEY_base_id(key) == EVP_PKEY_EC ? openssl_group_word(OBJ_nid2sn(compat_group_nid(key))) : NULL;
    return certificate_fits(&c->tls_case, openssl_key_word(key), (unsigned)EVP_PKEY_bits(key), curve, fault);
}

/* The client shows the server's certificate as its own. */
static bool has_certificate(const struct context *c, enum role role) {
    return role == ROLE_SERVER || c->tls_case.client_authentication;
}

/* With default settings the library may refuse what it thinks weak: that is its answer to the case. */
static enum fault_kind refusal(const struct context *c) {
    return c->tls_case.protocol == PROTOCOL_DEFAULT ? FAULT_UNSUPPORTED : FAULT_ERROR;
}

static bool use_certificates(struct context *c, STACK_OF(X509) * chain, struct fault *fault) {
    X509 *leaf = sk_X509_value(chain, 0);
    if (!check_key(c, leaf, fault))
        return false;
    if ((unsigned)sk_X509_num(chain) != c->tls_case.chain_length)
        return fault_set(fault, FAULT_ERROR, "chain_length: wanted %u, the file holds %d",
                         c->tls_case.chain_length, sk_X509_num(chain));
    bool good = keep_der(c, leaf);
    for (enum role role = ROLE_CLIENT; role <= ROLE_SERVER; role++) {
        if (!has_certificate(c, role))
            continue;
        good = good && SSL_CTX_use_certificate(c->configurations[role], leaf) == 1;
        for (int i = 1; good && i < sk_X509_num(chain); i++)
            good = SSL_CTX_add1_chain_cert(c->configurations[role], sk_X509_value(chain, i)) == 1;
    }
    return good || openssl_fault(fault, refusal(c), "the library does not take the certificate");
}

/* All certificates of the file, or as many as can be read: then something else than the end stopped it. */
static STACK_OF(X509) * read_chain(BIO *pem, OSSL_LIB_CTX *library, bool *whole) {
    STACK_OF(X509) *chain = sk_X509_new_null();
    X509 *certificate = NULL;
    while (chain != NULL && (certificate = compat_read_certificate(pem, library)) != NULL) {
        if (!sk_X509_push(chain, certificate)) {
            X509_free(certificate);
            break;
        }
    }
    unsigned long last = ERR_peek_last_error();
    *whole = chain != NULL && sk_X509_num(chain) > 0 && certificate == NULL &&
             ERR_GET_LIB(last) == ERR_LIB_PEM && ERR_GET_REASON(last) == PEM_R_NO_START_LINE;
    if (*whole)
        ERR_clear_error();
    return chain;
}

static void free_chain(STACK_OF(X509) * chain) {
    while (sk_X509_num(chain) > 0) /* -1 for NULL */
        X509_free(sk_X509_pop(chain));
    sk_X509_free(chain);
}

static bool load_certificates(struct context *c, const char *folder, struct fault *fault) {
    struct material material;
    bool whole = false;
    BIO *bio = open_pem(folder, c->tls_case.certificate, &material, fault);
    if (bio == NULL)
        return false;
    STACK_OF(X509) *chain = read_chain(bio, c->library, &whole);
    close_pem(bio, &material);
    bool good =
        whole ? use_certificates(c, chain, fault) : parse_fault(fault, "the certificate can't be read");
    free_chain(chain);
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
    EVP_PKEY *key = compat_read_key(bio, no_password, c->library);
    close_pem(bio, &material);
    if (key == NULL)
        return parse_fault(fault, "the key can't be read");
    bool good = true;
    for (enum role role = ROLE_CLIENT; role <= ROLE_SERVER; role++) {
        SSL_CTX *ctx = c->configurations[role];
        good = good && (!has_certificate(c, role) ||
                        (SSL_CTX_use_PrivateKey(ctx, key) == 1 && SSL_CTX_check_private_key(ctx) == 1));
    }
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
    EVP_PKEY *dh = compat_dh_from_pem(bio, c->library);
    close_pem(bio, &material);
    if (dh == NULL)
        return openssl_fault(fault, FAULT_ERROR, "the DH parameters can't be read");
    bool good = check_dh(c, dh, fault);
    if (good && !compat_use_dh(c->configurations[ROLE_SERVER], dh))
        good = openssl_fault(fault, FAULT_ERROR, "the DH parameters can't be used");
    EVP_PKEY_free(dh);
    return good;
}

/* Before 4.0 no OpenSSL negotiates ffdhe groups in TLS 1.2 (RFC 7919): the server brings the parameters. */
static bool use_named_dh(struct context *c, struct fault *fault) {
    EVP_PKEY *dh = compat_dh_from_group(openssl_group_name(c->tls_case.group), c->library);
    if (dh == NULL)
        return openssl_fault(fault, FAULT_UNSUPPORTED, "the library does not know this DH group");
    bool good = compat_use_dh(c->configurations[ROLE_SERVER], dh);
    EVP_PKEY_free(dh);
    return good || openssl_fault(fault, FAULT_ERROR, "the DH group can't be used");
}

bool openssl_load_material(struct context *c, const char *folder, struct fault *fault) {
    if (!load_certificates(c, folder, fault) || !load_key(c, folder, fault))
        return false;
    if (strcmp(c->tls_case.ocsp_response, "-") != 0 &&
        !material_read(folder, c->tls_case.ocsp_response, &c->ocsp_response, fault))
        return false;
    if (c->tls_case.group == GROUP_CUSTOM_DH)
        return load_custom_dh(c, folder, fault);
    if (is_ffdhe(c->tls_case.group) && c->tls_case.protocol == TLS_1_2)
        return use_named_dh(c, fault);
    return true;
}
