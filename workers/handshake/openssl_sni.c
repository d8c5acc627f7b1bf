/* A server with many names: an SSL_CTX for each, as web servers have one for each of their hosts. All load
 * the case's key and chain from its files. The case's own configuration is that of the first name. */
#include "openssl_backend.h"

#include <stdlib.h>

/* Where no name was asked for, the server goes on with the configuration that it has. */
static int choose(SSL *ssl, int *alert, void *argument) {
    const struct context *c = argument;
    const char *asked = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    if (asked == NULL)
        return SSL_TLSEXT_ERR_NOACK;
    const struct server_name *found = server_names_find(c->names, c->tls_case.server_names, asked);
    *alert = SSL_AD_UNRECOGNIZED_NAME;
    return found != NULL && SSL_set_SSL_CTX(ssl, found->configuration) != NULL ? SSL_TLSEXT_ERR_OK
                                                                               : SSL_TLSEXT_ERR_ALERT_FATAL;
}

bool openssl_make_names(struct context *c, struct fault *fault) {
    unsigned names = c->tls_case.server_names;
    SSL_CTX *first = c->configurations[ROLE_SERVER];
    if (names == 1)
        return true;
    if ((c->names = server_names_new(names)) == NULL)
        return fault_set(fault, FAULT_ERROR, "out of memory");
    for (unsigned i = 0; i < names; i++) {
        SSL_CTX *ctx = i == 0 ? first : openssl_configure(c, ROLE_SERVER, fault);
        if (ctx == NULL)
            return false;
        c->names[i].configuration = ctx;
        SSL_CTX_set_app_data(ctx, &c->names[i]);
    }
    SSL_CTX_set_tlsext_servername_callback(first, choose);
    SSL_CTX_set_tlsext_servername_arg(first, c);
    return true;
}

void openssl_free_names(struct context *c) {
    for (unsigned i = 1; c->names != NULL && i < c->tls_case.server_names; i++)
        SSL_CTX_free(c->names[i].configuration);
    free(c->names);
}

bool openssl_ask(struct side *client, const char *name, struct fault *fault) {
    return SSL_set_tlsext_host_name(client->ssl, name) == 1 ||
           openssl_fault(fault, FAULT_ERROR, "the client can't name a server");
}

const char *openssl_served_name(const struct side *server) {
    const struct server_name *served = SSL_CTX_get_app_data(SSL_get_SSL_CTX(server->ssl));
    return served->name;
}
