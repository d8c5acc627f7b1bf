/* Reads certificates for libraries that don't say, or not all, what is in one: the PEM around it, its key,
 * and how many entries some of its extensions have. It verifies nothing. */
#ifndef KEXBENCH_CERTIFICATE_H
#define KEXBENCH_CERTIFICATE_H

#include "case.h"

#include <stdbool.h>
#include <stddef.h>

struct certificate {
    unsigned char *der;
    size_t length;
};

struct certificate_facts {
    const char *key;   /* as peer_key_name; NULL: an algorithm that no case has */
    const char *curve; /* as group_name; NULL: none, or one that no case has */
    unsigned bits;     /* 0 for keys of one size */
    struct certificate_parts parts;
};

/* The next certificate of a PEM text, from `*at` on, whose place behind it goes into `*at`. False and an
 * empty certificate: there is none (then `*at` is the text's length), or it can't be read. */
bool certificate_next(const unsigned char *pem, size_t length, size_t *at, struct certificate *out);
void certificate_free(struct certificate *certificate);
/* False: it is not the DER of a certificate. */
bool certificate_read(const struct certificate *certificate, struct certificate_facts *out);

#endif
