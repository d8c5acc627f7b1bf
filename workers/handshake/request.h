/* Requests: one line of PROTOCOL.md parsed into a value that needs no further checks. */
#ifndef KEXBENCH_REQUEST_H
#define KEXBENCH_REQUEST_H

#include "age.h"
#include "case.h"
#include "load_plan.h"
#include "measure.h"
#include "path_plan.h"
#include "profile.h"

enum { LINE_MAX_BYTES = 4095 }; /* without the newline */

enum verb {
    VERB_SETUP,
    VERB_RUN,
    VERB_EXAMINE,
    VERB_LOAD,
    VERB_PATH,
    VERB_START,
    VERB_AGE,
    VERB_PROFILE,
    VERB_STOP
};

struct request {
    enum verb verb;
    struct tls_case tls_case;   /* setup; all others use its id alone */
    struct limits limits;       /* run */
    uint64_t handshakes;        /* examine, profile */
    enum profiled of;           /* profile */
    struct load_plan load_plan; /* load */
    struct path_plan path_plan; /* path */
    uint64_t processes;         /* start */
    struct age_plan age_plan;   /* age */
};

/* `line` may hold any bytes. False: `reason` says which word is wrong and why. */
bool request_parse(const char *line, size_t length, struct request *out, char reason[REASON_MAX]);

#endif
