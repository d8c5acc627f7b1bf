/* Checks of certificates and trust anchors, with the X.509 of the library's own libcrypto. */
#include "s2n_backend.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <string.h>

static bool cryptography_fault(struct fault *fault, const char *reason) {
    fault_set(fault, FAULT_ERROR, "%s", reason);
    ERR_error_string_n(ERR_peek_error(), fault->detail, sizeof fault->detail);
    ERR_clear_error();
    return false;
}

static const char *key_word(int type) {
    static const struct {
        int type;
        enum key_type ours;
    } keys[] = {{EVP_PKEY_RSA, KEY_RSA},      {EVP_PKEY_RSA_PSS, KEY_RSA_PSS},
                {EVP_PKEY_EC, KEY_ECDSA},     {EVP_PKEY_ED25519, KEY_ED25519},
                {NID_MLDSA44, KEY_ML_DSA_44}, {NID_MLDSA65, KEY_ML_DSA_65},
                {NID_MLDSA87, KEY_ML_DSA_87}};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (keys[i].type == type)
            return peer_key_name(keys[i].ours);
    }
    return OBJ_nid2sn(type);
}

static const char *curve_word(const EVP_PKEY *key) {
    const EC_KEY *ec = EVP_PKEY_get0_EC_KEY(key);
    int nid = ec == NULL ? NID_undef : EC_GROUP_get_curve_name(EC_KEY_get0_group(ec));
    const char *nist = EC_curve_nid2nist(nid);
    return nid == NID_undef ? NULL : nist != NULL ? nist : OBJ_nid2sn(nid);
}

static bool check_key(struct context *c, X509 *certificate, struct fault *fault) {
    EVP_PKEY *key = X509_get0_pubkey(certificate);
    if (key == NULL)
        return fault_set(fault, FAULT_UNSUPPORTED, "the library does not know the certificate's kind of key");
    int type = EVP_PKEY_id(key) == EVP_PKEY_PQDSA ? EVP_PKEY_pqdsa_get_type(key) : EVP_PKEY_id(key);
    bool sized = type == EVP_PKEY_RSA || type == EVP_PKEY_RSA_PSS || type == EVP_PKEY_EC;
    c->key_bits = sized ? (unsigned)EVP_PKEY_bits(key) : 0;
    return certificate_fits(&c->tls_case, key_word(type), (unsigned)EVP_PKEY_bits(key), curve_word(key),
                            fault);
}

/* How many entries an extension has; 0 where there is none. */
#define ENTRIES(certificate, nid, type) entries_##type(X509_get_ext_d2i(certificate, nid, NULL, NULL))
#define COUNTS_ENTRIES(type, list, free_list)                                                                \
    static unsigned entries_##type(list *entries) {                                                          \
        size_t count = entries == NULL ? 0 : sk_##type##_num(entries);                                       \
        free_list(entries);                                                                                  \
        return (unsigned)count;                                                                              \
    }
COUNTS_ENTRIES(GENERAL_NAME, GENERAL_NAMES, GENERAL_NAMES_free)
COUNTS_ENTRIES(POLICYINFO, CERTIFICATEPOLICIES, CERTIFICATEPOLICIES_free)
COUNTS_ENTRIES(DIST_POINT, CRL_DIST_POINTS, CRL_DIST_POINTS_free)

static bool check_parts(const struct context *c, const X509 *certificate, struct fault *fault) {
    struct certificate_parts parts = {
        .names = ENTRIES(certificate, NID_subject_alt_name, GENERAL_NAME),
        .policies = ENTRIES(certificate, NID_certificate_policies, POLICYINFO),
        .crl_distribution_points = ENTRIES(certificate, NID_crl_distribution_points, DIST_POINT),
    };
    return certificate_parts_fit(&c->tls_case, &parts, fault);
}

static bool take_certificate(struct context *c, unsigned place, X509 *certificate, struct fault *fault) {
    unsigned char *der = NULL;
    int length = i2d_X509(certificate, &der);
    bool good = length > 0 && bytes_copy(&c->chain[place], der, (size_t)length);
    OPENSSL_free(der);
    if (!good)
        return cryptography_fault(fault, "the certificate can't be read");
    return place == 0 ? check_key(c, certificate, fault) && check_parts(c, certificate, fault)
                      : intermediate_fits(&c->tls_case, (size_t)length, fault);
}

static bool take_anchor(struct context *c, unsigned place, X509 *certificate, struct fault *fault) {
    (void)fault;
    if (place == 0) /* the chain's own is the first of the file */
        c->trust_anchor = X509_dup(certificate);
    return true;
}

struct file {
    const char *name, *field, *unreadable;
    unsigned wanted;
    bool (*take)(struct context *context, unsigned place, X509 *certificate, struct fault *fault);
};

/* Each certificate of a file is taken, and there are as many as wanted. */
static bool load(struct context *c, const struct file *file, struct fault *fault) {
    struct material material;
    X509 *certificate;
    unsigned count = 0;
    bool good = true;
    if (!material_read(c->folder, file->name, &material, fault))
        return false;
    BIO *pem = BIO_new_mem_buf(material.bytes, (int)material.length);
    while (good && pem != NULL && (certificate = PEM_read_bio_X509(pem, NULL, NULL, NULL)) != NULL) {
        if (count < file->wanted)
            good = file->take(c, count, certificate, fault);
        count++;
        X509_free(certificate);
    }
    BIO_free(pem);
    material_free(&material);
    uint32_t last = ERR_peek_last_error();
    if (good &&
        (count == 0 || ERR_GET_LIB(last) != ERR_LIB_PEM || ERR_GET_REASON(last) != PEM_R_NO_START_LINE))
        return cryptography_fault(fault, file->unreadable);
    ERR_clear_error();
    return good && (count == file->wanted || fault_set(fault, FAULT_ERROR, "%s: wanted %u, the file holds %u",
                                                       file->field, file->wanted, count));
}

bool s2n_load_expected(struct context *c, struct fault *fault) {
    const struct tls_case *t = &c->tls_case;
    struct file chain = {t->certificate, "chain_length", "the certificate can't be read", t->chain_length,
                         take_certificate};
    struct file anchors = {t->trust_anchors_file, "trust_anchors", "the trust anchors can't be read",
                           t->trust_anchors, take_anchor};
    return load(c, &chain, fault) && (!t->verification || load(c, &anchors, fault)) &&
           (strcmp(t->ocsp_response, "-") == 0 ||
            material_read(c->folder, t->ocsp_response, &c->ocsp_response, fault));
}
