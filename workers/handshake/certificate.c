/* PEM (RFC 7468) and as much of X.509 (RFC 5280, section 4.1) as the facts need. */
#include "certificate.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

static const char BEGIN[] = "-----BEGIN CERTIFICATE-----", END[] = "-----END CERTIFICATE-----";

/* --- PEM. --- */

static int base64(unsigned char c) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c == '\0' ? NULL : strchr(digits, c);
    return at == NULL ? -1 : (int)(at - digits);
}

static bool is_space(unsigned char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* As many bytes as `out` has room for: three of four digits. */
static bool decode(const unsigned char *text, size_t length, struct certificate *out) {
    unsigned bits = 0, held = 0;
    size_t i = 0;
    for (; i < length && text[i] != '='; i++) {
        int digit = base64(text[i]);
        if (digit < 0 && !is_space(text[i]))
            return false;
        if (digit < 0)
            continue;
        held = held << 6 | (unsigned)digit;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            out->der[out->length++] = (unsigned char)(held >> bits);
        }
    }
    for (; i < length; i++) {
        if (text[i] != '=' && !is_space(text[i]))
            return false;
    }
    return out->length > 0;
}

static const unsigned char *find(const unsigned char *text, size_t length, const char *word) {
    return memmem(text, length, word, strlen(word));
}

bool certificate_next(const unsigned char *pem, size_t length, size_t *at, struct certificate *out) {
    *out = (struct certificate){0};
    const unsigned char *begin = find(pem + *at, length - *at, BEGIN);
    if (begin == NULL) {
        *at = length;
        return false;
    }
    const unsigned char *body = begin + sizeof BEGIN - 1;
    *at = (size_t)(body - pem);
    const unsigned char *end = find(body, length - *at, END);
    if (end == NULL || (out->der = malloc((size_t)(end - body) + 1)) == NULL)
        return false;
    if (!decode(body, (size_t)(end - body), out)) {
        certificate_free(out);
        return false;
    }
    *at = (size_t)(end - pem) + sizeof END - 1;
    return true;
}

void certificate_free(struct certificate *certificate) {
    free(certificate->der);
    *certificate = (struct certificate){0};
}

/* --- DER. --- */

enum { INTEGER = 0x02, BIT_STRING = 0x03, OCTET_STRING = 0x04, OBJECT = 0x06, SEQUENCE = 0x30 };
enum { VERSION = 0xa0, EXTENSIONS = 0xa3 };

struct rest {
    const unsigned char *at;
    size_t length;
};

/* The next element, whatever it is. */
static bool element(struct rest *rest, unsigned *tag, struct rest *out) {
    size_t header = 2, length;
    if (rest->length < header)
        return false;
    *tag = rest->at[0];
    length = rest->at[1];
    if (length >= 0x80) {
        size_t bytes = length & 0x7f;
        if (bytes == 0 || bytes > 3 || rest->length < header + bytes)
            return false;
        length = 0;
        for (size_t i = 0; i < bytes; i++)
            length = length << 8 | rest->at[header + i];
        header += bytes;
    }
    if (rest->length - header < length)
        return false;
    *out = (struct rest){rest->at + header, length};
    *rest = (struct rest){rest->at + header + length, rest->length - header - length};
    return true;
}

static bool expect(struct rest *rest, unsigned wanted, struct rest *out) {
    unsigned tag;
    return element(rest, &tag, out) && tag == wanted;
}

static bool is(struct rest object, const char *bytes, size_t length) {
    return object.length == length && memcmp(object.at, bytes, length) == 0;
}

#define OID(bytes) bytes, sizeof bytes - 1
static const struct {
    const char *bytes;
    size_t length;
    enum key_type type;
} algorithms[] = {{OID("\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01"), KEY_RSA},
                  {OID("\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0a"), KEY_RSA_PSS},
                  {OID("\x2a\x86\x48\xce\x3d\x02\x01"), KEY_ECDSA},
                  {OID("\x2b\x65\x70"), KEY_ED25519},
                  {OID("\x2b\x65\x71"), KEY_ED448},
                  {OID("\x60\x86\x48\x01\x65\x03\x04\x03\x11"), KEY_ML_DSA_44},
                  {OID("\x60\x86\x48\x01\x65\x03\x04\x03\x12"), KEY_ML_DSA_65},
                  {OID("\x60\x86\x48\x01\x65\x03\x04\x03\x13"), KEY_ML_DSA_87}};
static const struct {
    const char *bytes;
    size_t length;
    enum group curve;
} curves[] = {{OID("\x2a\x86\x48\xce\x3d\x03\x01\x01"), GROUP_SECP192R1},
              {OID("\x2a\x86\x48\xce\x3d\x03\x01\x07"), GROUP_P256},
              {OID("\x2b\x81\x04\x00\x22"), GROUP_P384},
              {OID("\x2b\x81\x04\x00\x23"), GROUP_P521}};

static void read_curve(struct rest parameters, struct certificate_facts *out) {
    struct rest object;
    if (!expect(&parameters, OBJECT, &object))
        return;
    for (size_t i = 0; i < COUNT(curves); i++) {
        if (is(object, curves[i].bytes, curves[i].length)) {
            out->curve = group_name(curves[i].curve);
            out->bits = curve_bits(curves[i].curve);
        }
    }
}

static bool read_modulus(struct rest key, struct certificate_facts *out) {
    struct rest body, modulus;
    if (key.length < 1)
        return false;
    key = (struct rest){key.at + 1, key.length - 1}; /* the count of unused bits */
    if (!expect(&key, SEQUENCE, &body) || !expect(&body, INTEGER, &modulus))
        return false;
    for (; modulus.length > 0 && modulus.at[0] == 0; modulus.at++)
        modulus.length--;
    if (modulus.length == 0)
        return false;
    out->bits = 8 * (unsigned)(modulus.length - 1);
    for (unsigned top = modulus.at[0]; top > 0; top >>= 1)
        out->bits++;
    return true;
}

static bool read_key(struct rest info, struct certificate_facts *out) {
    struct rest algorithm, object, key;
    if (!expect(&info, SEQUENCE, &algorithm) || !expect(&algorithm, OBJECT, &object) ||
        !expect(&info, BIT_STRING, &key))
        return false;
    for (size_t i = 0; i < COUNT(algorithms); i++) {
        if (!is(object, algorithms[i].bytes, algorithms[i].length))
            continue;
        out->key = peer_key_name(algorithms[i].type);
        if (algorithms[i].type == KEY_ECDSA)
            read_curve(algorithm, out);
        return !is_rsa_key(algorithms[i].type) || read_modulus(key, out);
    }
    return true;
}

/* How many entries the list has that the extension's octets hold. */
static bool count_entries(struct rest octets, unsigned *out) {
    struct rest list, entry;
    unsigned tag;
    if (!expect(&octets, SEQUENCE, &list))
        return false;
    for (*out = 0; list.length > 0; ++*out) {
        if (!element(&list, &tag, &entry))
            return false;
    }
    return true;
}

static bool read_extension(struct rest body, struct certificate_facts *out) {
    struct rest object, octets;
    unsigned tag;
    if (!expect(&body, OBJECT, &object) || !element(&body, &tag, &octets))
        return false;
    if (tag != OCTET_STRING && !expect(&body, OCTET_STRING, &octets)) /* whether it is critical */
        return false;
    if (is(object, OID("\x55\x1d\x11")))
        return count_entries(octets, &out->parts.names);
    if (is(object, OID("\x55\x1d\x20")))
        return count_entries(octets, &out->parts.policies);
    return !is(object, OID("\x55\x1d\x1f")) || count_entries(octets, &out->parts.crl_distribution_points);
}

bool certificate_read(const struct certificate *certificate, struct certificate_facts *out) {
    struct rest all = {certificate->der, certificate->length}, outer, body, one, list;
    unsigned tag;
    *out = (struct certificate_facts){0};
    if (!expect(&all, SEQUENCE, &outer) || all.length > 0 || !expect(&outer, SEQUENCE, &body) ||
        !element(&body, &tag, &one) || (tag == VERSION && !expect(&body, INTEGER, &one)))
        return false;
    for (int i = 0; i < 4; i++) { /* the signature's algorithm, issuer, validity, subject */
        if (!expect(&body, SEQUENCE, &one))
            return false;
    }
    if (!expect(&body, SEQUENCE, &one) || !read_key(one, out))
        return false;
    while (body.length > 0) {
        if (!element(&body, &tag, &one))
            return false;
        if (tag != EXTENSIONS)
            continue;
        if (!expect(&one, SEQUENCE, &list))
            return false;
        while (list.length > 0) {
            if (!expect(&list, SEQUENCE, &one) || !read_extension(one, out))
                return false;
        }
    }
    return true;
}
