/* Keys, certificates and DH parameters for GnuTLS: loaded from bytes, and refused when they
 * are not what the case says. */
#include "gnutls_backend.h"

#include "material.h"

#include <gnutls/abstract.h>
#include <gnutls/x509.h>

#include <stdio.h>
#include <string.h>

static gnutls_datum_t datum(const struct material *material) {
    return (gnutls_datum_t){.data = material->bytes, .size = material->length};
}

static gnutls_datum_t without_zeros(gnutls_datum_t number) {
    while (number.size > 0 && number.data[0] == 0) {
        number.data++;
        number.size--;
    }
    return number;
}

bool gnutls_same_number(gnutls_datum_t a, gnutls_datum_t b) {
    a = without_zeros(a);
    b = without_zeros(b);
    return a.size == b.size && a.size > 0 && memcmp(a.data, b.data, a.size) == 0;
}

unsigned gnutls_number_bits(gnutls_datum_t number) {
    number = without_zeros(number);
    if (number.size == 0)
        return 0;
    unsigned bits = 8 * (number.size - 1);
    for (unsigned top = number.data[0]; top > 0; top >>= 1)
        bits++;
    return bits;
}

static bool parse_fault(struct fault *fault, const char *reason, int code) {
    return gnutls_fault(fault, gnutls_kind_of(code), reason, code);
}

/* The library counts a key's bits in whole bytes: 528 on P-521. */
static const char *curve_of(gnutls_x509_crt_t certificate, unsigned *bits) {
    gnutls_ecc_curve_t curve = GNUTLS_ECC_CURVE_INVALID;
    gnutls_datum_t x = {0}, y = {0};
    if (gnutls_x509_crt_get_pk_ecc_raw(certificate, &curve, &x, &y) < 0)
        return NULL;
    gnutls_free(x.data);
    gnutls_free(y.data);
    const char *name = gnutls_ecc_curve_get_name(curve), *ours = gnutls_our_group(name);
    enum group group;
    if (ours != NULL && curve_from_name(ours, &group))
        *bits = curve_bits(group);
    return ours != NULL ? ours : name;
}

/* A build may know the name and nothing more. Only making a key tells that for sure: what stops such a build
 * from reading one may as well be a fault of the file. */
static bool has_ml_dsa(enum key_type type, struct fault *fault) {
    gnutls_x509_privkey_t key;
    int code = gnutls_x509_privkey_init(&key);
    if (code < 0)
        return gnutls_fault(fault, FAULT_ERROR, "out of memory", code);
    gnutls_pk_algorithm_t algorithm = gnutls_pk_get_id(gnutls_name_of_key(type));
    code = algorithm == GNUTLS_PK_UNKNOWN ? GNUTLS_E_UNKNOWN_PK_ALGORITHM
                                          : gnutls_x509_privkey_generate(key, algorithm, 0, 0);
    gnutls_x509_privkey_deinit(key);
    return code >= 0 || gnutls_fault(fault, FAULT_UNSUPPORTED, "the library can't make an ML-DSA key", code);
}

/* The first certificate's key; every handshake's certificates are compared with these bytes. */
static bool describe_key(struct context *c, gnutls_x509_crt_t certificate, struct fault *fault) {
    enum key_type type = c->tls_case.key_type;
    unsigned bits = 0;
    if (is_ml_dsa(type) && !has_ml_dsa(type, fault))
        return false;
    int algorithm = gnutls_x509_crt_get_pk_algorithm(certificate, &bits);
    if (algorithm < 0)
        return parse_fault(fault, "the certificate's key can't be used", algorithm);
    const char *name = gnutls_pk_get_name((gnutls_pk_algorithm_t)algorithm), *ours = gnutls_our_key(name);
    const char *curve = algorithm == GNUTLS_PK_EC ? curve_of(certificate, &bits) : NULL;
    c->key_bits = is_rsa_key(type) || type == KEY_ECDSA ? bits : 0;
    return certificate_fits(&c->tls_case, ours != NULL ? ours : name, bits, curve, fault);
}

/* How many entries there are, by a function that tells of one after the other until there is none. */
static unsigned entries(int (*entry)(gnutls_x509_crt_t certificate, unsigned index),
                        gnutls_x509_crt_t certificate) {
    unsigned count = 0;
    while (entry(certificate, count) != GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE && count <= NAMES_MAX)
        count++;
    return count;
}

static int name_entry(gnutls_x509_crt_t certificate, unsigned index) {
    char name[256];
    size_t size = sizeof name;
    return gnutls_x509_crt_get_subject_alt_name(certificate, index, name, &size, NULL);
}

static int policy_entry(gnutls_x509_crt_t certificate, unsigned index) {
    struct gnutls_x509_policy_st policy;
    int code = gnutls_x509_crt_get_policy(certificate, index, &policy, NULL);
    if (code >= 0)
        gnutls_x509_policy_release(&policy);
    return code;
}

static int crl_entry(gnutls_x509_crt_t certificate, unsigned index) {
    char name[256];
    size_t size = sizeof name;
    return gnutls_x509_crt_get_crl_dist_points(certificate, index, name, &size, NULL, NULL);
}

static bool check_parts(const struct context *c, gnutls_x509_crt_t certificate, struct fault *fault) {
    struct certificate_parts parts = {.names = entries(name_entry, certificate),
                                      .policies = entries(policy_entry, certificate),
                                      .crl_distribution_points = entries(crl_entry, certificate)};
    return certificate_parts_fit(&c->tls_case, &parts, fault);
}

static bool export_chain(struct context *c, const gnutls_x509_crt_t *list, unsigned count,
                         struct fault *fault) {
    if (count != c->tls_case.chain_length)
        return fault_set(fault, FAULT_ERROR, "chain_length: wanted %u, the file holds %u",
                         c->tls_case.chain_length, count);
    for (unsigned i = 0; i < count; i++) {
        int code = gnutls_x509_crt_export2(list[i], GNUTLS_X509_FMT_DER, &c->chain[i]);
        if (code < 0)
            return gnutls_fault(fault, FAULT_ERROR, "out of memory", code);
        c->chain_length++;
        if (i > 0 && !intermediate_fits(&c->tls_case, c->chain[i].size, fault))
            return false;
    }
    return true;
}

static bool read_certificates(struct context *c, const struct material *pem, struct fault *fault) {
    gnutls_x509_crt_t *list;
    unsigned count = 0;
    gnutls_datum_t text = datum(pem);
    int code = gnutls_x509_crt_list_import2(&list, &count, &text, GNUTLS_X509_FMT_PEM, 0);
    if (code < 0)
        return parse_fault(fault, "the certificate can't be read", code);
    bool good = count > 0 && describe_key(c, list[0], fault) && check_parts(c, list[0], fault) &&
                export_chain(c, list, count, fault);
    for (unsigned i = 0; i < count; i++)
        gnutls_x509_crt_deinit(list[i]);
    gnutls_free(list);
    return good;
}

/* Apart from the certificate, so that an unreadable key is told from one of another certificate. */
static bool check_key(const struct material *pem, struct fault *fault) {
    gnutls_x509_privkey_t key;
    gnutls_datum_t text = datum(pem);
    int code = gnutls_x509_privkey_init(&key);
    if (code < 0)
        return gnutls_fault(fault, FAULT_ERROR, "out of memory", code);
    code = gnutls_x509_privkey_import2(key, &text, GNUTLS_X509_FMT_PEM, NULL, 0);
    gnutls_x509_privkey_deinit(key);
    return code >= 0 || parse_fault(fault, "the key can't be read", code);
}

static bool use_pair(gnutls_certificate_credentials_t credentials, const struct material *certificate,
                     const struct material *key, struct fault *fault) {
    gnutls_datum_t certificate_text = datum(certificate), key_text = datum(key);
    int code = gnutls_certificate_set_x509_key_mem2(credentials, &certificate_text, &key_text,
                                                    GNUTLS_X509_FMT_PEM, NULL, 0);
    if (code == GNUTLS_E_CERTIFICATE_KEY_MISMATCH)
        return gnutls_fault(fault, FAULT_ERROR, "the key does not belong to the certificate", code);
    return code >= 0 || parse_fault(fault, "the certificate can't be used", code);
}

/* Reads certificate and key, for set-up to check them and for a role to use them. */
static bool load_pair(const struct context *c, struct material *certificate, struct material *key,
                      struct fault *fault) {
    if (!material_read(c->folder, c->tls_case.certificate, certificate, fault))
        return false;
    if (material_read(c->folder, c->tls_case.key, key, fault))
        return true;
    material_free(certificate);
    return false;
}

static bool check_pair(struct context *c, struct fault *fault) {
    struct material certificate, key;
    if (!load_pair(c, &certificate, &key, fault))
        return false;
    bool good = read_certificates(c, &certificate, fault) && check_key(&key, fault);
    material_free(&certificate);
    material_free(&key);
    return good;
}

static bool load_pair_of(const struct context *c, gnutls_certificate_credentials_t credentials,
                         struct fault *fault) {
    struct material certificate, key;
    if (!load_pair(c, &certificate, &key, fault))
        return false;
    bool good = use_pair(credentials, &certificate, &key, fault);
    material_free(&certificate);
    material_free(&key);
    return good;
}

/* --- Trust anchors. The chain's own is the first of the file. --- */

static bool leads_to(const struct context *c, gnutls_x509_crt_t anchor, struct fault *fault) {
    gnutls_x509_crt_t chain[CHAIN_MAX];
    unsigned count = 0, status = 0;
    int code = 0;
    while (code >= 0 && count < c->chain_length && (code = gnutls_x509_crt_init(&chain[count])) >= 0) {
        code = gnutls_x509_crt_import(chain[count], &c->chain[count], GNUTLS_X509_FMT_DER);
        count++;
    }
    if (code >= 0)
        code = gnutls_x509_crt_list_verify(chain, count, &anchor, 1, NULL, 0, 0, &status);
    while (count > 0)
        gnutls_x509_crt_deinit(chain[--count]);
    if (code < 0)
        return gnutls_fault(fault, FAULT_ERROR, "the chain can't be verified", code);
    return status == 0 ||
           fault_set(fault, FAULT_ERROR, "verification: the chain does not lead to the first trust anchor");
}

static bool check_trust_anchors(struct context *c, struct fault *fault) {
    struct material pem;
    gnutls_x509_crt_t *list;
    unsigned count = 0;
    if (!material_read(c->folder, c->tls_case.trust_anchors_file, &pem, fault))
        return false;
    gnutls_datum_t text = datum(&pem);
    int code = gnutls_x509_crt_list_import2(&list, &count, &text, GNUTLS_X509_FMT_PEM, 0);
    material_free(&pem);
    if (code < 0)
        return parse_fault(fault, "the trust anchors can't be read", code);
    bool good = count == c->tls_case.trust_anchors
                    ? leads_to(c, list[0], fault)
                    : fault_set(fault, FAULT_ERROR, "trust_anchors: wanted %u, the file holds %u",
                                c->tls_case.trust_anchors, count);
    for (unsigned i = 0; i < count; i++)
        gnutls_x509_crt_deinit(list[i]);
    gnutls_free(list);
    return good;
}

/* From the file or its folder, of which all files are read, as applications do it. */
static bool use_trust_anchors(const struct context *c, gnutls_certificate_credentials_t credentials,
                              struct fault *fault) {
    char path[PATH_MAX];
    if (!trust_path(c->folder, &c->tls_case, path, fault))
        return false;
    int count = c->tls_case.trust_store == TRUST_FOLDER
                    ? gnutls_certificate_set_x509_trust_dir(credentials, path, GNUTLS_X509_FMT_PEM)
                    : gnutls_certificate_set_x509_trust_file(credentials, path, GNUTLS_X509_FMT_PEM);
    if (count < 0)
        return gnutls_fault(fault, FAULT_ERROR, "the trust anchors can't be loaded", count);
    return (unsigned)count == c->tls_case.trust_anchors ||
           fault_set(fault, FAULT_ERROR, "trust_anchors: wanted %u, the library loaded %d",
                     c->tls_case.trust_anchors, count);
}

/* --- DH parameters and the OCSP response. --- */

static bool check_dh(struct context *c, gnutls_dh_params_t dh, struct fault *fault) {
    gnutls_datum_t generator = {0}, two = {(unsigned char *)"\x02", 1};
    unsigned private_bits = 0;
    int code = gnutls_dh_params_export_raw(dh, &c->dh_prime, &generator, &private_bits);
    if (code < 0)
        return gnutls_fault(fault, FAULT_ERROR, "the DH parameters can't be used", code);
    bool is_two = gnutls_same_number(generator, two);
    gnutls_free(generator.data);
    unsigned bits = gnutls_number_bits(c->dh_prime);
    if (bits != c->tls_case.dh_bits)
        return fault_set(fault, FAULT_ERROR, "group: wanted %s, the file has a prime of %u bits",
                         c->tls_case.group_name, bits);
    if (!is_two)
        return fault_set(fault, FAULT_ERROR, "the generator of the DH parameters is not 2");
    if (private_bits != 0)
        /* It would decide the exponent's length, and with it the cost, in place of the library. */
        return fault_set(fault, FAULT_ERROR, "the DH parameters hold a privateValueLength of %u bits",
                         private_bits);
    return true;
}

static bool load_dh(const struct context *c, gnutls_dh_params_t *out, struct fault *fault) {
    struct material pem;
    if (!material_read(c->folder, c->tls_case.dh_parameters, &pem, fault))
        return false;
    gnutls_datum_t text = datum(&pem);
    int code = gnutls_dh_params_init(out);
    if (code >= 0)
        code = gnutls_dh_params_import_pkcs3(*out, &text, GNUTLS_X509_FMT_PEM);
    else
        *out = NULL;
    material_free(&pem);
    return code >= 0 || gnutls_fault(fault, FAULT_ERROR, "the DH parameters can't be read", code);
}

static bool check_custom_dh(struct context *c, struct fault *fault) {
    gnutls_dh_params_t dh = NULL;
    bool good = load_dh(c, &dh, fault) && check_dh(c, dh, fault);
    if (dh != NULL)
        gnutls_dh_params_deinit(dh);
    return good;
}

/* The library frees what it gets. */
static int staple(gnutls_session_t session, void *pointer, gnutls_datum_t *out) {
    const gnutls_datum_t *response = pointer;
    (void)session;
    out->data = gnutls_malloc(response->size);
    if (out->data == NULL)
        return GNUTLS_E_MEMORY_ERROR;
    memcpy(out->data, response->data, response->size);
    out->size = response->size;
    return 0;
}

static bool keep_ocsp(struct context *c, struct fault *fault) {
    struct material der;
    if (!material_read(c->folder, c->tls_case.ocsp_response, &der, fault))
        return false;
    gnutls_datum_t response = datum(&der);
    c->ocsp.data = gnutls_malloc(response.size);
    if (c->ocsp.data != NULL) {
        memcpy(c->ocsp.data, response.data, response.size);
        c->ocsp.size = response.size;
    }
    material_free(&der);
    return c->ocsp.data != NULL || fault_set(fault, FAULT_ERROR, "out of memory");
}

bool gnutls_load_expected(struct context *c, struct fault *fault) {
    const struct tls_case *t = &c->tls_case;
    return (case_has_psk(t) ? material_read_psk(c->folder, t->key, c->psk, fault) : check_pair(c, fault)) &&
           (!t->verification || check_trust_anchors(c, fault)) &&
           (t->group != GROUP_CUSTOM_DH || check_custom_dh(c, fault));
}

bool gnutls_load_ocsp(struct context *c, struct fault *fault) {
    return strcmp(c->tls_case.ocsp_response, "-") == 0 || keep_ocsp(c, fault);
}

bool gnutls_load_role(struct context *c, struct configuration *out, enum role role, struct fault *fault) {
    const struct tls_case *t = &c->tls_case;
    bool shows = !case_has_psk(t) && (role == ROLE_SERVER || t->client_authentication);
    step_begin(STEP_KEYS);
    bool good = !shows || load_pair_of(c, out->credentials, fault);
    bool verifies = case_verifies(t, role == ROLE_CLIENT);
    if (verifies || role == ROLE_CLIENT)
        step_begin(STEP_TRUST);
    good = good && (!verifies || use_trust_anchors(c, out->credentials, fault));
    step_begin(STEP_CONTEXT);
    if (!good || role == ROLE_CLIENT)
        return good;
    if (t->group == GROUP_CUSTOM_DH) {
        if (!load_dh(c, &out->dh, fault))
            return false;
        if (case_has_psk(t))
            gnutls_psk_set_server_dh_params(out->psk_server, out->dh);
        else
            gnutls_certificate_set_dh_params(out->credentials, out->dh);
    }
    /* By a function: the library would refuse a response that is out of date, or another certificate's. */
    if (c->ocsp.size > 0)
        gnutls_certificate_set_ocsp_status_request_function(out->credentials, staple, &c->ocsp);
    return true;
}
