/* What wolfSSL says of a failure. Apart from the rest of the backend, all of which needs it. */
#include "wolfssl_backend.h"

#include <stdio.h>

bool wolfssl_fault(struct fault *fault, enum fault_kind kind, const char *reason, int code) {
    char text[WOLFSSL_MAX_ERROR_SZ];
    fault_set(fault, kind, "%s", reason);
    snprintf(fault->detail, sizeof fault->detail, "%s (%d)",
             wolfSSL_ERR_error_string((unsigned long)code, text), code);
    return false;
}
