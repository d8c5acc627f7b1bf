/* libFuzzer target: any bytes either parse or give a reason, and what parses is whole. */
#include "request.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds) {
    if (!holds)
        abort();
}

static void demand_file(const char name[VALUE_MAX + 1]) {
    demand(memchr(name, '\0', VALUE_MAX + 1) != NULL);
    demand(name[0] != '\0' && name[0] != '.' && strchr(name, '/') == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct request request;
    struct fault fault = {0};
    char reason[REASON_MAX];
    reason[0] = '\0';
    if (!request_parse((const char *)data, size, &request, reason)) {
        demand(reason[0] != '\0' && memchr(reason, '\0', sizeof reason) != NULL);
        return 0;
    }
    if (request.verb == VERB_SETUP) {
        demand_file(request.tls_case.key);
        demand_file(request.tls_case.certificate);
        demand_file(request.tls_case.dh_parameters);
        demand_file(request.tls_case.ocsp_response);
        if (case_check(&request.tls_case, &fault)) {
            bool resumes = request.tls_case.resumption != RESUME_NONE;
            struct negotiated wanted = case_wanted(&request.tls_case, resumes);
            demand(wanted.resumed == resumes && request.tls_case.threads >= 1);
            demand(negotiated_matches(&wanted, &wanted, "client", &fault));
        } else {
            demand(fault.reason[0] != '\0');
        }
    } else if (request.verb == VERB_RUN) {
        demand(request.limits.max_handshakes >= 1 &&
               request.limits.min_handshakes <= request.limits.max_handshakes);
    }
    return 0;
}
