/* What OpenSSL says of a failure. Apart from the rest of the backend, all of which needs it. */
#include "openssl_backend.h"

bool openssl_fault(struct fault *fault, enum fault_kind kind, const char *reason) {
    enum { ENTRIES = 4 };
    fault_set(fault, kind, "%s", reason);
    size_t used = 0;
    for (int i = 0; i < ENTRIES; i++) {
        unsigned long code = ERR_get_error();
        if (code == 0)
            break;
        char text[256];
        ERR_error_string_n(code, text, sizeof text);
        int wrote =
            snprintf(fault->detail + used, sizeof fault->detail - used, "%s%s", used > 0 ? "; " : "", text);
        used += wrote > 0 ? (size_t)wrote : 0;
        if (used >= sizeof fault->detail)
            break;
    }
    ERR_clear_error();
    return false;
}
