#include "expected.h"

#include <string.h>

struct file {
    const char *name, *field, *unreadable;
    unsigned wanted;
};

/* The first `room` certificates of a file, which has as many as wanted. */
static bool load(const char *folder, const struct file *file, unsigned room, struct certificate *out,
                 struct fault *fault) {
    struct material pem;
    struct certificate one;
    unsigned count = 0;
    size_t at = 0;
    if (!material_read(folder, file->name, &pem, fault))
        return false;
    for (; certificate_next(pem.bytes, pem.length, &at, &one); count++) {
        if (count < room)
            out[count] = one;
        else
            certificate_free(&one);
    }
    bool whole = at == pem.length && count > 0;
    material_free(&pem);
    if (!whole)
        return fault_set(fault, FAULT_ERROR, "%s", file->unreadable);
    return count == file->wanted || fault_set(fault, FAULT_ERROR, "%s: wanted %u, the file holds %u",
                                              file->field, file->wanted, count);
}

static bool load_chain(const struct tls_case *t, const char *folder, struct expected *out,
                       struct fault *fault) {
    struct file file = {t->certificate, "chain_length", "the certificate can't be read", t->chain_length};
    struct certificate_facts facts;
    if (!load(folder, &file, CHAIN_MAX, out->chain, fault))
        return false;
    if (!certificate_read(&out->chain[0], &facts))
        return fault_set(fault, FAULT_ERROR, "%s", file.unreadable);
    if (!certificate_fits(t, facts.key, facts.bits, facts.curve, fault))
        return false;
    out->key_bits = facts.bits;
    for (unsigned i = 1; i < t->chain_length; i++) {
        if (!intermediate_fits(t, out->chain[i].length, fault))
            return false;
    }
    return certificate_parts_fit(t, &facts.parts, fault);
}

bool expected_load(const struct tls_case *t, const char *folder, struct expected *out, struct fault *fault) {
    struct file anchors = {t->trust_anchors_file, "trust_anchors", "the trust anchors can't be read",
                           t->trust_anchors};
    return load_chain(t, folder, out, fault) &&
           (!t->verification || load(folder, &anchors, 1, &out->trust_anchor, fault)) &&
           (strcmp(t->ocsp_response, "-") == 0 ||
            material_read(folder, t->ocsp_response, &out->ocsp_response, fault));
}

void expected_free(struct expected *expected) {
    for (unsigned i = 0; i < CHAIN_MAX; i++)
        certificate_free(&expected->chain[i]);
    certificate_free(&expected->trust_anchor);
    material_free(&expected->ocsp_response);
}

bool same_certificate(const struct certificate *wanted, const void *der, size_t length) {
    return wanted->der != NULL && length == wanted->length && memcmp(der, wanted->der, length) == 0;
}

bool expected_at(const struct expected *expected, size_t place, const void *der, size_t length) {
    return place < CHAIN_MAX && same_certificate(&expected->chain[place], der, length);
}
