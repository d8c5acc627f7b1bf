/* Security policies of exactly one protocol, suite, group and signature scheme. What they consist of is
 * looked up by its IANA number among the public policies, so that a case has nothing that no user of the
 * library can have. */
#include "s2n_backend.h"

#include <string.h>

#define FINDS(what, type, preferences, count, items, number, fits)                                           \
    static type find_##what(unsigned wanted, uint8_t version) {                                              \
        (void)version;                                                                                       \
        for (const struct s2n_security_policy_selection *s = security_policy_selection; s->version; s++) {   \
            for (size_t i = 0; i < s->security_policy->preferences->count; i++) {                            \
                type item = s->security_policy->preferences->items[i];                                       \
                if ((number) == wanted && (fits))                                                            \
                    return item;                                                                             \
            }                                                                                                \
        }                                                                                                    \
        return NULL;                                                                                         \
    }
FINDS(suite, struct s2n_cipher_suite *, cipher_preferences, count, suites,
      (unsigned)item->iana_value[0] << 8 | item->iana_value[1], item->available)
FINDS(curve, const struct s2n_ecc_named_curve *, ecc_preferences, count, ecc_curves, item->iana_id, true)
FINDS(group, const struct s2n_kem_group *, kem_preferences, tls13_kem_group_count, tls13_kem_groups,
      item->iana_id, s2n_kem_group_is_available(item))
FINDS(scheme, const struct s2n_signature_scheme *, signature_preferences, count, signature_schemes,
      item->iana_value,
      item->minimum_protocol_version <= version &&
          (item->maximum_protocol_version == 0 || version <= item->maximum_protocol_version))

/* Before policies without curves the client added a share of its first curve to that of a hybrid. */
static bool can_do_without_curves(void) {
    for (const struct s2n_security_policy_selection *s = security_policy_selection; s->version; s++) {
        if (s->security_policy->ecc_preferences->count == 0 &&
            s->security_policy->kem_preferences->tls13_kem_group_count > 0)
            return true;
    }
    return false;
}

static bool lacks(struct fault *fault, const char *what, const char *name) {
    return fault_set(fault, FAULT_UNSUPPORTED, "no security policy of s2n-tls has the %s %s", what, name);
}

/* The first one is the client's key share. */
static bool add_curve(struct policy *p, enum group group, struct fault *fault) {
    const struct s2n_ecc_named_curve *curve = find_curve(iana_group_number(group), 0);
    if (curve == NULL)
        return lacks(fault, "curve", group_name(group));
    for (uint8_t i = 0; i < p->ecc.count; i++) {
        if (p->curves[i] == curve)
            return true;
    }
    p->curves[p->ecc.count++] = curve;
    return true;
}

/* The certificate's curve is offered as well. In TLS 1.2 a side takes no ECDSA key on another. A TLS 1.3
 * server's list has the group alone: what else it had could be the key share's. */
static bool set_curves(const struct tls_case *c, enum role role, struct policy *p, struct fault *fault) {
    bool client = role == ROLE_CLIENT;
    enum group other = c->group == GROUP_X25519 ? GROUP_P256 : GROUP_X25519;
    return (!(client && c->hello_retry) || add_curve(p, other, fault)) && add_curve(p, c->group, fault) &&
           (c->curve == GROUP_NONE || (!client && c->protocol == TLS_1_3) || add_curve(p, c->curve, fault));
}

static bool set_groups(const struct tls_case *c, enum role role, struct policy *p, struct fault *fault) {
    enum group other = c->group == GROUP_X25519MLKEM768 ? GROUP_SECP256R1MLKEM768 : GROUP_X25519MLKEM768;
    bool retried_client = c->hello_retry && role == ROLE_CLIENT;
    uint8_t count = 0;
    if (!can_do_without_curves())
        return fault_set(fault, FAULT_UNSUPPORTED,
                         "the client of this version makes a second key share beside that of a hybrid");
    if (retried_client)
        p->groups[count++] = find_group(iana_group_number(other), 0);
    p->groups[count++] = find_group(iana_group_number(c->group), 0);
    if (p->groups[0] == NULL || p->groups[count - 1] == NULL)
        return lacks(fault, "group", group_name(p->groups[0] == NULL && retried_client ? other : c->group));
    struct s2n_kem_preferences kems = {.tls13_kem_group_count = count, .tls13_kem_groups = p->groups};
    memcpy(&p->kems, &kems, sizeof kems); /* one of its members is constant */
    return true;
}

bool s2n_make_policy(const struct tls_case *c, enum role role, struct policy *p, struct fault *fault) {
    uint8_t version = c->protocol == TLS_1_3 ? S2N_TLS13 : S2N_TLS12;
    const char *signature = c->method == METHOD_RSA ? "rsa_pkcs1_sha256" : case_signature(c);
    p->suites[0] = find_suite(iana_suite_number(c), version);
    if (p->suites[0] == NULL)
        return lacks(fault, "cipher suite of", cipher_name(c->cipher));
    p->schemes[0] = find_scheme(iana_signature_number(signature), version);
    if (p->schemes[0] == NULL)
        return lacks(fault, "signature scheme", signature);
    if (is_hybrid(c->group) || is_mlkem(c->group) ? !set_groups(c, role, p, fault)
                                                  : c->group != GROUP_NONE && !set_curves(c, role, p, fault))
        return false;
    p->ciphers = (struct s2n_cipher_preferences){.count = 1, .suites = p->suites};
    p->signatures = (struct s2n_signature_preferences){.count = 1, .signature_schemes = p->schemes};
    p->ecc.ecc_curves = p->curves;
    p->whole = (struct s2n_security_policy){.minimum_protocol_version = version,
                                            .cipher_preferences = &p->ciphers,
                                            .kem_preferences = &p->kems,
                                            .signature_preferences = &p->signatures,
                                            .ecc_preferences = &p->ecc};
    return true;
}
