/* The request parser: tables of keys, one setter each. Values hold no `/` and file names
 * don't begin with a dot, so that no request can name something outside the material folder. */
#include "request.h"

#include "request_age.h"
#include "request_load.h"
#include "request_path.h"
#include "values.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const uint64_t HANDSHAKES_LIMIT = 1000000;
static const uint64_t EXAMINED_LIMIT = 1000, PROCESSES_LIMIT = 1000;

static bool store_protocol(struct request *r, const char *v) {
    return protocol_from_name(v, &r->tls_case.protocol);
}
static bool store_key_exchange(struct request *r, const char *v) {
    return key_exchange_from_name(v, &r->tls_case.method, &r->tls_case.key_type);
}
static bool store_cipher(struct request *r, const char *v) {
    return cipher_from_name(v, &r->tls_case.cipher);
}
static bool store_group(struct request *r, const char *v) {
    return group_from_name(v, &r->tls_case.group, &r->tls_case.dh_bits) &&
           value_copy(r->tls_case.group_name, v);
}
static bool store_curve(struct request *r, const char *v) {
    return curve_from_name(v, &r->tls_case.curve);
}
static bool store_rsa_bits(struct request *r, const char *v) {
    uint64_t bits;
    if (!value_decimal(v, 0, RSA_BITS_MAX, &bits) || (bits != 0 && bits < RSA_BITS_MIN))
        return false;
    r->tls_case.rsa_bits = (unsigned)bits;
    return true;
}
static bool store_key(struct request *r, const char *v) {
    return value_file(r->tls_case.key, v);
}
static bool store_certificate(struct request *r, const char *v) {
    return value_file(r->tls_case.certificate, v);
}
static bool store_dh_parameters(struct request *r, const char *v) {
    return value_file(r->tls_case.dh_parameters, v);
}
static bool store_ocsp_response(struct request *r, const char *v) {
    return value_file(r->tls_case.ocsp_response, v);
}
static bool store_chain_length(struct request *r, const char *v) {
    return value_whole(v, 1, CHAIN_MAX, &r->tls_case.chain_length);
}
static bool store_client_authentication(struct request *r, const char *v) {
    return value_yes_or_no(v, &r->tls_case.client_authentication);
}
static bool store_resumption(struct request *r, const char *v) {
    return resumption_from_name(v, &r->tls_case.resumption);
}
static bool store_early_data_bytes(struct request *r, const char *v) {
    return value_whole(v, 0, EARLY_DATA_MAX, &r->tls_case.early_data_bytes);
}
static bool store_anti_replay(struct request *r, const char *v) {
    return value_yes_or_no(v, &r->tls_case.anti_replay);
}
static bool store_hello_retry(struct request *r, const char *v) {
    return value_yes_or_no(v, &r->tls_case.hello_retry);
}
static bool store_fips(struct request *r, const char *v) {
    return value_yes_or_no(v, &r->tls_case.fips);
}
static bool store_threads(struct request *r, const char *v) {
    return value_whole(v, 1, THREADS_MAX, &r->tls_case.threads);
}
static bool store_verification(struct request *r, const char *v) {
    return value_yes_or_no(v, &r->tls_case.verification);
}
static bool store_trust_anchors_file(struct request *r, const char *v) {
    return value_file(r->tls_case.trust_anchors_file, v);
}
static bool store_trust_anchors(struct request *r, const char *v) {
    return value_whole(v, 0, TRUST_ANCHORS_MAX, &r->tls_case.trust_anchors);
}
static bool store_reload_every(struct request *r, const char *v) {
    return value_whole(v, 0, RELOAD_MAX, &r->tls_case.reload_every);
}
static bool store_server_names(struct request *r, const char *v) {
    return value_whole(v, 1, SERVER_NAMES_MAX, &r->tls_case.server_names);
}
static bool store_trust_store(struct request *r, const char *v) {
    return trust_store_from_name(v, &r->tls_case.trust_store);
}
static bool store_tickets(struct request *r, const char *v) {
    return tickets_from_name(v, &r->tls_case.tickets);
}
static bool store_transfer_bytes(struct request *r, const char *v) {
    return value_whole(v, 0, TRANSFER_MAX, &r->tls_case.transfer_bytes);
}
static bool store_context(struct request *r, const char *v) {
    return sharing_from_name(v, &r->tls_case.context);
}
static bool store_roles(struct request *r, const char *v) {
    return roles_from_name(v, &r->tls_case.roles);
}
static bool store_certificate_names(struct request *r, const char *v) {
    return value_whole(v, 1, NAMES_MAX, &r->tls_case.certificate_names);
}
static bool store_certificate_policies(struct request *r, const char *v) {
    return value_whole(v, 0, EXTENSION_ENTRIES_MAX, &r->tls_case.certificate_policies);
}
static bool store_crl_distribution_points(struct request *r, const char *v) {
    return value_whole(v, 0, EXTENSION_ENTRIES_MAX, &r->tls_case.crl_distribution_points);
}
static bool store_intermediate_bytes(struct request *r, const char *v) {
    return value_whole(v, 0, INTERMEDIATE_MAX, &r->tls_case.intermediate_bytes);
}
static bool store_split(struct request *r, const char *v) {
    return value_yes_or_no(v, &r->limits.split);
}
static bool store_handshakes(struct request *r, const char *v) {
    return value_decimal(v, 1, EXAMINED_LIMIT, &r->handshakes);
}
static bool store_processes(struct request *r, const char *v) {
    return value_decimal(v, 1, PROCESSES_LIMIT, &r->processes);
}
static bool store_profiled(struct request *r, const char *v) {
    return profiled_from_name(v, &r->of);
}
static bool store_profiled_handshakes(struct request *r, const char *v) {
    return value_decimal(v, 1, PROFILED_MAX, &r->handshakes);
}
static bool store_min_handshakes(struct request *r, const char *v) {
    return value_decimal(v, 0, HANDSHAKES_LIMIT, &r->limits.min_handshakes);
}
static bool store_max_handshakes(struct request *r, const char *v) {
    return value_decimal(v, 1, HANDSHAKES_LIMIT, &r->limits.max_handshakes);
}
static bool store_min_ns(struct request *r, const char *v) {
    return value_decimal(v, 0, NS_LIMIT, &r->limits.min_ns);
}

static const char FILE_NAME[] = "a file name without a leading dot, or -";
static const char YES_NO[] = "yes or no";

static const struct key setup_keys[] = {
    {"id", store_id, "a name"},
    {"protocol", store_protocol, "TLSv1.2, TLSv1.3, DTLSv1.2, DTLSv1.3, QUICv1, BFE-0RTT-1 or default"},
    {"key_exchange", store_key_exchange,
     "RSA, BFE, or DHE, ECDHE, MLKEM or default with - and RSA, RSA-PSS, ECDSA, Ed25519, Ed448 or ML-DSA-44, "
     "-65, "
     "-87"},
    {"cipher", store_cipher,
     "AES-128-GCM, AES-256-GCM, CHACHA20-POLY1305, AES-128-CBC-SHA, AES-256-CBC-SHA, AES-128-CBC-SHA256, "
     "AES-256-CBC-SHA256, AES-256-CBC-SHA384 or -"},
    {"group", store_group, "a group, dh-BITS (512 to 8192 bits) or -"},
    {"rsa_bits", store_rsa_bits, "0, or 512 to 16384"},
    {"curve", store_curve, "secp192r1, P-256, P-384, P-521 or -"},
    {"key", store_key, FILE_NAME},
    {"certificate", store_certificate, FILE_NAME},
    {"dh_parameters", store_dh_parameters, FILE_NAME},
    {"ocsp_response", store_ocsp_response, FILE_NAME},
    {"chain_length", store_chain_length, "1 to 10"},
    {"client_authentication", store_client_authentication, YES_NO},
    {"resumption", store_resumption, "none, session-id, ticket, psk or psk-dhe"},
    {"early_data_bytes", store_early_data_bytes, "0 to 16384"},
    {"anti_replay", store_anti_replay, YES_NO},
    {"hello_retry", store_hello_retry, YES_NO},
    {"fips", store_fips, YES_NO},
    {"threads", store_threads, "1 to 256"},
    {"verification", store_verification, YES_NO},
    {"trust_anchors_file", store_trust_anchors_file, FILE_NAME},
    {"trust_anchors", store_trust_anchors, "0 to 1000"},
    {"tickets", store_tickets, "none, default or cached"},
    {"transfer_bytes", store_transfer_bytes, "0 to 16777216"},
    {"context", store_context, "shared, thread, connection, pool or library"},
    {"roles", store_roles, "both, client or server"},
    {"certificate_names", store_certificate_names, "1 to 1000"},
    {"certificate_policies", store_certificate_policies, "0 to 50"},
    {"crl_distribution_points", store_crl_distribution_points, "0 to 50"},
    {"intermediate_bytes", store_intermediate_bytes, "0 to 8192"},
    {"trust_store", store_trust_store, "file, folder or p11-kit"},
    {"reload_every", store_reload_every, "0 to 1000000"},
    {"server_names", store_server_names, "1 to 10000"},
};
static const struct key run_keys[] = {
    {"id", store_id, "a name"},
    {"min_handshakes", store_min_handshakes, "0 to 1000000"},
    {"min_ns", store_min_ns, "0 to 3600000000000"},
    {"max_handshakes", store_max_handshakes, "1 to 1000000"},
    {"split", store_split, YES_NO},
};
static const struct key examine_keys[] = {
    {"id", store_id, "a name"},
    {"handshakes", store_handshakes, "1 to 1000"},
};
static const struct key start_keys[] = {
    {"id", store_id, "a name"},
    {"processes", store_processes, "1 to 1000"},
};
static const struct key profile_keys[] = {
    {"id", store_id, "a name"},
    {"of", store_profiled, "allocations or atomics"},
    {"handshakes", store_profiled_handshakes, "1 to 100"},
};

#define COUNT(table) (sizeof(table) / sizeof(table)[0])
static const struct verb_keys {
    const char *name;
    const struct key *keys;
    unsigned count;
} verbs[] = {
    [VERB_SETUP] = {"setup", setup_keys, COUNT(setup_keys)},
    [VERB_RUN] = {"run", run_keys, COUNT(run_keys)},
    [VERB_EXAMINE] = {"examine", examine_keys, COUNT(examine_keys)},
    [VERB_LOAD] = {"load", load_keys, COUNT(load_keys)},
    [VERB_PATH] = {"path", path_keys, COUNT(path_keys)},
    [VERB_START] = {"start", start_keys, COUNT(start_keys)},
    [VERB_AGE] = {"age", age_keys, COUNT(age_keys)},
    [VERB_PROFILE] = {"profile", profile_keys, COUNT(profile_keys)},
    [VERB_STOP] = {"stop", NULL, 0},
};
_Static_assert(COUNT(verbs) == VERB_STOP + 1, "every verb has its keys");

/* The keys of a line so far: a bit each, by their place in the verb's table. */
typedef uint64_t seen_keys;
#define FITS(table) _Static_assert(COUNT(table) <= 8 * sizeof(seen_keys), #table " has more keys than bits")
FITS(setup_keys);
FITS(run_keys);
FITS(examine_keys);
FITS(load_keys);
FITS(path_keys);
FITS(start_keys);
FITS(age_keys);
FITS(profile_keys);

static seen_keys bit(unsigned index) {
    return (seen_keys)1 << index;
}

static bool wrong(char reason[REASON_MAX], const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool wrong(char reason[REASON_MAX], const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, REASON_MAX, format, arguments);
    va_end(arguments);
    return false;
}

static bool allowed_in_value(char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("._+-", c) != NULL);
}

/* One `key=value`, `word` is NUL-terminated and holds no other NUL and no space. */
static bool parse_word(char *word, const struct verb_keys *verb, struct request *out, seen_keys *seen,
                       char reason[REASON_MAX]) {
    char *equals = strchr(word, '=');
    if (equals == NULL)
        return wrong(reason, "expected key=value, got \"%.64s\"", word);
    *equals = '\0';
    const char *value = equals + 1;
    unsigned index = 0;
    while (index < verb->count && strcmp(verb->keys[index].name, word) != 0)
        index++;
    if (index == verb->count)
        return wrong(reason, "unknown key \"%.64s\"", word);
    if (*seen & bit(index))
        return wrong(reason, "key %s is given twice", word);
    *seen |= bit(index);
    size_t length = strlen(value);
    if (length == 0 || length > VALUE_MAX)
        return wrong(reason, "the value of %s has %zu bytes, 1 to %d are allowed", word, length, VALUE_MAX);
    for (size_t i = 0; i < length; i++) {
        if (!allowed_in_value(value[i]))
            return wrong(reason, "the value of %s holds a byte that is not in A-Z a-z 0-9 . _ + -", word);
    }
    if (!verb->keys[index].store(out, value))
        return wrong(reason, "%s=%.64s: expected %s", word, value, verb->keys[index].wants);
    return true;
}

bool request_parse(const char *line, size_t length, struct request *out, char reason[REASON_MAX]) {
    char text[LINE_MAX_BYTES + 1];
    memset(out, 0, sizeof *out);
    if (length > LINE_MAX_BYTES)
        return wrong(reason, "a line has at most %d bytes", LINE_MAX_BYTES);
    if (length > 0 && memchr(line, '\0', length) != NULL)
        return wrong(reason, "a line holds no NUL byte");
    if (length > 0)
        memcpy(text, line, length);
    text[length] = '\0';

    char *rest = strchr(text, ' ');
    if (rest != NULL)
        *rest++ = '\0';
    enum verb verb = VERB_SETUP;
    while (verb < COUNT(verbs) && strcmp(verbs[verb].name, text) != 0)
        verb++;
    if (verb == COUNT(verbs))
        return wrong(reason, "unknown verb \"%.64s\"", text);
    out->verb = verb;

    seen_keys seen = 0;
    while (rest != NULL) {
        char *word = rest;
        rest = strchr(word, ' ');
        if (rest != NULL)
            *rest++ = '\0';
        if (!parse_word(word, &verbs[verb], out, &seen, reason))
            return false;
    }
    for (unsigned i = 0; i < verbs[verb].count; i++) {
        if (!(seen & bit(i)))
            return wrong(reason, "%s needs the key %s", text, verbs[verb].keys[i].name);
    }
    if (out->verb == VERB_RUN && out->limits.min_handshakes > out->limits.max_handshakes)
        return wrong(reason, "min_handshakes is above max_handshakes");
    if (out->verb == VERB_PATH && !path_is_bounded(&out->path_plan))
        return wrong(reason, "so many connections at this interval_ns begin for more than an hour");
    if (out->verb == VERB_AGE && out->age_plan.points > out->age_plan.connections)
        return wrong(reason, "points is above connections");
    return true;
}
