/* Until the end, arrays are by the number of the connection, and 0 where it is not done. */
#include "path_result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool path_new(struct path_result *r, uint64_t connections) {
    bool good = true;
    *r = (struct path_result){0};
    for (enum path_time time = PATH_CONNECT; time < PATH_TIMES; time++)
        good = (r->times[time] = calloc(connections, sizeof(uint64_t))) != NULL && good;
    for (enum role role = ROLE_CLIENT; role <= ROLE_SERVER; role++)
        good = (r->retransmissions[role] = calloc(connections, sizeof(uint64_t))) != NULL && good;
    return good;
}

void path_free(struct path_result *r) {
    for (enum path_time time = PATH_CONNECT; time < PATH_TIMES; time++)
        free(r->times[time]);
    for (enum role role = ROLE_CLIENT; role <= ROLE_SERVER; role++)
        free(r->retransmissions[role]);
    *r = (struct path_result){.proven = r->proven};
}

static void note_flights(struct path_result *r, const struct crossing *c) {
    r->flights = c->flights;
    memcpy(r->flight_bytes, c->flight_bytes, sizeof r->flight_bytes);
}

void path_note_done(struct path_result *r, const struct crossing *c) {
    const uint64_t times[PATH_TIMES] = {
        [PATH_CONNECT] = c->connect_ns,       [PATH_HANDSHAKE] = c->handshake_ns,
        [PATH_COMPUTING] = c->computing_ns,   [PATH_REQUEST] = c->request_ns,
        [PATH_FIRST_BYTE] = c->first_byte_ns, [PATH_LAST_BYTE] = c->last_byte_ns};
    for (enum path_time time = PATH_CONNECT; time < PATH_TIMES; time++)
        r->times[time][c->number] = times[time];
    for (enum role role = ROLE_CLIENT; role <= ROLE_SERVER; role++)
        r->retransmissions[role][c->number] = c->retransmissions[role];
    if (r->connections == 0)
        note_flights(r, c);
    r->connections++;
}

void path_note_failure(struct path_result *r, const struct crossing *c, enum outcome outcome) {
    const char *between = c->fault.detail[0] == '\0' ? "" : ": ";
    r->failures[outcome]++;
    if (r->connections == 0 && r->flights == 0)
        note_flights(r, c);
    if (r->first_failure[0] == '\0')
        snprintf(r->first_failure, sizeof r->first_failure, "%s%s%s", c->fault.reason, between,
                 c->fault.detail);
}

void path_close_gaps(struct path_result *r, unsigned begun) {
    unsigned done = 0;
    for (unsigned i = 0; i < begun; i++) {
        if (r->times[PATH_LAST_BYTE][i] == 0)
            continue;
        for (enum path_time time = PATH_CONNECT; time < PATH_TIMES; time++)
            r->times[time][done] = r->times[time][i];
        for (enum role role = ROLE_CLIENT; role <= ROLE_SERVER; role++)
            r->retransmissions[role][done] = r->retransmissions[role][i];
        done++;
    }
}
