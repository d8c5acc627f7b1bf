/* DTLS: a datagram's size, timers that never expire, and the cookie that a server asks for as servers on the
 * Internet do (RFC 6347, section 4.2.1). */
#include "openssl_backend.h"

#include <openssl/hmac.h>

#include <string.h>

enum { COOKIE_KEY_BYTES = 32 };
/* Nothing is lost in memory, and slow turns must not look like it. */
static const unsigned HOUR_US = 3600u * 1000 * 1000;

static unsigned never_expires(SSL *ssl, unsigned microseconds) {
    (void)ssl, (void)microseconds;
    return HOUR_US;
}

/* The HMAC of the client's address, as in demos and in servers. There is one client here. */
static int make_cookie(SSL *ssl, unsigned char *cookie, unsigned *length) {
    static const unsigned char key[COOKIE_KEY_BYTES] = "a cookie's key, no secret here";
    static const unsigned char address[] = {127, 0, 0, 1, 0x10, 0x92};
    (void)ssl;
    return HMAC(EVP_sha256(), key, sizeof key, address, sizeof address, cookie, length) != NULL;
}

static int check_cookie(SSL *ssl, const unsigned char *cookie, unsigned length) {
    unsigned char wanted[EVP_MAX_MD_SIZE];
    unsigned wanted_length;
    return make_cookie(ssl, wanted, &wanted_length) && length == wanted_length &&
           CRYPTO_memcmp(cookie, wanted, length) == 0;
}

void openssl_dtls_configure(SSL_CTX *ctx) {
    SSL_CTX_set_options(ctx, SSL_OP_NO_QUERY_MTU | SSL_OP_COOKIE_EXCHANGE);
    SSL_CTX_set_cookie_generate_cb(ctx, make_cookie);
    SSL_CTX_set_cookie_verify_cb(ctx, check_cookie);
}

bool openssl_dtls_open(SSL *ssl) {
    DTLS_set_timer_cb(ssl, never_expires);
    return SSL_set_mtu(ssl, DTLS_MTU) > 0;
}
