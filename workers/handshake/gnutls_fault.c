/* What GnuTLS says of a failure. Apart from the rest of the backend, all of which needs it. */
#include "gnutls_backend.h"

#include <stdio.h>

bool gnutls_fault(struct fault *fault, enum fault_kind kind, const char *reason, int code) {
    fault_set(fault, kind, "%s", reason);
    snprintf(fault->detail, sizeof fault->detail, "%s (%s)", gnutls_strerror(code),
             gnutls_strerror_name(code));
    return false;
}

enum fault_kind gnutls_kind_of(int code) {
    switch (code) {
    case GNUTLS_E_ECC_UNSUPPORTED_CURVE:
    case GNUTLS_E_ECC_NO_SUPPORTED_CURVES:
    case GNUTLS_E_UNKNOWN_PK_ALGORITHM:
    case GNUTLS_E_UNSUPPORTED_SIGNATURE_ALGORITHM:
        return FAULT_UNSUPPORTED;
    default:
        return FAULT_ERROR;
    }
}
