/* A role's configuration in wolfSSL: one protocol, cipher, group and signature scheme, and no more. */
#include "wolfssl_backend.h"

#include "iana.h"
#include "wolfssl_structures.h"

#include <string.h>

/* Its default of 500 s is too short for a long run. With a hint of half an hour the library issues no
 * tickets. */
enum { SESSION_LIFETIME_S = 1700 };

/* What this backend or every build of the library lacks; NULL: nothing that is known here. */
/* Where a callback overrules what is wrong with an intermediate, the library trusts that one and verifies
 * what it signed (AddCA in src/internal.c), which would be work that the case does not have. */
static const char *lacks(const struct tls_case *c) {
    return c->client_authentication && !c->verification && c->chain_length > 1
               ? "wolfSSL verifies a client's certificate below an intermediate, whatever it is told"
           : c->fips                            ? "this is not wolfSSL's FIPS module"
           : c->curve == GROUP_SECP192R1        ? "wolfSSL is built without curves below 256 bits"
           : c->key_type == KEY_RSA_PSS         ? "wolfSSL does not sign as rsa_pss_pss with an RSA-PSS key"
           : c->method == METHOD_DHE            ? "no finite-field DH is set up with wolfSSL"
           : c->early_data_bytes > 0            ? "no early data is set up with wolfSSL"
           : strcmp(c->ocsp_response, "-") != 0 ? "no OCSP stapling is set up with wolfSSL"
                                                : NULL;
}

static WOLFSSL_METHOD *method_of(enum protocol protocol, enum role role) {
    switch (protocol) {
    case TLS_1_2:
        return role == ROLE_CLIENT ? wolfTLSv1_2_client_method() : wolfTLSv1_2_server_method();
    case TLS_1_3:
        return role == ROLE_CLIENT ? wolfTLSv1_3_client_method() : wolfTLSv1_3_server_method();
    case DTLS_1_2:
        return role == ROLE_CLIENT ? wolfDTLSv1_2_client_method() : wolfDTLSv1_2_server_method();
    case DTLS_1_3:
        return role == ROLE_CLIENT ? wolfDTLSv1_3_client_method() : wolfDTLSv1_3_server_method();
    default:
        return role == ROLE_CLIENT ? wolfSSLv23_client_method() : wolfSSLv23_server_method();
    }
}

static bool set_signature(WOLFSSL_CTX *ctx, const struct tls_case *c, struct fault *fault) {
    return wolfssl_leave_signature(ctx, iana_signature_number(case_signature(c))) ||
           fault_set(fault, FAULT_UNSUPPORTED, "the library does not take this signature scheme");
}

static bool set_suite(WOLFSSL_CTX *ctx, const struct tls_case *c, struct fault *fault) {
    unsigned number = iana_suite_number(c);
    const char *name = wolfSSL_get_cipher_name_from_suite((byte)(number >> 8), (byte)number);
    return (number != 0 && name != NULL && wolfSSL_CTX_set_cipher_list(ctx, name) == WOLFSSL_SUCCESS) ||
           fault_set(fault, FAULT_UNSUPPORTED, "the library does not take this cipher suite");
}

/* Until 5.6 the list with key shares is for TLS 1.3 alone. */
static int use_groups(WOLFSSL_CTX *ctx, enum protocol protocol, int *groups, int count) {
    int code = WOLFSSL_SUCCESS;
    if (protocol == TLS_1_3 || protocol == DTLS_1_3)
        return wolfSSL_CTX_set_groups(ctx, groups, count);
    for (int i = 0; code == WOLFSSL_SUCCESS && i < count; i++)
        code = wolfSSL_CTX_UseSupportedCurve(ctx, (word16)groups[i]);
    return code;
}

/* A client makes its share of the first group. With an ECDSA certificate it lists the certificate's curve
 * too, which in TLS 1.2 the server wants to see. */
static bool set_groups(WOLFSSL_CTX *ctx, const struct tls_case *c, enum role role, struct fault *fault) {
    int groups[3], count = 0;
    if (c->hello_retry && role == ROLE_CLIENT)
        groups[count++] = (int)iana_group_number(c->group == GROUP_P256 ? GROUP_P384 : GROUP_P256);
    groups[count++] = (int)iana_group_number(c->group);
    if (c->curve != GROUP_NONE && c->curve != c->group && !c->hello_retry)
        groups[count++] = (int)iana_group_number(c->curve);
    int code = use_groups(ctx, c->protocol, groups, count);
    /* Else a TLS 1.2 server takes the smallest curve that is listed. */
    if (code == WOLFSSL_SUCCESS && role == ROLE_SERVER && case_has_tls_1_2(c) &&
        (c->group == GROUP_P384 || c->group == GROUP_P521))
        code = wolfSSL_CTX_SetTmpEC_DHE_Sz(ctx, (word16)((curve_bits(c->group) + 7) / 8));
    return code == WOLFSSL_SUCCESS ||
           wolfssl_fault(fault, FAULT_UNSUPPORTED, "the library does not take this group", code);
}

static bool set_resumption(WOLFSSL_CTX *ctx, const struct tls_case *c, enum role role, struct fault *fault) {
    bool good = true, server = role == ROLE_SERVER, cached = c->resumption == RESUME_SESSION_ID;
    bool tls_1_3_tickets = c->resumption == RESUME_PSK || c->resumption == RESUME_PSK_DHE;
    wolfSSL_CTX_set_session_cache_mode(ctx,
                                       cached && server ? WOLFSSL_SESS_CACHE_SERVER : WOLFSSL_SESS_CACHE_OFF);
    wolfSSL_CTX_set_timeout(ctx, SESSION_LIFETIME_S);
    if (server)
        good = wolfSSL_CTX_set_TicketHint(ctx, SESSION_LIFETIME_S) == WOLFSSL_SUCCESS;
    if (server && case_has_tls_1_3(c) && !tls_1_3_tickets)
        good = good && wolfSSL_CTX_no_ticket_TLSv13(ctx) == 0;
    if (server && case_has_tls_1_2(c) && c->resumption != RESUME_TICKET)
        good = good && wolfSSL_CTX_NoTicketTLSv12(ctx) == WOLFSSL_SUCCESS;
    if (!server && c->resumption == RESUME_TICKET)
        good = good && wolfSSL_CTX_UseSessionTicket(ctx) == WOLFSSL_SUCCESS;
    if (c->resumption == RESUME_PSK)
        good = good && wolfSSL_CTX_no_dhe_psk(ctx) == 0;
    return good || fault_set(fault, FAULT_ERROR, "resumption can't be set up");
}

/* The certificates are those that came, the first of them verified where the case asks for it. They are the
 * library's only as long as this runs, so that they are compared here. */
static int see_certificates(int verified, WOLFSSL_X509_STORE_CTX *store) {
    struct side *side = store->userCtx;
    const struct context *c = side->context;
    bool ours = true;
    if (store->error_depth > 0)
        return verified || !case_verifies(&c->tls_case, side->role == ROLE_CLIENT);
    for (int i = 0; ours && i < store->totalCerts && i < (int)c->tls_case.chain_length; i++)
        ours = expected_at(&c->expected, (size_t)i, store->certs[i].buffer, store->certs[i].length);
    side->peer_certificates = ours ? store->totalCerts : -1;
    side->verified = verified;
    return verified || !case_verifies(&c->tls_case, side->role == ROLE_CLIENT);
}

/* A server asks for a certificate only where it verifies it: what it finds wrong is then overruled. */
static void set_verification(WOLFSSL_CTX *ctx, const struct tls_case *c, enum role role) {
    int mode = WOLFSSL_VERIFY_NONE;
    if (role == ROLE_CLIENT && c->verification)
        mode = WOLFSSL_VERIFY_PEER;
    if (role == ROLE_SERVER && c->client_authentication)
        mode = WOLFSSL_VERIFY_PEER | WOLFSSL_VERIFY_FAIL_IF_NO_PEER_CERT;
    wolfSSL_CTX_set_verify(ctx, mode, see_certificates);
}

WOLFSSL_CTX *wolfssl_configure(const struct context *context, enum role role, struct fault *fault) {
    const struct tls_case *c = &context->tls_case;
    bool defaults = c->protocol == PROTOCOL_DEFAULT;
    if (lacks(c) != NULL) {
        fault_set(fault, FAULT_UNSUPPORTED, "%s", lacks(c));
        return NULL;
    }
    WOLFSSL_CTX *ctx = wolfSSL_CTX_new(method_of(c->protocol, role));
    if (ctx == NULL) {
        fault_set(fault, FAULT_ERROR, "no WOLFSSL_CTX");
        return NULL;
    }
    set_verification(ctx, c, role);
    bool good = wolfssl_load_role(context, ctx, role, fault);
    if (good && !defaults)
        good = set_suite(ctx, c, fault) && set_signature(ctx, c, fault) && set_groups(ctx, c, role, fault) &&
               (c->tickets == TICKETS_DEFAULT || set_resumption(ctx, c, role, fault));
    if (good)
        return ctx;
    wolfSSL_CTX_free(ctx);
    return NULL;
}
