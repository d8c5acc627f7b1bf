/* What handshakes of a case are compared with: the certificates, the trust anchor and the response of its
 * files, read by the worker itself (certificate.h), for libraries that don't read X.509 for others. */
#ifndef KEXBENCH_EXPECTED_H
#define KEXBENCH_EXPECTED_H

#include "certificate.h"
#include "material.h"

struct expected {
    struct certificate chain[CHAIN_MAX]; /* as many as the case's chain_length; the others are empty */
    unsigned key_bits;                   /* of the first one's key; 0 for keys of one size */
    struct certificate trust_anchor;     /* the chain's own, the file's first; empty: nothing is verified */
    struct material ocsp_response;       /* empty: nothing is stapled */
};

/* False and a fault: a file is not what the case says. `out` is all zeros before, and freed in any case. */
bool expected_load(const struct tls_case *tls_case, const char *folder, struct expected *out,
                   struct fault *fault);
void expected_free(struct expected *expected);

bool same_certificate(const struct certificate *wanted, const void *der, size_t length);
/* Is it the certificate at this place of the case's chain, which may be beyond its end? */
bool expected_at(const struct expected *expected, size_t place, const void *der, size_t length);

#endif
