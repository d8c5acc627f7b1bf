/* What s2n-tls says of a failure, and copies of bytes. Apart from the rest of the backend, all of which needs
 * them. */
#include "s2n_backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool s2n_fault(struct fault *fault, enum fault_kind kind, const char *reason) {
    fault_set(fault, kind, "%s", reason);
    snprintf(fault->detail, sizeof fault->detail, "%s (%s)", s2n_strerror(s2n_errno, "EN"),
             s2n_strerror_debug(s2n_errno, "EN"));
    ERR_clear_error();
    return false;
}

bool bytes_copy(struct bytes *out, const void *from, size_t length) {
    unsigned char *copy = malloc(length > 0 ? length : 1);
    if (copy == NULL)
        return false;
    memcpy(copy, from, length);
    free(out->at);
    *out = (struct bytes){copy, length};
    return true;
}
