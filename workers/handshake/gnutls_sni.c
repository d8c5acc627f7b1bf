/* A server with many names. The library would choose among the certificates of one set of credentials, one
 * after the other and by the names inside them. What serves many hosts, such as mod_gnutls, has priorities
 * and credentials for each and chooses when the ClientHello is there, and so does this. */
#include "gnutls_backend.h"

#include <string.h>

static int choose(gnutls_session_t session) {
    struct side *server = gnutls_session_get_ptr(session);
    const struct context *c = server->context;
    char asked[SERVER_NAME_BYTES];
    size_t size = sizeof asked;
    unsigned type;
    int code = gnutls_server_name_get(session, asked, &size, &type, 0);
    if (code == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE)
        return 0; /* no name was asked for */
    if (code < 0)
        return code;
    if ((server->served = server_names_find(c->names, c->tls_case.server_names, asked)) == NULL)
        return GNUTLS_E_UNRECOGNIZED_NAME;
    const struct configuration *found = server->served->configuration;
    code = gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, found->credentials);
    return code < 0 ? code : gnutls_priority_set(session, found->priority[0]);
}

void gnutls_choose_by_name(struct side *server) {
    gnutls_session_set_ptr(server->session, server);
    gnutls_handshake_set_post_client_hello_function(server->session, choose);
}

bool gnutls_ask(struct side *client, const char *name, struct fault *fault) {
    int code = gnutls_server_name_set(client->session, GNUTLS_NAME_DNS, name, strlen(name));
    return code >= 0 || gnutls_fault(fault, FAULT_ERROR, "the client can't name a server", code);
}

/* The credentials are those that the session has. */
const char *gnutls_served_name(const struct side *server) {
    const struct server_name *served = server->served;
    void *used = NULL;
    if (served == NULL || gnutls_credentials_get(server->session, GNUTLS_CRD_CERTIFICATE, &used) < 0)
        return NULL;
    return ((const struct configuration *)served->configuration)->credentials == used ? served->name : NULL;
}
