/* Keys, certificates and trust anchors for wolfSSL: loaded from bytes, and refused when they are not what the
 * case says. */
#include "wolfssl_backend.h"

#include "certificate.h"
#include "iana.h"
#include "material.h"

#include <stdio.h>
#include <string.h>

/* How many certificates a PEM file holds; the first CHAIN_MAX go to `out` unless it is NULL. 0: something
 * else than the end stopped it. */
static unsigned read_certificates(const struct material *pem, DerBuffer **out) {
    static const char begin[] = "-----BEGIN CERTIFICATE-----";
    const unsigned char *at = pem->bytes, *end = pem->bytes + pem->length;
    unsigned count = 0;
    while ((at = memmem(at, (size_t)(end - at), begin, sizeof begin - 1)) != NULL) {
        DerBuffer *der = NULL;
        if (wc_PemToDer(at, end - at, CERT_TYPE, &der, NULL, NULL, NULL) != 0)
            return 0;
        if (out != NULL && count < CHAIN_MAX)
            out[count] = der;
        else
            wc_FreeDer(&der);
        count++;
        at += sizeof begin - 1;
    }
    return count;
}

static unsigned rsa_bits(const struct DecodedCert *certificate) {
    const byte *modulus = NULL, *exponent = NULL;
    word32 index = 0, length = 0, exponent_length = 0;
    if (wc_RsaPublicKeyDecode_ex(certificate->publicKey, &index, certificate->pubKeySize, &modulus, &length,
                                 &exponent, &exponent_length) != 0)
        return 0;
    while (length > 0 && *modulus == 0)
        modulus++, length--;
    return length == 0 ? 0 : 8 * length - (unsigned)(__builtin_clz(*modulus) - 24);
}

static const char *curve_word(unsigned oid) {
    return oid == ECC_SECP256R1_OID   ? group_name(GROUP_P256)
           : oid == ECC_SECP384R1_OID ? group_name(GROUP_P384)
           : oid == ECC_SECP521R1_OID ? group_name(GROUP_P521)
                                      : NULL;
}

static bool check_key(struct context *c, const struct DecodedCert *certificate, struct fault *fault) {
    switch (certificate->keyOID) {
    case RSAk:
    case RSAPSSk:
        c->key_bits = rsa_bits(certificate);
        return certificate_fits(&c->tls_case,
                                peer_key_name(certificate->keyOID == RSAk ? KEY_RSA : KEY_RSA_PSS),
                                c->key_bits, NULL, fault);
    case ECDSAk:
        if (curve_word(certificate->pkCurveOID) == NULL)
            return fault_set(fault, FAULT_UNSUPPORTED, "the library does not know the certificate's curve");
        c->key_bits = c->tls_case.curve == GROUP_NONE ? 0 : curve_bits(c->tls_case.curve);
        return certificate_fits(&c->tls_case, peer_key_name(KEY_ECDSA), c->key_bits,
                                curve_word(certificate->pkCurveOID), fault);
    case ED25519k:
        return certificate_fits(&c->tls_case, peer_key_name(KEY_ED25519), 0, NULL, fault);
    case ED448k:
        return certificate_fits(&c->tls_case, peer_key_name(KEY_ED448), 0, NULL, fault);
    default:
        return fault_set(fault, FAULT_UNSUPPORTED, "the library does not know the certificate's key");
    }
}

/* Keys that this build lacks show when the certificate is parsed. */
static bool check_first(struct context *c, struct fault *fault) {
    struct DecodedCert certificate;
    struct certificate_facts facts;
    wc_InitDecodedCert(&certificate, c->chain[0]->buffer, c->chain[0]->length, NULL);
    int code = wc_ParseCert(&certificate, CERT_TYPE, NO_VERIFY, NULL);
    bool good = code == 0 ||
                wolfssl_fault(fault, FAULT_UNSUPPORTED, "the library does not read the certificate", code);
    good = good && check_key(c, &certificate, fault);
    if (good && c->chain_length != c->tls_case.chain_length)
        good = fault_set(fault, FAULT_ERROR, "chain_length: wanted %u, the file holds %u",
                         c->tls_case.chain_length, c->chain_length);
    good = good &&
           (certificate_read(&(struct certificate){c->chain[0]->buffer, c->chain[0]->length}, &facts) ||
            fault_set(fault, FAULT_ERROR, "the certificate can't be read")) &&
           certificate_parts_fit(&c->tls_case, &facts.parts, fault);
    for (unsigned i = 1; good && i < c->chain_length; i++)
        good = intermediate_fits(&c->tls_case, c->chain[i]->length, fault);
    wc_FreeDecodedCert(&certificate);
    return good;
}

static bool check_chain(struct context *c, struct fault *fault) {
    struct material pem;
    if (!material_read(c->folder, c->tls_case.certificate, &pem, fault))
        return false;
    c->chain_length = read_certificates(&pem, c->chain);
    material_free(&pem);
    if (c->chain_length == 0 || c->chain_length > CHAIN_MAX)
        return fault_set(fault, FAULT_ERROR, "the certificate can't be read");
    return check_first(c, fault);
}

static bool check_trust_anchors(const struct context *c, struct fault *fault) {
    const struct tls_case *t = &c->tls_case;
    struct material pem;
    if (!material_read(c->folder, t->trust_anchors_file, &pem, fault))
        return false;
    unsigned anchors = read_certificates(&pem, NULL);
    material_free(&pem);
    if (anchors == 0)
        return fault_set(fault, FAULT_ERROR, "the trust anchors can't be read");
    return anchors == t->trust_anchors ||
           fault_set(fault, FAULT_ERROR, "trust_anchors: wanted %u, the file holds %u", t->trust_anchors,
                     anchors);
}

/* Asked for before the library's lack of stapling shows. */
static bool has_response(const struct context *c, struct fault *fault) {
    struct material response = {0};
    bool good = strcmp(c->tls_case.ocsp_response, "-") == 0 ||
                material_read(c->folder, c->tls_case.ocsp_response, &response, fault);
    material_free(&response);
    return good;
}

bool wolfssl_load_expected(struct context *c, struct fault *fault) {
    return check_chain(c, fault) && has_response(c, fault) &&
           (!c->tls_case.verification || check_trust_anchors(c, fault));
}

/* --- What a role works with. --- */

static bool use_chain(const struct context *c, WOLFSSL_CTX *ctx, struct fault *fault) {
    struct material pem;
    if (!material_read(c->folder, c->tls_case.certificate, &pem, fault))
        return false;
    int code = wolfSSL_CTX_use_certificate_chain_buffer(ctx, pem.bytes, pem.length);
    material_free(&pem);
    return code == WOLFSSL_SUCCESS ||
           wolfssl_fault(fault, FAULT_UNSUPPORTED, "the library does not take the certificate", code);
}

static bool use_key(const struct context *c, WOLFSSL_CTX *ctx, struct fault *fault) {
    struct material pem;
    DerBuffer *der = NULL;
    if (!material_read(c->folder, c->tls_case.key, &pem, fault))
        return false;
    bool readable = wc_PemToDer(pem.bytes, pem.length, PRIVATEKEY_TYPE, &der, NULL, NULL, NULL) == 0;
    int code =
        readable ? wolfSSL_CTX_use_PrivateKey_buffer(ctx, pem.bytes, pem.length, WOLFSSL_FILETYPE_PEM) : 0;
    wc_FreeDer(&der);
    material_free(&pem);
    if (!readable)
        return fault_set(fault, FAULT_ERROR, "the key can't be read");
    if (code != WOLFSSL_SUCCESS)
        return wolfssl_fault(fault, FAULT_UNSUPPORTED, "the library does not take the key", code);
    return wolfSSL_CTX_check_private_key(ctx) == WOLFSSL_SUCCESS ||
           fault_set(fault, FAULT_ERROR, "the key does not belong to the certificate");
}

static bool use_trust_anchors(const struct context *c, WOLFSSL_CTX *ctx, struct fault *fault) {
    struct material pem;
    if (!material_read(c->folder, c->tls_case.trust_anchors_file, &pem, fault))
        return false;
    int code = wolfSSL_CTX_load_verify_buffer(ctx, pem.bytes, pem.length, WOLFSSL_FILETYPE_PEM);
    material_free(&pem);
    return code == WOLFSSL_SUCCESS ||
           wolfssl_fault(fault, FAULT_ERROR, "the trust anchors can't be loaded", code);
}

bool wolfssl_load_role(const struct context *c, WOLFSSL_CTX *ctx, enum role role, struct fault *fault) {
    const struct tls_case *t = &c->tls_case;
    bool shows = role == ROLE_SERVER || t->client_authentication;
    return (!shows || (use_chain(c, ctx, fault) && use_key(c, ctx, fault))) &&
           (!case_verifies(t, role == ROLE_CLIENT) || use_trust_anchors(c, ctx, fault));
}
