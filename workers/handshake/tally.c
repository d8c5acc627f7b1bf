/* Counting, and percentiles of all values. */
#include "tally.h"

#include <stdio.h>
#include <stdlib.h>

bool tally_init(struct tally *t, uint64_t max_connections) {
    *t = (struct tally){.handshake_ns = calloc(max_connections, sizeof(uint64_t)),
                        .response_ns = calloc(max_connections, sizeof(uint64_t))};
    return t->handshake_ns != NULL && t->response_ns != NULL;
}

void tally_free(struct tally *t) {
    free(t->handshake_ns);
    free(t->response_ns);
    t->handshake_ns = t->response_ns = NULL;
}

void tally_add(struct tally *t, const struct connection *c, enum outcome outcome) {
    uint64_t done = t->outcomes[OUTCOME_DONE];
    if (outcome == OUTCOME_DONE) {
        t->handshake_ns[done] = c->handshake_ns;
        t->response_ns[done] = c->response_ns;
        t->resumed += c->resumed;
    } else if (t->first_failure[0] == '\0') {
        bool detailed = c->fault.detail[0] != '\0';
        snprintf(t->first_failure, sizeof t->first_failure, "%s%s%s", c->fault.reason, detailed ? ": " : "",
                 c->fault.detail);
    }
    t->outcomes[outcome]++;
    t->proven += c->proven;
    for (enum role role = ROLE_CLIENT; role <= ROLE_SERVER; role++)
        t->bytes[role] += c->bytes[role];
}
