/* Early data in BoringSSL's family: while a handshake is in early data, it counts as done, and the usual
 * functions write and read. */
#include "openssl_backend.h"

static enum progress write_early_data(struct side *side, struct fault *fault) {
    static const unsigned char data[EARLY_DATA_MAX];
    int result = SSL_write(side->ssl, data, (int)side->context->tls_case.early_data_bytes);
    if (result <= 0)
        return openssl_stopped(side, result, fault);
    side->early_data_bytes = (size_t)result;
    return PROGRESS_DONE;
}

static enum progress read_early_data(struct side *side, struct fault *fault) {
    unsigned char data[EARLY_DATA_MAX];
    while (side->early_data_bytes < side->context->tls_case.early_data_bytes) {
        int result = SSL_read(side->ssl, data, sizeof data);
        if (result <= 0)
            return openssl_stopped(side, result, fault);
        side->early_data_bytes += (size_t)result;
    }
    return PROGRESS_DONE;
}

/* Early data that is not offered or not taken shows in what was negotiated. */
enum progress openssl_early_turn(struct side *side, struct fault *fault) {
    int result = SSL_do_handshake(side->ssl);
    if (result != 1)
        return openssl_stopped(side, result, fault);
    if (!SSL_in_early_data(side->ssl))
        return PROGRESS_DONE;
    return side->role == ROLE_CLIENT ? write_early_data(side, fault) : read_early_data(side, fault);
}
