/* Keys, certificates and trust anchors for wolfSSL, loaded from bytes. */
#include "wolfssl_backend.h"

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

/* What was verified becomes an issuer, as in a handshake. */
bool wolfssl_leads_to_anchor(const struct context *c, struct fault *fault) {
    const struct certificate *issuer = &c->expected.trust_anchor;
    WOLFSSL_CERT_MANAGER *manager = wolfSSL_CertManagerNew();
    if (manager == NULL)
        return fault_set(fault, FAULT_ERROR, "out of memory");
    int code = WOLFSSL_SUCCESS;
    for (unsigned left = c->tls_case.chain_length; left > 0 && code == WOLFSSL_SUCCESS; left--) {
        const struct certificate *next = &c->expected.chain[left - 1];
        code = wolfSSL_CertManagerLoadCABuffer(manager, issuer->der, (long)issuer->length,
                                               WOLFSSL_FILETYPE_ASN1);
        if (code == WOLFSSL_SUCCESS)
            code = wolfSSL_CertManagerVerifyBuffer(manager, next->der, (long)next->length,
                                                   WOLFSSL_FILETYPE_ASN1);
        issuer = next;
    }
    wolfSSL_CertManagerFree(manager);
    return code == WOLFSSL_SUCCESS ||
           wolfssl_fault(fault, FAULT_ERROR,
                         "verification: the chain does not lead to the first trust anchor", code);
}
