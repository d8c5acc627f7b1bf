/* The backend of libraries that are not written in C (foreign.h): flattens the case, reads the material that
 * handshakes are compared with, and passes on what the loop asks of a side. */
#include "foreign_backend.h"

#include "iana.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* --- A context. --- */

/* Puts a file's path into the flattened case. No file ("-"): NULL. */
static bool name_file(struct context *c, const char *folder, const char *name, int place, char **path,
                      struct fault *fault) {
    if (strcmp(name, "-") == 0)
        return true;
    *path = c->paths[place];
    return snprintf(c->paths[place], PATH_MAX, "%s/%s", folder, name) < PATH_MAX ||
           fault_set(fault, FAULT_ERROR, "the material folder's path is too long");
}

/* The key is the library's to read; here only that there is one. */
static bool take_files(struct context *c, const char *folder, struct fault *fault) {
    const struct tls_case *t = &c->tls_case;
    struct foreign_case *flat = &c->flat;
    struct material key;
    bool good = name_file(c, folder, t->certificate, 0, &flat->certificate, fault) &&
                name_file(c, folder, t->key, 1, &flat->key, fault) &&
                name_file(c, folder, t->trust_anchors_file, 2, &flat->trust_anchors, fault) &&
                name_file(c, folder, t->ocsp_response, 3, &flat->ocsp_response, fault) &&
                expected_load(t, folder, &c->expected, fault) && material_read(folder, t->key, &key, fault);
    if (good)
        material_free(&key);
    return good;
}

static bool could_take(const struct tls_case *c, struct fault *fault) {
    const char *lacks = c->fips                       ? "the FIPS provider is OpenSSL's"
                        : c->group == GROUP_CUSTOM_DH ? "the library has no custom DH parameters"
                        : is_cbc(c->cipher)           ? "the library has no encrypt-then-MAC (RFC 7366)"
                        : c->protocol != PROTOCOL_DEFAULT && iana_suite_number(c) == 0
                            ? "TLS has no such cipher suite"
                            : NULL;
    return lacks == NULL || fault_set(fault, FAULT_UNSUPPORTED, "%s", lacks);
}

_Static_assert(sizeof(struct traits) == 5, "rustls/src/lib.rs has as many traits");

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
    expected_free(&c->expected);
    free(c);
}

/* What the material lacks is told before what the library does. */
static struct context *setup(const struct tls_case *tls_case, const char *material, struct fault *fault) {
    if (!case_needs_tls(tls_case, fault) || !case_trust_store_is_taken(tls_case, false, fault))
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

/* --- The library. --- */

static struct clock clock_in_use;

/* Before main: it is read while the library itself starts, too. */
__attribute__((constructor)) static void choose_clock(void) {
    clock_in_use = foreign_traits.own_threads ? slow_clock : real_clock;
}

static bool start(const char *settings, struct fault *fault) {
    (void)settings;
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
    .inspect = foreign_compare,
    .keep = keep,
    .close = close_side,
};
