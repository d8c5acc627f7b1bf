/* Open and idle connections, proven like all others. */
#include "hold.h"

bool hold(struct prepared *p, struct pair **pairs, uint64_t connections, struct observer *observer,
          struct fault *fault) {
    struct spans unused = {0};
    bool good = true;
    for (uint64_t i = 0; good && i < connections; i++) {
        pairs[i] = pair_new(p->backend, p->context, &p->tls_case, false);
        if (pairs[i] == NULL)
            return fault_set(fault, FAULT_ERROR, "out of memory");
        pairs[i]->observer = observer;
        good = pair_open(pairs[i], p->wanted.resumed, false, &unused, fault) &&
               pair_turns(pairs[i], false, &unused, fault) && pair_prove(pairs[i], &p->wanted, NULL, fault);
        if (good && p->tls_case.anti_replay)
            good = p->backend->keep(pairs[i]->sides[ROLE_CLIENT], fault);
    }
    return good;
}

void let_go(struct pair **pairs, uint64_t connections) {
    struct spans unused = {0};
    for (uint64_t i = 0; i < connections && pairs[i] != NULL; i++) {
        pair_close(pairs[i], false, &unused);
        pair_free(pairs[i]);
    }
}
