/* What OpenSSL says of a failure. Apart from the rest of the backend, all of which needs it. */
#include "openssl_backend.h"

bool openssl_fault(struct fault *fault, enum fault_kind kind, const char *reason) {
    enum { ENTRIES = 4 };
    fault_set(fault, kind, "%s", reason);
    size_t used = 0;
    for (int i = 0; i < ENTRIES; i++) {
        compat_error code = ERR_get_error();
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

/* The FIPS provider and default settings rule out what a configuration could still name: then the first
 * handshake is where the library says so. */
static enum fault_kind failure(const struct tls_case *c) {
    compat_error code = ERR_peek_last_error();
    int reason = ERR_GET_LIB(code) == ERR_LIB_SSL ? ERR_GET_REASON(code) : 0;
    bool lacks = reason == SSL_R_NO_CIPHERS_AVAILABLE || reason == SSL_R_NO_SHARED_CIPHER ||
                 reason == COMPAT_NO_COMMON_SIGNATURE;
    return lacks && (c->fips || c->protocol == PROTOCOL_DEFAULT) ? FAULT_UNSUPPORTED : FAULT_ERROR;
}

enum progress openssl_stopped(struct side *side, int result, struct fault *fault) {
    int error = SSL_get_error(side->ssl, result);
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE)
        return PROGRESS_WAIT;
    openssl_fault(fault, failure(&side->context->tls_case),
                  side->role == ROLE_CLIENT ? "the client's handshake failed"
                                            : "the server's handshake failed");
    return PROGRESS_FAILED;
}
