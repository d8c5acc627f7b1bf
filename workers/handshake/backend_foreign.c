/* The backend of libraries that are not written in C (foreign.h): flattens the case, reads the material that
 * handshakes are compared with, and makes words of what the library tells in numbers. */
#include "backend.h"
#include "certificate.h"
#include "foreign.h"
#include "iana.h"
#include "material.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Written at set-up alone. */
struct context {
    struct tls_case tls_case;
    struct foreign_case flat;
    char paths[4][PATH_MAX];
    struct certificate chain[CHAIN_MAX];
    unsigned key_bits;
    struct material ocsp;
    uintptr_t foreign;
};

struct side {
    struct context *context;
    enum role role;
    uintptr_t foreign;
    char unnamed[4][32]; /* back the words of numbers that no case has */
};

struct foreign_proof {
    const struct context *context;
    enum role role;
    int certificates; /* of the peer's */
    bool others_peer, others_own, other_response;
    long ocsp_bytes;
};

/* --- What the worker exports. --- */

size_t foreign_pipe_read(void *pipe, void *data, size_t size) {
    return pipe_read(pipe, data, size);
}

size_t foreign_pipe_write(void *pipe, const void *data, size_t length) {
    return pipe_write(pipe, data, length);
}

void foreign_fail(struct fault *fault, int kind, const char *reason, size_t reason_length, const char *detail,
                  size_t detail_length) {
    static const enum fault_kind kinds[] = {[FOREIGN_FAULT_UNSUPPORTED] = FAULT_UNSUPPORTED,
                                            [FOREIGN_FAULT_ERROR] = FAULT_ERROR,
                                            [FOREIGN_FAULT_MISMATCH] = FAULT_MISMATCH};
    fault_set(fault, kinds[kind], "%.*s", (int)reason_length, reason);
    snprintf(fault->detail, sizeof fault->detail, "%.*s", (int)detail_length,
             detail_length > 0 ? detail : "");
}

static bool same_bytes(const void *a, size_t a_length, const void *b, size_t b_length) {
    return a_length == b_length && (a_length == 0 || memcmp(a, b, a_length) == 0);
}

/* Whether the chain is as long as the case's, `chain_length` tells. */
void foreign_show(struct foreign_view *view, int what, const void *bytes, size_t length) {
    struct foreign_proof *proof = view->proof;
    const struct context *c = proof->context;
    if (what == FOREIGN_STAPLED) {
        proof->ocsp_bytes = (long)length;
        proof->other_response = !same_bytes(bytes, length, c->ocsp.bytes, c->ocsp.length);
        return;
    }
    const struct certificate *wanted = what == FOREIGN_OWN ? &c->chain[0] : NULL;
    if (what == FOREIGN_PEER) {
        int place = proof->certificates++;
        wanted = place < (int)c->tls_case.chain_length ? &c->chain[place] : NULL;
    }
    if (wanted == NULL || same_bytes(bytes, length, wanted->der, wanted->length))
        return;
    proof->others_own |= what == FOREIGN_OWN;
    proof->others_peer |= what == FOREIGN_PEER;
}

/* --- Material. --- */

static bool read_chain(struct context *c, const struct material *pem, struct fault *fault) {
    struct certificate one;
    size_t at = 0;
    unsigned count = 0;
    while (certificate_next(pem->bytes, pem->length, &at, &one)) {
        if (count < CHAIN_MAX)
            c->chain[count] = one;
        else
            certificate_free(&one);
        count++;
    }
    struct certificate_facts facts;
    if (at != pem->length || count == 0 || !certificate_read(&c->chain[0], &facts))
        return fault_set(fault, FAULT_ERROR, "the certificate can't be read");
    if (!certificate_fits(&c->tls_case, facts.key, facts.bits, facts.curve, fault))
        return false;
    c->key_bits = facts.bits;
    if (count != c->tls_case.chain_length)
        return fault_set(fault, FAULT_ERROR, "chain_length: wanted %u, the file holds %u",
                         c->tls_case.chain_length, count);
    for (unsigned i = 1; i < count; i++) {
        if (!intermediate_fits(&c->tls_case, c->chain[i].length, fault))
            return false;
    }
    return certificate_parts_fit(&c->tls_case, &facts.parts, fault);
}

static bool count_anchors(struct context *c, const struct material *pem, struct fault *fault) {
    struct certificate one;
    size_t at = 0;
    unsigned count = 0;
    for (; certificate_next(pem->bytes, pem->length, &at, &one); count++)
        certificate_free(&one);
    if (at != pem->length || count == 0)
        return fault_set(fault, FAULT_ERROR, "the trust anchors can't be read");
    return count == c->tls_case.trust_anchors ||
           fault_set(fault, FAULT_ERROR, "trust_anchors: wanted %u, the file holds %u",
                     c->tls_case.trust_anchors, count);
}

/* The key is the library's to read; here only that there is one. */
static bool no_more(struct context *c, const struct material *material, struct fault *fault) {
    (void)c, (void)material, (void)fault;
    return true;
}

/* Reads a file, and puts its path into the flattened case. No file ("-"): NULL. */
static bool take_file(struct context *c, const char *folder, const char *name, int place, char **path,
                      bool (*check)(struct context *, const struct material *, struct fault *),
                      struct fault *fault) {
    struct material material;
    if (strcmp(name, "-") == 0)
        return true;
    if (snprintf(c->paths[place], PATH_MAX, "%s/%s", folder, name) >= PATH_MAX)
        return fault_set(fault, FAULT_ERROR, "the material folder's path is too long");
    *path = c->paths[place];
    if (!material_read(folder, name, &material, fault))
        return false;
    bool good = check(c, &material, fault);
    material_free(&material);
    return good;
}

static bool take_files(struct context *c, const char *folder, struct fault *fault) {
    const struct tls_case *t = &c->tls_case;
    struct foreign_case *flat = &c->flat;
    return take_file(c, folder, t->certificate, 0, &flat->certificate, read_chain, fault) &&
           take_file(c, folder, t->key, 1, &flat->key, no_more, fault) &&
           take_file(c, folder, t->trust_anchors_file, 2, &flat->trust_anchors, count_anchors, fault) &&
           take_file(c, folder, t->ocsp_response, 3, &flat->ocsp_response, no_more, fault) &&
           (flat->ocsp_response == NULL || material_read(folder, t->ocsp_response, &c->ocsp, fault));
}

/* --- A context. --- */

static bool could_take(const struct tls_case *c, struct fault *fault) {
    const char *lacks = c->fips                       ? "the FIPS provider is OpenSSL's"
                        : c->group == GROUP_CUSTOM_DH ? "the library has no custom DH parameters"
                        : is_cbc(c->cipher)           ? "the library has no encrypt-then-MAC (RFC 7366)"
                        : c->protocol != PROTOCOL_DEFAULT && iana_suite_number(c) == 0
                            ? "TLS has no such cipher suite"
                            : NULL;
    return lacks == NULL || fault_set(fault, FAULT_UNSUPPORTED, "%s", lacks);
}

static void flatten(struct context *c) {
    static char host[] = VERIFIED_HOST;
    const struct tls_case *t = &c->tls_case;
    enum group retried = t->group == GROUP_X25519 ? GROUP_P256 : GROUP_X25519;
    const char *signature = t->method == METHOD_RSA ? "rsa_pkcs1_sha256" : case_signature(t);
    c->flat = (struct foreign_case){
        .protocol = t->protocol == TLS_1_2   ? 0x0303
                    : t->protocol == TLS_1_3 ? 0x0304
                                             : 0,
        .suite = (int)iana_suite_number(t),
        .group = (int)iana_group_number(t->group),
        .retried_group = t->hello_retry ? (int)iana_group_number(retried) : 0,
        .signature = (int)iana_signature_number(signature),
        .curve = t->protocol == PROTOCOL_DEFAULT ? 0 : (int)iana_group_number(t->curve),
        .rsa_bits = (int)t->rsa_bits,
        .client_authentication = t->client_authentication,
        .verification = t->verification,
        .resumption = (int)t->resumption,
        .early_data_bytes = (int)t->early_data_bytes,
        .anti_replay = t->anti_replay,
        .default_tickets = t->tickets == TICKETS_DEFAULT,
        .per_connection = t->context == CONTEXT_CONNECTION,
        .host = host,
    };
}

static void teardown(struct context *c) {
    if (c->foreign != 0)
        foreign_teardown(c->foreign);
    for (unsigned i = 0; i < CHAIN_MAX; i++)
        certificate_free(&c->chain[i]);
    material_free(&c->ocsp);
    free(c);
}

/* What the material lacks is told before what the library does. */
static struct context *setup(const struct tls_case *tls_case, const char *material, struct fault *fault) {
    if (!case_needs_tls(tls_case, fault))
        return NULL;
    struct context *c = calloc(1, sizeof *c);
    if (c == NULL) {
        fault_set(fault, FAULT_ERROR, "out of memory");
        return NULL;
    }
    c->tls_case = *tls_case;
    flatten(c);
    if (take_files(c, material, fault) && could_take(&c->tls_case, fault) &&
        (c->foreign = foreign_setup(&c->flat, fault)) != 0)
        return c;
    teardown(c);
    return NULL;
}

/* --- A side. --- */

static void close_side(struct side *side) {
    foreign_close(side->foreign);
    free(side);
}

static struct side *open_side(struct context *context, enum role role, struct pipe_end pipes, bool resume,
                              struct fault *fault) {
    struct side *side = calloc(1, sizeof *side);
    if (side == NULL) {
        fault_set(fault, FAULT_ERROR, "out of memory");
        return NULL;
    }
    side->context = context;
    side->role = role;
    side->foreign = foreign_open(context->foreign, (int)role, pipes.in, pipes.out, resume, fault);
    if (side->foreign != 0)
        return side;
    free(side);
    return NULL;
}

static enum progress step(struct side *side, struct fault *fault) {
    return (enum progress)foreign_step(side->foreign, fault);
}

static long send_data(struct side *side, const void *data, size_t length, struct fault *fault) {
    return foreign_send(side->foreign, (void *)data, length, fault);
}

static long receive_data(struct side *side, void *data, size_t size, struct fault *fault) {
    return foreign_receive(side->foreign, data, size, fault);
}

static enum progress finish(struct side *side, struct fault *fault) {
    return (enum progress)foreign_finish(side->foreign, fault);
}

static bool keep(struct side *client, struct fault *fault) {
    return foreign_keep(client->foreign, fault) != 0;
}

/* --- What was negotiated. --- */

static const char *worded(const char *word, int number, const char *what, char unnamed[static 32]) {
    if (word != NULL || number < 0)
        return word;
    snprintf(unnamed, 32, "%s %#x", what, (unsigned)number);
    return unnamed;
}

static const char *cipher_word(int number) {
    enum cipher cipher;
    enum method method;
    return number >= 0 && iana_suite((unsigned)number, &cipher, &method) ? cipher_name(cipher) : NULL;
}

static const char *signature_word(int number) {
    return number < 0 ? NULL : iana_signature_word((unsigned)number);
}

/* Key words are read from the case's certificate: what was shown is the same bytes. */
static bool inspect_client(struct side *side, const struct foreign_proof *proof, struct negotiated *out,
                           struct fault *fault) {
    const struct context *c = side->context;
    if (proof->certificates == 0)
        return fault_set(fault, FAULT_ERROR, "the handshake left no certificate");
    if (proof->others_peer)
        return fault_set(fault, FAULT_MISMATCH, "certificate: the server showed another than %s",
                         c->tls_case.certificate);
    out->peer_key = peer_key_name(c->tls_case.key_type);
    out->peer_key_bits = c->key_bits;
    out->chain_length = proof->certificates;
    out->ocsp_bytes = proof->ocsp_bytes;
    return (!proof->other_response && proof->ocsp_bytes == (long)c->ocsp.length) ||
           fault_set(fault, FAULT_MISMATCH, "ocsp_response: the client got %s than %s",
                     out->ocsp_bytes == 0 ? "none rather" : "another", c->tls_case.ocsp_response);
}

static bool inspect_server(struct side *side, const struct foreign_proof *proof, struct negotiated *out,
                           struct fault *fault) {
    const struct context *c = side->context;
    if (proof->others_own || proof->others_peer)
        return fault_set(fault, FAULT_MISMATCH, "certificate: the %s showed another than %s",
                         proof->others_own ? "server" : "client", c->tls_case.certificate);
    out->client_key = proof->certificates > 0 ? peer_key_name(c->tls_case.key_type) : "-";
    return true;
}

static bool inspect(struct side *side, struct negotiated *out, struct fault *fault) {
    struct foreign_proof proof = {.context = side->context, .role = side->role};
    struct foreign_view view = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, &proof};
    if (foreign_inspect(side->foreign, &view, fault) == 0)
        return false;
    if (view.resumed == FOREIGN_UNKNOWN)
        return fault_set(fault, FAULT_ERROR, "the library can't tell whether it resumed");
    out->protocol = worded(view.protocol < 0 ? NULL : iana_protocol_word((unsigned)view.protocol),
                           view.protocol, "protocol", side->unnamed[0]);
    out->cipher = worded(cipher_word(view.suite), view.suite, "suite", side->unnamed[1]);
    out->group = worded(view.group < 0 ? NULL : iana_group_word((unsigned)view.group), view.group, "group",
                        side->unnamed[2]);
    out->signature = worded(signature_word(view.signature), view.signature, "signature", side->unnamed[3]);
    out->resumed = view.resumed != 0;
    out->extended_master_secret = view.extended_master_secret;
    out->early_data_bytes = view.early_data_bytes;
    out->tickets = view.tickets;
    if (out->resumed)
        return true; /* no certificate was shown */
    out->client_signature = signature_word(view.client_signature);
    *(side->role == ROLE_CLIENT ? &out->verified_length : &out->client_verified_length) =
        view.verified_length;
    return side->role == ROLE_CLIENT ? inspect_client(side, &proof, out, fault)
                                     : inspect_server(side, &proof, out, fault);
}

static struct clock clock_in_use;

static bool start(const char *settings, struct fault *fault) {
    (void)settings;
    clock_in_use = foreign_traits.own_threads ? slow_clock : real_clock;
    return foreign_start(fault) != 0;
}

static const char *version(void) {
    return foreign_version();
}

static const char *version_text(void) {
    return foreign_version_text();
}

static const char *cpu_features(void) {
    return foreign_cpu_features();
}

const struct backend linked_backend = {
    .library = foreign_library,
    .traits = &foreign_traits,
    .clock = &clock_in_use,
    .counter_events = hardware_events,
    .takes_settings = false,
    .start = start,
    .version = version,
    .version_text = version_text,
    .architecture = NULL,
    .cpu_features = cpu_features,
    .setup = setup,
    .teardown = teardown,
    .open = open_side,
    .step = step,
    .send = send_data,
    .receive = receive_data,
    .finish = finish,
    .inspect = inspect,
    .keep = keep,
    .close = close_side,
};
