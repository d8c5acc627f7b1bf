/* Priority strings: exactly one protocol, cipher, group and signature scheme on each side, or the library's
 * own defaults. */
#include "gnutls_backend.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { GROUPS_MAX = 3, TEXT_MAX = 384 };

struct groups {
    enum group list[GROUPS_MAX];
    unsigned count;
};

static void add(struct groups *groups, enum group group) {
    for (unsigned i = 0; i < groups->count; i++) {
        if (groups->list[i] == group)
            return;
    }
    if (gnutls_name_of_group(group) != NULL)
        groups->list[groups->count++] = group;
}

/* No group at all for custom DH: an ffdhe group among them would be negotiated instead (RFC 7919). */
static struct groups offered(const struct tls_case *c, enum role role, bool resumes) {
    struct groups groups = {.count = 0};
    if (resumes && c->resumption == RESUME_PSK)
        return groups; /* without a group, the client makes no key share for nothing */
    if (c->hello_retry && role == ROLE_CLIENT)
        add(&groups, c->group == GROUP_X25519 ? GROUP_P256 : GROUP_X25519);
    add(&groups, c->group);
    if (case_has_tls_1_2(c) ||
        role == ROLE_CLIENT) /* a TLS 1.3 server that had it might take it as the group */
        add(&groups, c->curve);
    return groups;
}

/* In TLS 1.3 it stands for the credentials alone. */
static const char *key_exchange(const struct tls_case *c) {
    switch (c->method) {
    case METHOD_RSA:
        return "RSA";
    case METHOD_PSK:
        return "PSK";
    case METHOD_DHE:
        return case_has_psk(c) ? "DHE-PSK" : "DHE-RSA";
    default:
        if (case_has_psk(c))
            return "ECDHE-PSK";
        return is_rsa_key(c->key_type) ? "ECDHE-RSA" : "ECDHE-ECDSA";
    }
}

static const char *signature(const struct tls_case *c) {
    /* Where nothing is signed, the library does without no signature scheme. */
    const char *scheme = c->method == METHOD_RSA ? "rsa_pkcs1_sha256"
                         : case_has_psk(c)       ? "ecdsa_secp256r1_sha256"
                                                 : case_signature(c);
    return gnutls_name_of_signature(scheme, case_has_tls_1_3(c));
}

static void append(char text[TEXT_MAX], const char *format, ...) __attribute__((format(printf, 2, 3)));
static void append(char text[TEXT_MAX], const char *format, ...) {
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, TEXT_MAX - used, format, arguments);
    va_end(arguments);
}

static void priority_text(const struct tls_case *c, enum role role, bool resumes, char out[TEXT_MAX]) {
    struct groups groups = offered(c, role, resumes);
    out[0] = '\0';
    append(out, "NONE:+COMP-NULL:+CTYPE-X509:+VERS-%s%s:+%s:+%s:+%s%s:+SIGN-%s",
           case_is_dtls(c) ? "DTLS" : "TLS", case_has_tls_1_3(c) ? "1.3" : "1.2",
           gnutls_name_of_cipher(c->cipher), gnutls_name_of_mac(c->cipher), key_exchange(c),
           resumes && c->resumption == RESUME_PSK ? ":+PSK" : "", signature(c));
    for (unsigned i = 0; i < groups.count; i++)
        append(out, ":+GROUP-%s", gnutls_name_of_group(groups.list[i]));
    append(out, ":%%PROFILE_VERY_WEAK");
    if (c->protocol == QUIC_V1) /* RFC 9001, section 8.4 */
        append(out, ":%%DISABLE_TLS13_COMPAT_MODE");
}

static bool refused(const char *text, const char *position, int code, struct fault *fault) {
    char reason[REASON_MAX];
    snprintf(reason, sizeof reason, "the library does not take the priority string %s", text);
    gnutls_fault(fault, code == GNUTLS_E_MEMORY_ERROR ? FAULT_ERROR : FAULT_UNSUPPORTED, reason, code);
    size_t used = strlen(fault->detail);
    if (position != NULL)
        snprintf(fault->detail + used, sizeof fault->detail - used, " at %s", position);
    return false;
}

/* What the library knows by name but can't do, it leaves out without a word; and hybrid groups it puts before
 * all others. The first group is the one of the client's key share. */
static bool is_whole(gnutls_priority_t priority, const char *text, const struct groups *groups,
                     struct fault *fault) {
    const unsigned *list, *in_order = NULL;
    const char *missing = gnutls_priority_protocol_list(priority, &list) != 1 ? "protocol"
                          : gnutls_priority_sign_list(priority, &list) != 1   ? "signature scheme"
                          : gnutls_priority_cipher_list(priority, &list) != 1 ? "cipher"
                          : gnutls_priority_mac_list(priority, &list) != 1    ? "MAC"
                          : gnutls_priority_group_list(priority, &in_order) != (int)groups->count ? "group"
                                                                                                  : NULL;
    if (missing != NULL)
        return fault_set(fault, FAULT_UNSUPPORTED, "the library leaves the %s out of %s", missing, text);
    if (groups->count > 0 &&
        in_order[0] != (unsigned)gnutls_group_get_id(gnutls_name_of_group(groups->list[0])))
        return fault_set(fault, FAULT_UNSUPPORTED, "the library takes the groups in another order than %s",
                         text);
    return true;
}

static bool make_priority(const struct tls_case *c, enum role role, bool resumes, gnutls_priority_t *out,
                          struct fault *fault) {
    char text[TEXT_MAX];
    const char *position = NULL;
    if (c->method == METHOD_DEFAULT) { /* NULL: as gnutls_set_default_priority does it */
        int code = gnutls_priority_init(out, NULL, NULL);
        return code >= 0 || gnutls_fault(fault, FAULT_ERROR, "no default priorities", code);
    }
    priority_text(c, role, resumes, text);
    int code = gnutls_priority_init2(out, text, &position, 0);
    if (code < 0) {
        *out = NULL;
        return refused(text, position, code, fault);
    }
    struct groups groups = offered(c, role, resumes);
    return is_whole(*out, text, &groups, fault);
}

bool gnutls_make_priorities(const struct tls_case *c, enum role role, gnutls_priority_t out[2],
                            struct fault *fault) {
    bool resumes = c->resumption != RESUME_NONE;
    return make_priority(c, role, false, &out[false], fault) &&
           (!resumes || make_priority(c, role, true, &out[true], fault));
}
