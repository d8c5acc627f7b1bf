/* Setting a case up: configuration, pairs, a probe, and the session that resumptions start from. */
#include "prepared.h"

#include "peer.h"

#include <string.h>

static bool make_pairs(struct prepared *p, struct fault *fault) {
    for (unsigned i = 0; i < p->tls_case.threads; i++) {
        unsigned number = i % case_contexts(&p->tls_case);
        struct context *context = number == 0 ? p->context : p->others[number];
        p->pairs[i] = pair_new(p->backend, context, &p->tls_case, false);
        if (p->pairs[i] == NULL)
            return fault_set(fault, FAULT_ERROR, "out of memory");
    }
    return true;
}

static bool make_contexts(struct prepared *p, const char *material, struct fault *fault) {
    bool has_library_contexts = p->backend->traits != NULL && p->backend->traits->library_contexts;
    if (p->tls_case.context == CONTEXT_LIBRARY && !has_library_contexts)
        return fault_set(fault, FAULT_UNSUPPORTED, "this library has no library contexts");
    bool has_cache = p->backend->traits != NULL && p->backend->traits->session_cache;
    if (p->tls_case.tickets == TICKETS_CACHED && !has_cache)
        return fault_set(fault, FAULT_UNSUPPORTED, "this library's backend has no cache that keeps sessions");
    if (p->tls_case.reload_every != 0 && p->backend->reload == NULL)
        return fault_set(fault, FAULT_UNSUPPORTED, "this library's backend reloads no certificate");
    if (p->tls_case.server_names > 1 && p->backend->ask == NULL)
        return fault_set(fault, FAULT_UNSUPPORTED, "this library's backend chooses no configuration by name");
    if ((p->context = p->backend->setup(&p->tls_case, material, fault)) == NULL)
        return false;
    for (unsigned i = 1; i < case_contexts(&p->tls_case); i++) {
        if ((p->others[i] = p->backend->setup(&p->tls_case, material, fault)) == NULL)
            return false;
    }
    return true;
}

/* A pair of its own that reads along, so that set-up proves from the wire what can be proven there. Its
 * turns are not counted: OpenSSL makes the blinding of an RSA key when the key is first used, in a random
 * number of steps. */
static bool probe(struct prepared *p, const struct negotiated *wanted, bool keeps, struct negotiated *seen,
                  struct fault *fault) {
    struct spans unused = {0};
    struct pair *pair = pair_new(p->backend, p->context, &p->tls_case, true);
    if (pair == NULL)
        return fault_set(fault, FAULT_ERROR, "out of memory");
    pair->uncounted = true;
    bool good = pair_open(pair, wanted->resumed, false, &unused, fault) &&
                pair_turns(pair, false, &unused, fault) && pair_prove(pair, wanted, seen, fault) &&
                (!keeps || p->backend->keep(pair->sides[ROLE_CLIENT], fault)) &&
                pair_transfer(pair, false, &unused, seen, fault);
    pair_close(pair, false, &unused);
    pair_free(pair);
    return good;
}

static bool prove_both(struct prepared *p, struct negotiated *seen, struct fault *fault) {
    bool resumes = p->tls_case.resumption != RESUME_NONE;
    struct negotiated full = case_wanted(&p->tls_case, false);
    if (!probe(p, &full, resumes, seen, fault))
        return false;
    return !resumes || probe(p, &p->wanted, p->tls_case.anti_replay, seen, fault);
}

static bool start_crew(struct prepared *p, struct fault *fault) {
    return p->tls_case.threads == 1 || (p->crew = crew_start(p->tls_case.threads, fault)) != NULL;
}

bool prepare(struct prepared *p, const struct backend *backend, const struct tls_case *tls_case,
             const char *material, int peer, struct negotiated *seen, struct fault *fault) {
    memset(p, 0, sizeof *p);
    p->backend = backend;
    p->tls_case = *tls_case;
    p->peer = tls_case->roles == ROLES_BOTH ? -1 : peer;
    p->wanted =
        case_wanted(&p->tls_case, tls_case->resumption != RESUME_NONE); /* its words live in the copy */
    bool good = case_check(&p->tls_case, fault);
    if (good && tls_case->roles != ROLES_BOTH && peer < 0)
        good = fault_set(fault, FAULT_ERROR, "a single role needs the option --peer");
    good = good && make_contexts(p, material, fault);
    if (p->peer >= 0)
        good = good ? peer_probe(p, seen, fault) : peer_gives_up(p->peer);
    else
        good = good && make_pairs(p, fault) && prove_both(p, seen, fault) && start_crew(p, fault);
    if (!good)
        release(p);
    return good;
}

void release(struct prepared *p) {
    crew_end(p->crew); /* what a library keeps for each thread is freed while its context is still there */
    p->crew = NULL;
    for (unsigned i = 0; i < THREADS_MAX; i++) {
        pair_free(p->pairs[i]);
        p->pairs[i] = NULL;
        if (p->others[i] != NULL)
            p->backend->teardown(p->others[i]);
        p->others[i] = NULL;
    }
    if (p->context != NULL)
        p->backend->teardown(p->context);
    p->context = NULL;
}
