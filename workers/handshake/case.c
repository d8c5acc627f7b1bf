/* Cases: the contradictions a case can hold, what TLS itself lacks, and the comparison of
 * what was negotiated with what was asked. Pure; no library, no I/O. */
#include "case.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool fault_set(struct fault *fault, enum fault_kind kind, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fault->reason, sizeof fault->reason, format, arguments);
    va_end(arguments);
    fault->kind = kind;
    fault->detail[0] = '\0';
    return false;
}

const char *fault_kind_name(enum fault_kind kind) {
    static const char *const names[] = {[FAULT_UNSUPPORTED] = "unsupported",
                                        [FAULT_ERROR] = "error",
                                        [FAULT_MISMATCH] = "mismatch",
                                        [FAULT_PEER] = "peer"};
    return names[kind];
}

bool case_is_tls(const struct tls_case *c) {
    return c->protocol != BFE_0RTT && c->protocol != QUIC_V1 && !case_is_dtls(c);
}

bool case_is_dtls(const struct tls_case *c) {
    return c->protocol == DTLS_1_2 || c->protocol == DTLS_1_3;
}

bool case_has_tls_1_2(const struct tls_case *c) {
    return c->protocol == TLS_1_2 || c->protocol == DTLS_1_2;
}

bool case_has_tls_1_3(const struct tls_case *c) {
    return c->protocol == TLS_1_3 || c->protocol == QUIC_V1 || c->protocol == DTLS_1_3;
}

bool case_has_psk(const struct tls_case *c) {
    return c->key_type == KEY_PSK;
}

bool case_needs_tls(const struct tls_case *c, struct fault *fault) {
    const char *lacked = !case_is_tls(c)   ? protocol_name(c->protocol)
                         : case_has_psk(c) ? "external pre-shared key"
                                           : NULL;
    return lacked == NULL || fault_set(fault, FAULT_UNSUPPORTED, "this library's backend has no %s", lacked);
}

const char *case_signature(const struct tls_case *c) {
    if (c->method == METHOD_DEFAULT)
        return NULL;
    if (c->method == METHOD_RSA || c->method == METHOD_BFE || case_has_psk(c))
        return "-";
    switch (c->key_type) {
    case KEY_RSA:
        return case_has_tls_1_3(c) ? "rsa_pss_rsae_sha256" : "rsa_pkcs1_sha256";
    case KEY_RSA_PSS:
        return "rsa_pss_pss_sha256";
    case KEY_ECDSA:
        /* TLS 1.2 reads the code point as "ECDSA with SHA-256", whatever the curve: also for secp192r1. */
        return c->curve == GROUP_P384   ? "ecdsa_secp384r1_sha384"
               : c->curve == GROUP_P521 ? "ecdsa_secp521r1_sha512"
                                        : "ecdsa_secp256r1_sha256";
    case KEY_ED25519:
        return "ed25519";
    case KEY_ED448:
        return "ed448";
    case KEY_ML_DSA_44:
        return "mldsa44";
    case KEY_ML_DSA_65:
        return "mldsa65";
    case KEY_ML_DSA_87:
        return "mldsa87";
    case KEY_BFE:
    case KEY_PSK:
        break;
    }
    return NULL;
}

static bool group_fits_method(const struct tls_case *c) {
    switch (c->method) {
    case METHOD_RSA:
    case METHOD_DEFAULT:
    case METHOD_PSK:
        return c->group == GROUP_NONE;
    case METHOD_DHE:
        return c->group == GROUP_CUSTOM_DH || is_ffdhe(c->group);
    case METHOD_ECDHE:
        return is_elliptic(c->group) || is_hybrid(c->group);
    case METHOD_MLKEM:
        return is_mlkem(c->group);
    case METHOD_BFE:
        return c->group == GROUP_BLS12_381;
    }
    return false;
}

/* A case that can't be meant: its parts contradict each other, in any library. */
static bool check_keys(const struct tls_case *c, struct fault *fault) {
    const char *kx = key_exchange_name(c->method, c->key_type);
    bool custom = c->group == GROUP_CUSTOM_DH;
    bool ec = c->key_type == KEY_ECDSA, rsa = is_rsa_key(c->key_type);
    if (!group_fits_method(c))
        return fault_set(fault, FAULT_ERROR, "key_exchange=%s can't use group=%s", kx, c->group_name);
    if (ec != (c->curve != GROUP_NONE))
        return fault_set(fault, FAULT_ERROR, "key_exchange=%s %s", kx,
                         ec ? "needs a curve" : "takes no curve");
    if (rsa != (c->rsa_bits != 0))
        return fault_set(fault, FAULT_ERROR, "key_exchange=%s %s", kx,
                         rsa ? "needs rsa_bits" : "takes no rsa_bits");
    if (strcmp(c->key, "-") == 0 || (strcmp(c->certificate, "-") == 0) != case_has_psk(c))
        return fault_set(fault, FAULT_ERROR,
                         case_has_psk(c) ? "a pre-shared key needs a key and takes no certificate"
                                         : "a case needs a key and a certificate");
    if (c->intermediate_bytes != 0 && c->chain_length == 1)
        return fault_set(fault, FAULT_ERROR, "intermediate_bytes needs chain_length of at least 2");
    if (custom == (strcmp(c->dh_parameters, "-") == 0))
        return fault_set(fault, FAULT_ERROR, "group=%s %s", c->group_name,
                         custom ? "needs dh_parameters" : "takes no dh_parameters");
    return true;
}

static bool check_settings(const struct tls_case *c, struct fault *fault) {
    bool defaults = c->method == METHOD_DEFAULT;
    bool stapled = strcmp(c->ocsp_response, "-") != 0;
    if (defaults != (c->protocol == PROTOCOL_DEFAULT) || defaults != (c->cipher == CIPHER_DEFAULT))
        return fault_set(fault, FAULT_ERROR,
                         "default settings are all of protocol=default, cipher=- and key_exchange=default-…");
    if (defaults && (c->resumption != RESUME_NONE || c->hello_retry))
        return fault_set(fault, FAULT_ERROR, "default settings take neither resumption nor hello_retry");
    if (c->resumption != RESUME_NONE && (c->client_authentication || stapled || c->hello_retry))
        return fault_set(
            fault, FAULT_ERROR,
            "a resumption takes neither client_authentication nor ocsp_response nor hello_retry");
    if (c->early_data_bytes != 0 && c->resumption != RESUME_PSK && c->resumption != RESUME_PSK_DHE)
        return fault_set(fault, FAULT_ERROR, "early_data_bytes needs resumption=psk or psk-dhe");
    if (c->anti_replay && c->early_data_bytes == 0)
        return fault_set(fault, FAULT_ERROR, "anti_replay needs early_data_bytes");
    if (c->threads > 1 && c->anti_replay)
        return fault_set(fault, FAULT_ERROR, "anti_replay takes one thread: its sessions are used once");
    if (c->roles != ROLES_BOTH && (c->threads > 1 || c->resumption != RESUME_NONE))
        return fault_set(fault, FAULT_ERROR, "a single role takes neither threads nor resumption");
    return true;
}

static bool check_connection(const struct tls_case *c, struct fault *fault) {
    bool anchors = strcmp(c->trust_anchors_file, "-") != 0, resumed = c->resumption != RESUME_NONE;
    if (c->verification != anchors)
        return fault_set(fault, FAULT_ERROR,
                         c->verification ? "verification needs trust_anchors_file"
                                         : "trust_anchors_file needs verification");
    if (!c->verification && (c->trust_anchors > 1 || c->trust_store != TRUST_FILE))
        return fault_set(fault, FAULT_ERROR, "trust_anchors and trust_store need verification");
    if (c->verification && c->trust_anchors == 0)
        return fault_set(fault, FAULT_ERROR, "verification needs one of trust_anchors");
    if (c->verification && strcmp(c->ocsp_response, "-") != 0 && c->chain_length == 1)
        return fault_set(fault, FAULT_ERROR,
                         "verification with ocsp_response needs chain_length of at least 2");
    if (resumed && (c->verification || c->tickets != TICKETS_NONE || c->context != CONTEXT_SHARED))
        return fault_set(fault, FAULT_ERROR,
                         "a resumption takes neither verification nor tickets nor context");
    if (c->tickets != TICKETS_NONE && c->protocol == PROTOCOL_DEFAULT)
        return fault_set(fault, FAULT_ERROR,
                         "default settings take no tickets: they are the library's already");
    if (c->anti_replay && c->transfer_bytes != 0)
        return fault_set(fault, FAULT_ERROR, "anti_replay takes no transfer_bytes");
    if ((c->context == CONTEXT_THREAD || c->context == CONTEXT_LIBRARY) && c->threads == 1)
        return fault_set(fault, FAULT_ERROR, "context=%s needs threads",
                         c->context == CONTEXT_THREAD ? "thread" : "library");
    const char *alone = c->reload_every != 0 ? "reload_every" : c->server_names > 1 ? "server_names" : NULL;
    if (alone != NULL &&
        (resumed || c->threads > 1 || c->context != CONTEXT_SHARED || c->roles != ROLES_BOTH))
        return fault_set(fault, FAULT_ERROR,
                         "%s takes neither resumption nor threads nor context nor a single role", alone);
    if (c->reload_every != 0 && c->server_names > 1)
        return fault_set(fault, FAULT_ERROR, "reload_every takes one of server_names");
    if (c->context == CONTEXT_POOL && c->threads < POOL_THREADS)
        return fault_set(fault, FAULT_ERROR, "context=pool needs at least %d threads", POOL_THREADS);
    if (c->roles != ROLES_BOTH &&
        (c->tickets != TICKETS_NONE || c->transfer_bytes != 0 || c->context != CONTEXT_SHARED))
        return fault_set(fault, FAULT_ERROR,
                         "a single role takes neither tickets nor transfer_bytes nor context");
    return true;
}

/* A pre-shared key stands in the place of certificates, and of resumption. */
static bool check_psk(const struct tls_case *c, struct fault *fault) {
    if (c->resumption != RESUME_NONE || c->tickets != TICKETS_NONE || c->hello_retry)
        return fault_set(fault, FAULT_ERROR,
                         "a pre-shared key takes neither resumption nor tickets nor hello_retry");
    if (c->client_authentication || c->verification || strcmp(c->ocsp_response, "-") != 0 ||
        c->chain_length != 1 || c->certificate_names != 1 || c->certificate_policies != 0 ||
        c->crl_distribution_points != 0 || c->server_names != 1)
        return fault_set(fault, FAULT_ERROR, "a pre-shared key takes nothing of certificates");
    if (case_has_tls_1_3(c) && c->cipher == AES_256_GCM)
        return fault_set(fault, FAULT_UNSUPPORTED,
                         "the pre-shared key is of SHA-256, which TLS 1.3 has no AES-256-GCM suite with");
    return true;
}

/* What is not measured in DTLS. */
static bool check_dtls(const struct tls_case *c, struct fault *fault) {
    if (c->early_data_bytes != 0 || c->hello_retry || c->tickets != TICKETS_NONE || c->transfer_bytes != 0 ||
        c->roles != ROLES_BOTH)
        return fault_set(
            fault, FAULT_ERROR,
            "%s takes neither early_data_bytes nor hello_retry nor tickets nor transfer_bytes nor "
            "a single role",
            protocol_name(c->protocol));
    return true;
}

/* A case that no library can run, because the TLS standards lack it. */
static bool check_tls_1_2(const struct tls_case *c, struct fault *fault) {
    if (c->method == METHOD_RSA && c->cipher == CHACHA20_POLY1305)
        return fault_set(fault, FAULT_UNSUPPORTED,
                         "TLS 1.2 has no CHACHA20-POLY1305 suite with RSA key exchange");
    if (c->cipher == (c->method == METHOD_ECDHE || case_has_psk(c) ? AES_256_CBC_SHA256 : AES_256_CBC_SHA384))
        return fault_set(fault, FAULT_UNSUPPORTED, "TLS 1.2 has no %s suite with %s key exchange",
                         cipher_name(c->cipher), method_name(c->method));
    if (is_hybrid(c->group) || is_mlkem(c->group))
        return fault_set(fault, FAULT_UNSUPPORTED, "TLS 1.2 has no group %s", c->group_name);
    if (is_ml_dsa(c->key_type))
        return fault_set(fault, FAULT_UNSUPPORTED, "TLS 1.2 has no signature scheme for ML-DSA");
    if (c->method == METHOD_DHE && !is_rsa_key(c->key_type) && !case_has_psk(c))
        return fault_set(fault, FAULT_UNSUPPORTED, "TLS 1.2 has no %s suite",
                         key_exchange_name(c->method, c->key_type));
    if (c->resumption == RESUME_PSK || c->resumption == RESUME_PSK_DHE)
        return fault_set(fault, FAULT_UNSUPPORTED, "TLS 1.2 resumes by session-id or ticket");
    if (c->hello_retry)
        return fault_set(fault, FAULT_UNSUPPORTED, "TLS 1.2 has no HelloRetryRequest");
    return true;
}

static bool check_tls_1_3(const struct tls_case *c, struct fault *fault) {
    if (c->tickets == TICKETS_CACHED)
        return fault_set(fault, FAULT_UNSUPPORTED, "TLS 1.3 has no session ids for tickets=cached");
    if (c->method == METHOD_RSA)
        return fault_set(fault, FAULT_UNSUPPORTED, "TLS 1.3 has no RSA key exchange");
    if (is_cbc(c->cipher))
        return fault_set(fault, FAULT_UNSUPPORTED, "TLS 1.3 has no cipher %s", cipher_name(c->cipher));
    if (c->group == GROUP_CUSTOM_DH)
        return fault_set(fault, FAULT_UNSUPPORTED, "TLS 1.3 has no custom DH parameters");
    if (c->group == GROUP_SECP192R1)
        return fault_set(fault, FAULT_UNSUPPORTED, "TLS 1.3 has no group secp192r1");
    if (c->curve == GROUP_SECP192R1)
        return fault_set(fault, FAULT_UNSUPPORTED, "TLS 1.3 has no signature scheme for secp192r1");
    if (c->resumption == RESUME_SESSION_ID || c->resumption == RESUME_TICKET)
        return fault_set(fault, FAULT_UNSUPPORTED, "TLS 1.3 resumes by psk or psk-dhe");
    return true;
}

/* What is not measured in QUIC. */
static bool check_quic(const struct tls_case *c, struct fault *fault) {
    if (c->transfer_bytes != 0 || c->fips || c->roles != ROLES_BOTH || case_has_psk(c))
        return fault_set(
            fault, FAULT_ERROR,
            "QUICv1 takes neither transfer_bytes nor fips nor a single role nor a pre-shared key");
    return true;
}

/* The protocol has one cipher, one group, and early data of any size. The secret key's file says for how many
 * connections it is made. */
static bool check_bfe(const struct tls_case *c, struct fault *fault) {
    bool files = strcmp(c->dh_parameters, "-") != 0 || strcmp(c->ocsp_response, "-") != 0 ||
                 strcmp(c->trust_anchors_file, "-") != 0;
    if (c->protocol != BFE_0RTT || c->method != METHOD_BFE)
        return fault_set(fault, FAULT_ERROR, "protocol=BFE-0RTT-1 and key_exchange=BFE need each other");
    if (c->cipher != AES_128_GCM || !group_fits_method(c) || c->rsa_bits != 0 || c->curve != GROUP_NONE)
        return fault_set(fault, FAULT_ERROR,
                         "BFE-0RTT-1 is made of cipher=AES-128-GCM and group=BLS12-381 alone");
    if (strcmp(c->key, "-") == 0 || strcmp(c->certificate, "-") != 0)
        return fault_set(fault, FAULT_ERROR, "BFE-0RTT-1 needs a key and takes no certificate");
    if (files || c->chain_length != 1 || c->client_authentication || c->resumption != RESUME_NONE ||
        c->anti_replay || c->hello_retry || c->fips || c->threads != 1 || c->verification ||
        c->certificate_names != 1 || c->certificate_policies != 0 || c->crl_distribution_points != 0 ||
        c->intermediate_bytes != 0 || c->trust_anchors != 1 || c->reload_every != 0 || c->server_names != 1 ||
        c->trust_store != TRUST_FILE || c->tickets != TICKETS_NONE || c->transfer_bytes != 0 ||
        c->context != CONTEXT_SHARED || c->roles != ROLES_BOTH)
        return fault_set(fault, FAULT_ERROR, "BFE-0RTT-1 takes early_data_bytes and nothing else");
    return true;
}

bool case_check(const struct tls_case *c, struct fault *fault) {
    if (c->protocol == BFE_0RTT || c->method == METHOD_BFE)
        return check_bfe(c, fault);
    if (!check_settings(c, fault) || !check_connection(c, fault) || !check_keys(c, fault))
        return false;
    if ((case_has_psk(c) && !check_psk(c, fault)) || (case_is_dtls(c) && !check_dtls(c, fault)))
        return false;
    if (case_has_tls_1_2(c))
        return check_tls_1_2(c, fault);
    if (c->protocol == QUIC_V1 && !check_quic(c, fault))
        return false;
    return c->protocol == PROTOCOL_DEFAULT || check_tls_1_3(c, fault);
}

unsigned case_contexts(const struct tls_case *c) {
    if (c->context == CONTEXT_POOL)
        return c->threads < 2 * POOL_THREADS ? 2 : c->threads / POOL_THREADS;
    return c->context == CONTEXT_THREAD || c->context == CONTEXT_LIBRARY ? c->threads : 1;
}

bool case_trust_store_is_taken(const struct tls_case *c, bool takes_folder, struct fault *fault) {
    if (c->trust_store == TRUST_P11_KIT)
        return fault_set(
            fault, FAULT_UNSUPPORTED,
            "trust_store=p11-kit: its module reads the paths that it was built with, not the case's");
    return c->trust_store == TRUST_FILE || takes_folder ||
           fault_set(fault, FAULT_UNSUPPORTED, "trust_store: this library's backend loads a file alone");
}

bool case_verifies(const struct tls_case *c, bool is_client) {
    return c->verification && (is_client || c->client_authentication);
}

static unsigned key_bits(const struct tls_case *c) {
    return c->key_type == KEY_ECDSA ? curve_bits(c->curve) : c->rsa_bits;
}

/* The client's key is the server's, so its scheme is as well; RSA key exchange signs nothing but that. */
static const char *client_signature(const struct tls_case *c) {
    if (!c->client_authentication)
        return "-";
    return c->method == METHOD_RSA ? "rsa_pkcs1_sha256" : case_signature(c);
}

/* With a pre-shared key alone, whether the client makes a share that the server won't take is the library's
 * own choice. */
static int wanted_key_shares(const struct tls_case *c, bool resumed) {
    if (c->protocol == PROTOCOL_DEFAULT || c->protocol == BFE_0RTT ||
        (resumed && c->resumption == RESUME_PSK) || (c->method == METHOD_PSK && case_has_tls_1_3(c)))
        return -1;
    return case_has_tls_1_3(c);
}

/* How many a library issues by default is its own choice. */
static int wanted_tickets(const struct tls_case *c, bool resumed) {
    if (c->protocol != TLS_1_3 || c->tickets == TICKETS_DEFAULT)
        return -1;
    return c->resumption == RESUME_NONE ? 0 : !resumed || c->anti_replay;
}

/* The size of the stapled response is a fact of the material, so only that there is one is known here. */
struct negotiated case_wanted(const struct tls_case *c, bool resumed) {
    bool defaults = c->method == METHOD_DEFAULT;
    bool keyless = resumed && c->resumption != RESUME_PSK_DHE;
    bool tls = c->protocol != BFE_0RTT;
    return (struct negotiated){
        .protocol = defaults ? NULL : protocol_name(c->protocol),
        .cipher = defaults ? NULL : cipher_name(c->cipher),
        .group = defaults  ? NULL
                 : keyless ? "-"
                           : c->group_name,
        .signature = resumed ? "-" : case_signature(c),
        .peer_key = resumed ? NULL : peer_key_name(c->key_type),
        .peer_key_bits = resumed ? 0 : key_bits(c),
        .resumed = resumed,
        .client_key = resumed                    ? NULL
                      : c->client_authentication ? peer_key_name(c->key_type)
                                                 : "-",
        .client_signature = resumed ? NULL : client_signature(c),
        .extended_master_secret = case_has_tls_1_2(c) ? 1 : -1,
        .encrypt_then_mac = case_has_tls_1_2(c) ? is_cbc(c->cipher) : -1,
        .chain_length = resumed ? -1
                        : tls   ? (int)c->chain_length * !case_has_psk(c)
                                : 0,
        .ocsp_bytes = strcmp(c->ocsp_response, "-") == 0 && !resumed ? 0 : -1,
        .early_data_bytes = resumed || !tls ? (long)c->early_data_bytes : 0,
        /* A DTLS 1.3 server asks for its cookie by one (RFC 9147, section 5.1). */
        .hello_retry = defaults || !tls ? -1 : c->hello_retry || c->protocol == DTLS_1_3,
        .key_shares = wanted_key_shares(c, resumed),
        .tickets = wanted_tickets(c, resumed),
        .verified_length = resumed           ? -1
                           : c->verification ? (int)c->chain_length + 1
                                             : 0,
        .client_verified_length = resumed                                       ? -1
                                  : c->verification && c->client_authentication ? (int)c->chain_length + 1
                                                                                : 0,
        .transferred_bytes = (long)c->transfer_bytes,
        .transfer_records = (int)((c->transfer_bytes + RECORD_MAX - 1) / RECORD_MAX),
    };
}

bool certificate_fits(const struct tls_case *c, const char *key, unsigned bits, const char *curve,
                      struct fault *fault) {
    const char *wanted = peer_key_name(c->key_type), *has = key == NULL ? "an unknown one" : key;
    if (strcmp(wanted, has) != 0)
        return fault_set(fault, FAULT_ERROR, "peer_key: wanted %s, the certificate has %s", wanted, has);
    if (c->curve != GROUP_NONE && (curve == NULL || strcmp(group_name(c->curve), curve) != 0))
        return fault_set(fault, FAULT_ERROR, "curve: wanted %s, the certificate has %s", group_name(c->curve),
                         curve == NULL ? "an unknown one" : curve);
    if (key_bits(c) != 0 && key_bits(c) != bits)
        return fault_set(fault, FAULT_ERROR, "peer_key_bits: wanted %u, the certificate has %u", key_bits(c),
                         bits);
    return true;
}

static bool counts(const char *field, unsigned wanted, unsigned has, struct fault *fault) {
    return wanted == has ||
           fault_set(fault, FAULT_ERROR, "%s: wanted %u, the certificate has %u", field, wanted, has);
}

bool certificate_parts_fit(const struct tls_case *c, const struct certificate_parts *parts,
                           struct fault *fault) {
    return counts("certificate_names", c->certificate_names, parts->names, fault) &&
           counts("certificate_policies", c->certificate_policies, parts->policies, fault) &&
           counts("crl_distribution_points", c->crl_distribution_points, parts->crl_distribution_points,
                  fault);
}

bool intermediate_fits(const struct tls_case *c, size_t der_bytes, struct fault *fault) {
    return c->intermediate_bytes == 0 || c->intermediate_bytes == der_bytes ||
           fault_set(fault, FAULT_ERROR, "intermediate_bytes: wanted %u, a certificate has %zu",
                     c->intermediate_bytes, der_bytes);
}

static bool same_word(const char *field, const char *wanted, const char *got, const char *side,
                      struct fault *fault) {
    if (wanted == NULL || got == NULL || strcmp(wanted, got) == 0)
        return true;
    return fault_set(fault, FAULT_MISMATCH, "%s: wanted %s, the %s got %s", field, wanted, side, got);
}

static bool same_number(const char *field, long wanted, long got, const char *side, struct fault *fault) {
    if (wanted < 0 || got < 0 || wanted == got)
        return true;
    return fault_set(fault, FAULT_MISMATCH, "%s: wanted %ld, the %s got %ld", field, wanted, side, got);
}

bool negotiated_matches(const struct negotiated *wanted, const struct negotiated *got, const char *side,
                        struct fault *fault) {
    if (!same_word("protocol", wanted->protocol, got->protocol, side, fault) ||
        !same_word("cipher", wanted->cipher, got->cipher, side, fault) ||
        !same_word("group", wanted->group, got->group, side, fault) ||
        !same_word("signature", wanted->signature, got->signature, side, fault) ||
        !same_word("peer_key", wanted->peer_key, got->peer_key, side, fault) ||
        !same_word("client_key", wanted->client_key, got->client_key, side, fault) ||
        !same_word("client_signature", wanted->client_signature, got->client_signature, side, fault) ||
        !same_number("extended_master_secret", wanted->extended_master_secret, got->extended_master_secret,
                     side, fault) ||
        !same_number("encrypt_then_mac", wanted->encrypt_then_mac, got->encrypt_then_mac, side, fault) ||
        !same_number("chain_length", wanted->chain_length, got->chain_length, side, fault) ||
        !same_number("ocsp_bytes", wanted->ocsp_bytes, got->ocsp_bytes, side, fault) ||
        !same_number("early_data_bytes", wanted->early_data_bytes, got->early_data_bytes, side, fault) ||
        !same_number("hello_retry", wanted->hello_retry, got->hello_retry, side, fault) ||
        !same_number("key_shares", wanted->key_shares, got->key_shares, side, fault) ||
        !same_number("tickets", wanted->tickets, got->tickets, side, fault) ||
        !same_number("verified_length", wanted->verified_length, got->verified_length, side, fault) ||
        !same_number("client_verified_length", wanted->client_verified_length, got->client_verified_length,
                     side, fault))
        return false;
    if (wanted->peer_key_bits != 0 && got->peer_key != NULL && wanted->peer_key_bits != got->peer_key_bits)
        return fault_set(fault, FAULT_MISMATCH, "peer_key_bits: wanted %u, the %s got %u",
                         wanted->peer_key_bits, side, got->peer_key_bits);
    if (wanted->resumed != got->resumed)
        return fault_set(fault, FAULT_MISMATCH, "resumed: wanted %s, the %s got %s",
                         wanted->resumed ? "true" : "false", side, got->resumed ? "true" : "false");
    return true;
}
