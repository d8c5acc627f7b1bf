/* Keys, certificates, DH parameters and OCSP responses for OpenSSL: loaded from bytes, and refused when
 * they are not what the case says. */
#include "openssl_backend.h"

#include "material.h"

#include <string.h>

/* A curve that this build lacks shows only when a key on it is parsed. */
static bool parse_fault(struct fault *fault, const char *reason) {
    compat_error first = ERR_peek_error(), last = ERR_peek_last_error();
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

static bool keep_chain(struct context *c, STACK_OF(X509) * chain, struct fault *fault) {
    for (int i = 0; i < sk_X509_num(chain); i++) {
        struct der *der = &c->chain[i];
        der->length = i2d_X509(sk_X509_value(chain, i), &der->bytes);
        if (der->length <= 0)
            return openssl_fault(fault, FAULT_ERROR, "out of memory");
        if (i > 0 && !intermediate_fits(&c->tls_case, (size_t)der->length, fault))
            return false;
    }
    return true;
}

/* How many entries an extension has; 0 where there is none, and where it can't be read. */
#define ENTRIES(certificate, nid, type) entries_##type(X509_get_ext_d2i(certificate, nid, NULL, NULL))
#define COUNTS_ENTRIES(type, list, free_list)                                                                \
    static unsigned entries_##type(list *entries) {                                                          \
        int count = sk_##type##_num(entries); /* -1 for NULL */                                              \
        free_list(entries);                                                                                  \
        return count > 0 ? (unsigned)count : 0;                                                              \
    }
COUNTS_ENTRIES(GENERAL_NAME, GENERAL_NAMES, GENERAL_NAMES_free)
COUNTS_ENTRIES(POLICYINFO, CERTIFICATEPOLICIES, CERTIFICATEPOLICIES_free)
COUNTS_ENTRIES(DIST_POINT, CRL_DIST_POINTS, CRL_DIST_POINTS_free)

static bool check_parts(const struct context *c, X509 *certificate, struct fault *fault) {
    struct certificate_parts parts = {
        .names = ENTRIES(certificate, NID_subject_alt_name, GENERAL_NAME),
        .policies = ENTRIES(certificate, NID_certificate_policies, POLICYINFO),
        .crl_distribution_points = ENTRIES(certificate, NID_crl_distribution_points, DIST_POINT),
    };
    return certificate_parts_fit(&c->tls_case, &parts, fault);
}

/* A library older than the algorithm does not even know its number. */
static bool is_unknown_algorithm(X509 *certificate) {
    ASN1_OBJECT *algorithm = NULL;
    return X509_PUBKEY_get0_param(&algorithm, NULL, NULL, NULL, X509_get_X509_PUBKEY(certificate)) == 1 &&
           OBJ_obj2nid(algorithm) == NID_undef;
}

static bool check_key(const struct context *c, X509 *certificate, struct fault *fault) {
    EVP_PKEY *key = X509_get0_pubkey(certificate);
    if (key == NULL && is_unknown_algorithm(certificate))
        return openssl_fault(fault, FAULT_UNSUPPORTED,
                             "the library does not know the certificate's algorithm");
    if (key == NULL)
        return parse_fault(fault, "the certificate's key can't be used");
    const char *curve =
        EVP_PKEY_base_id(key) == EVP_PKEY_EC ? openssl_group_word(OBJ_nid2sn(compat_group_nid(key))) : NULL;
    return certificate_fits(&c->tls_case, openssl_key_word(key), (unsigned)EVP_PKEY_bits(key), curve, fault);
}

/* The client shows the server's certificate as its own. */
static bool has_certificate(const struct context *c, enum role role) {
    return !case_has_psk(&c->tls_case) && (role == ROLE_SERVER || c->tls_case.client_authentication);
}

/* With default settings the library may refuse what it thinks weak: that is its answer to the case. */
static enum fault_kind refusal(const struct context *c) {
    return c->tls_case.protocol == PROTOCOL_DEFAULT ? FAULT_UNSUPPORTED : FAULT_ERROR;
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
    compat_error last = ERR_peek_last_error();
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

/* The certificates of a file; NULL and a fault. */
static STACK_OF(X509) *
    load_chain(const struct context *c, const char *name, const char *reason, struct fault *fault) {
    struct material material;
    bool whole = false;
    BIO *bio = open_pem(c->folder, name, &material, fault);
    if (bio == NULL)
        return NULL;
    STACK_OF(X509) *chain = read_chain(bio, c->library, &whole);
    close_pem(bio, &material);
    if (whole)
        return chain;
    free_chain(chain);
    parse_fault(fault, reason);
    return NULL;
}

static STACK_OF(X509) * load_certificates(const struct context *c, struct fault *fault) {
    return load_chain(c, c->tls_case.certificate, "the certificate can't be read", fault);
}

static EVP_PKEY *load_dh(const struct context *c, struct fault *fault) {
    struct material material;
    BIO *bio = open_pem(c->folder, c->tls_case.dh_parameters, &material, fault);
    if (bio == NULL)
        return NULL;
    EVP_PKEY *dh = compat_dh_from_pem(bio, c->library);
    close_pem(bio, &material);
    if (dh == NULL)
        openssl_fault(fault, FAULT_ERROR, "the DH parameters can't be read");
    return dh;
}

/* --- What handshakes are compared with. --- */

static bool check_certificates(struct context *c, struct fault *fault) {
    STACK_OF(X509) *chain = load_certificates(c, fault);
    if (chain == NULL)
        return false;
    X509 *leaf = sk_X509_value(chain, 0);
    bool good = check_key(c, leaf, fault);
    if (good && (unsigned)sk_X509_num(chain) != c->tls_case.chain_length)
        good = fault_set(fault, FAULT_ERROR, "chain_length: wanted %u, the file holds %d",
                         c->tls_case.chain_length, sk_X509_num(chain));
    good = good && check_parts(c, leaf, fault) && keep_chain(c, chain, fault);
    free_chain(chain);
    return good;
}

/* The chain's own trust anchor is the first of the file. */
static bool check_trust_anchors(struct context *c, struct fault *fault) {
    STACK_OF(X509) *anchors =
        load_chain(c, c->tls_case.trust_anchors_file, "the trust anchors can't be read", fault);
    if (anchors == NULL)
        return false;
    bool good = (unsigned)sk_X509_num(anchors) == c->tls_case.trust_anchors ||
                fault_set(fault, FAULT_ERROR, "trust_anchors: wanted %u, the file holds %d",
                          c->tls_case.trust_anchors, sk_X509_num(anchors));
    if (good)
        c->trust_anchor = sk_X509_shift(anchors);
    free_chain(anchors);
    return good;
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

static bool check_custom_dh(struct context *c, struct fault *fault) {
    EVP_PKEY *dh = load_dh(c, fault);
    if (dh == NULL)
        return false;
    bool good = check_dh(c, dh, fault);
    if (good && c->library != NULL && !openssl_fips_takes_dh(c->library, dh))
        good = openssl_fault(fault, FAULT_UNSUPPORTED, "the FIPS provider does not take the DH parameters");
    EVP_PKEY_free(dh);
    return good;
}

bool openssl_load_expected(struct context *c, struct fault *fault) {
    const struct tls_case *t = &c->tls_case;
    return (case_has_psk(t) ? openssl_load_psk(c, fault) : check_certificates(c, fault)) &&
           (!t->verification || check_trust_anchors(c, fault)) &&
           (t->group != GROUP_CUSTOM_DH || check_custom_dh(c, fault));
}

bool openssl_load_ocsp(struct context *c, struct fault *fault) {
    const char *name = c->tls_case.ocsp_response;
    return strcmp(name, "-") == 0 || material_read(c->folder, name, &c->ocsp_response, fault);
}

/* --- What a role works with. --- */

static bool use_certificates(const struct context *c, SSL_CTX *ctx, struct fault *fault) {
    STACK_OF(X509) *chain = load_certificates(c, fault);
    if (chain == NULL)
        return false;
    bool good = SSL_CTX_use_certificate(ctx, sk_X509_value(chain, 0)) == 1;
    for (int i = 1; good && i < sk_X509_num(chain); i++)
        good = SSL_CTX_add1_chain_cert(ctx, sk_X509_value(chain, i)) == 1;
    free_chain(chain);
    return good || openssl_fault(fault, refusal(c), "the library does not take the certificate");
}

/* Never asks a person: an encrypted key is an error. */
static int no_password(char *buffer, int size, int writing, void *user) {
    (void)buffer, (void)size, (void)writing, (void)user;
    return -1;
}

static bool use_key(const struct context *c, SSL_CTX *ctx, struct fault *fault) {
    struct material material;
    BIO *bio = open_pem(c->folder, c->tls_case.key, &material, fault);
    if (bio == NULL)
        return false;
    EVP_PKEY *key = compat_read_key(bio, no_password, c->library);
    close_pem(bio, &material);
    if (key == NULL)
        return parse_fault(fault, "the key can't be read");
    bool good = SSL_CTX_use_PrivateKey(ctx, key) == 1 && SSL_CTX_check_private_key(ctx) == 1;
    EVP_PKEY_free(key);
    return good || openssl_fault(fault, FAULT_ERROR, "the key does not belong to the certificate");
}

/* Before 4.0 no OpenSSL negotiates ffdhe groups in TLS 1.2 (RFC 7919): the server brings the parameters. */
static bool use_dh(const struct context *c, SSL_CTX *ctx, struct fault *fault) {
    EVP_PKEY *dh;
    if (c->tls_case.group == GROUP_CUSTOM_DH) {
        dh = load_dh(c, fault);
    } else if ((dh = compat_dh_from_group(openssl_group_name(c->tls_case.group), c->library)) == NULL) {
        openssl_fault(fault, FAULT_UNSUPPORTED, "the library does not know this DH group");
    }
    if (dh == NULL)
        return false;
    bool good = compat_use_dh(ctx, dh);
    EVP_PKEY_free(dh);
    return good || openssl_fault(fault, FAULT_ERROR, "the DH parameters can't be used");
}

/* From the file or its folder, as applications do it. Of a folder nothing is read before a chain is verified.
 */
static bool use_trust_anchors(const struct context *c, SSL_CTX *ctx, struct fault *fault) {
    char path[PATH_MAX];
    bool is_file = c->tls_case.trust_store == TRUST_FILE;
    if (!trust_path(c->folder, &c->tls_case, path, fault))
        return false;
    return SSL_CTX_load_verify_locations(ctx, is_file ? path : NULL, is_file ? NULL : path) == 1 ||
           openssl_fault(fault, FAULT_ERROR, "the trust anchors can't be loaded");
}

bool openssl_load_role(struct context *c, SSL_CTX *ctx, enum role role, struct fault *fault) {
    const struct tls_case *t = &c->tls_case;
    bool dh = t->group == GROUP_CUSTOM_DH || (is_ffdhe(t->group) && case_has_tls_1_2(t));
    step_begin(STEP_KEYS);
    bool good = (!has_certificate(c, role) || (use_certificates(c, ctx, fault) && use_key(c, ctx, fault))) &&
                (role == ROLE_CLIENT || !dh || use_dh(c, ctx, fault));
    bool verifies = case_verifies(t, role == ROLE_CLIENT);
    if (verifies || role == ROLE_CLIENT)
        step_begin(STEP_TRUST);
    good = good && (!verifies || use_trust_anchors(c, ctx, fault));
    step_begin(STEP_CONTEXT);
    return good;
}
