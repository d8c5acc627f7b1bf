/* Just enough DER (X.690) for lists in extensions. */
#include "extensions.h"

#include <string.h>

enum { BOOLEAN = 0x01, OCTET_STRING = 0x04, OBJECT_IDENTIFIER = 0x06, SEQUENCE = 0x30, EXTENSIONS = 0xa3 };

struct der {
    const unsigned char *at;
    size_t length;
};

/* The next element of `from`, and what is in it. False: it ends there, or in the middle of one. */
static bool next(struct der *from, unsigned *tag, struct der *out) {
    if (from->length < 2)
        return false;
    size_t header = 2, length = from->at[1];
    *tag = from->at[0];
    if (length >= 0x80) {
        size_t bytes = length & 0x7f;
        if (bytes > sizeof(unsigned short) || from->length < header + bytes)
            return false;
        for (length = 0; header < 2 + bytes; header++)
            length = length << 8 | from->at[header];
    }
    if (from->length < header + length)
        return false;
    *out = (struct der){from->at + header, length};
    from->at += header + length;
    from->length -= header + length;
    return true;
}

static unsigned entries(struct der value) {
    struct der list, entry;
    unsigned tag, count = 0;
    if (!next(&value, &tag, &list) || tag != SEQUENCE)
        return 0;
    while (next(&list, &tag, &entry))
        count++;
    return count;
}

/* The list that is behind the optional members of TBSCertificate. */
static struct der extensions_of(struct der certificate) {
    struct der whole, body, member, list;
    unsigned tag;
    if (next(&certificate, &tag, &whole) && next(&whole, &tag, &body)) {
        while (next(&body, &tag, &member)) {
            if (tag == EXTENSIONS && next(&member, &tag, &list) && tag == SEQUENCE)
                return list;
        }
    }
    return (struct der){0};
}

void extensions_count(const unsigned char *certificate, size_t length, struct certificate_parts *out) {
    static const unsigned char prefix[] = {0x55, 0x1d}; /* id-ce, 2.5.29 */
    enum { SUBJECT_ALT_NAME = 17, CRL_DISTRIBUTION_POINTS = 31, CERTIFICATE_POLICIES = 32 };
    struct der list = extensions_of((struct der){certificate, length}), extension, id, value;
    unsigned tag;
    *out = (struct certificate_parts){0};
    while (next(&list, &tag, &extension)) {
        if (!next(&extension, &tag, &id) || tag != OBJECT_IDENTIFIER || id.length != sizeof prefix + 1 ||
            memcmp(id.at, prefix, sizeof prefix) != 0)
            continue;
        if (!next(&extension, &tag, &value) || (tag == BOOLEAN && !next(&extension, &tag, &value)) ||
            tag != OCTET_STRING)
            continue;
        if (id.at[2] == SUBJECT_ALT_NAME)
            out->names = entries(value);
        else if (id.at[2] == CERTIFICATE_POLICIES)
            out->policies = entries(value);
        else if (id.at[2] == CRL_DISTRIBUTION_POINTS)
            out->crl_distribution_points = entries(value);
    }
}
