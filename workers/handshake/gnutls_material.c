/* Keys, certificates and DH parameters for GnuTLS: loaded from bytes, and refused when they
 * are not what the case says. */
#include "gnutls_backend.h"

#include "material.h"

#include <gnutls/abstract.h>
#include <gnutls/x509.h>

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
    bool no_curve = code == GNUTLS_E_ECC_UNSUPPORTED_CURVE || code == GNUTLS_E_ECC_NO_SUPPORTED_CURVES;
    return gnutls_fault(fault, no_curve ? FAULT_UNSUPPORTED : FAULT_ERROR, reason, code);
}

static const char *curve_of(gnutls_x509_crt_t certificate, unsigned *bits) {
    gnutls_ecc_curve_t curve = GNUTLS_ECC_CURVE_INVALID;
    gnutls_datum_t x = {0}, y = {0};
    if (gnutls_x509_crt_get_pk_ecc_raw(certificate, &curve, &x, &y) < 0)
        return NULL;
    gnutls_free(x.data);
    gnutls_free(y.data);
    const char *ours = gnutls_our_curve(curve, bits);
    return ours != NULL ? ours : gnutls_ecc_curve_get_name(curve);
}

/* Kept for gnutls_inspect: every handshake's certificate is compared with these bytes. */
static bool describe_key(struct context *c, gnutls_x509_crt_t certificate, struct fault *fault) {
    int algorithm = gnutls_x509_crt_get_pk_algorithm(certificate, &c->key_bits);
    bool ec = algorithm == GNUTLS_PK_EC;
    if (algorithm < 0)
        return parse_fault(fault, "the certificate's key can't be used", algorithm);
    c->key_word = ec ? "EC" : gnutls_pk_algorithm_get_name((gnutls_pk_algorithm_t)algorithm);
    if (algorithm == GNUTLS_PK_RSA)
        c->key_word = "RSA";
    const char *curve = ec ? curve_of(certificate, &c->key_bits) : NULL;
    return certificate_fits(&c->tls_case, c->key_word, c->key_bits, curve, fault);
}

static bool read_certificate(struct context *c, const struct material *pem, struct fault *fault) {
    gnutls_x509_crt_t certificate;
    gnutls_datum_t text = datum(pem);
    int code = gnutls_x509_crt_init(&certificate);
    if (code < 0)
        return gnutls_fault(fault, FAULT_ERROR, "out of memory", code);
    bool good = false;
    if ((code = gnutls_x509_crt_import(certificate, &text, GNUTLS_X509_FMT_PEM)) < 0 ||
        (code = gnutls_x509_crt_export2(certificate, GNUTLS_X509_FMT_DER, &c->certificate_der)) < 0)
        parse_fault(fault, "the certificate can't be read", code);
    else
        good = describe_key(c, certificate, fault);
    gnutls_x509_crt_deinit(certificate);
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

static bool use_pair(struct context *c, const struct material *certificate, const struct material *key,
                     struct fault *fault) {
    gnutls_datum_t certificate_text = datum(certificate), key_text = datum(key);
    int code = gnutls_certificate_set_x509_key_mem2(c->server_credentials, &certificate_text, &key_text,
                                                    GNUTLS_X509_FMT_PEM, NULL, 0);
    if (code == GNUTLS_E_CERTIFICATE_KEY_MISMATCH)
        return gnutls_fault(fault, FAULT_ERROR, "the key does not belong to the certificate", code);
    return code >= 0 || parse_fault(fault, "the certificate can't be used", code);
}

static bool load_pair(struct context *c, const char *folder, struct fault *fault) {
    struct material certificate, key;
    if (!material_read(folder, c->tls_case.certificate, &certificate, fault))
        return false;
    bool good = read_certificate(c, &certificate, fault);
    if (good && (good = material_read(folder, c->tls_case.key, &key, fault))) {
        good = check_key(&key, fault) && use_pair(c, &certificate, &key, fault);
        material_free(&key);
    }
    material_free(&certificate);
    return good;
}

static bool check_dh(struct context *c, struct fault *fault) {
    gnutls_datum_t generator = {0}, two = {(unsigned char *)"\x02", 1};
    unsigned private_bits = 0;
    int code = gnutls_dh_params_export_raw(c->dh, &c->dh_prime, &generator, &private_bits);
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

static bool load_custom_dh(struct context *c, const char *folder, struct fault *fault) {
    struct material pem;
    if (!material_read(folder, c->tls_case.dh_parameters, &pem, fault))
        return false;
    gnutls_datum_t text = datum(&pem);
    int code = gnutls_dh_params_init(&c->dh);
    if (code >= 0)
        code = gnutls_dh_params_import_pkcs3(c->dh, &text, GNUTLS_X509_FMT_PEM);
    material_free(&pem);
    if (code < 0)
        return gnutls_fault(fault, FAULT_ERROR, "the DH parameters can't be read", code);
    if (!check_dh(c, fault))
        return false;
    gnutls_certificate_set_dh_params(c->server_credentials, c->dh);
    return true;
}

bool gnutls_load_material(struct context *c, const char *folder, struct fault *fault) {
    return load_pair(c, folder, fault) &&
           (c->tls_case.group != GROUP_CUSTOM_DH || load_custom_dh(c, folder, fault));
}
