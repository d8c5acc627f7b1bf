/* No DTLS is set up with BoringSSL's family: `compat_takes` refuses it. */
#include "openssl_backend.h"

void openssl_dtls_configure(SSL_CTX *ctx) {
    (void)ctx;
}

bool openssl_dtls_open(SSL *ssl) {
    (void)ssl;
    return false;
}
