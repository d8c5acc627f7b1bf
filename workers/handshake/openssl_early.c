/* Early data, which OpenSSL writes and reads by functions of their own. */
#include "openssl_backend.h"

/* Goes out with the ClientHello; a pipe has room for both. */
static enum progress write_early_data(struct side *side, struct fault *fault) {
    static const unsigned char data[EARLY_DATA_MAX];
    int result = SSL_write_early_data(side->ssl, data, side->context->tls_case.early_data_bytes,
                                      &side->early_data_bytes);
    return result == 1 ? PROGRESS_DONE : openssl_stopped(side, result, fault);
}

static enum progress read_early_data(struct side *side, struct fault *fault) {
    unsigned char data[EARLY_DATA_MAX];
    for (;;) {
        size_t got = 0;
        int result = SSL_read_early_data(side->ssl, data, sizeof data, &got);
        if (result == SSL_READ_EARLY_DATA_FINISH)
            return PROGRESS_DONE;
        if (result != SSL_READ_EARLY_DATA_SUCCESS)
            return openssl_stopped(side, 0, fault);
        side->early_data_bytes += got;
    }
}

enum progress openssl_early_turn(struct side *side, struct fault *fault) {
    return side->role == ROLE_CLIENT ? write_early_data(side, fault) : read_early_data(side, fault);
}
