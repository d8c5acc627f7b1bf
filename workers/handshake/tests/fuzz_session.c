/* A whole conversation of any bytes with the fake: every line is answered by one record, each a JSON object,
 * up to `stop`. */
#include "session.h"

#include "lines.h"

#include "json_check.h"

enum { HANDSHAKES_MOST = 20 };

/* The answers that the lines ask for; -1: some of them would take long, or several threads, or connect to
 * whatever listens on this machine. */
static int answers(const uint8_t *data, size_t size) {
    int count = 0;
    const uint8_t *newline;
    for (; size > 0 && (newline = memchr(data, '\n', size)) != NULL; count++) {
        struct request request;
        char reason[REASON_MAX];
        size_t length = (size_t)(newline - data);
        bool good = request_parse((const char *)data, length, &request, reason);
        if (good && request.verb == VERB_STOP)
            return count + 1;
        if (good && (request.verb == VERB_LOAD || request.tls_case.threads > 1 ||
                     request.limits.max_handshakes > HANDSHAKES_MOST ||
                     request.handshakes > HANDSHAKES_MOST || request.age_plan.connections > HANDSHAKES_MOST))
            return -1;
        data = newline + 1;
        size -= length + 1;
    }
    return count;
}

static int records(const char *at) {
    int count = 0;
    for (; *at != '\0'; count++) {
        demand(strncmp(at, "{\"type\":\"", 9) == 0);
        at = json_value(at);
        demand(at != NULL && *at++ == '\n');
    }
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fault fault;
    char *said = NULL;
    size_t bytes = 0;
    int wanted = answers(data, size);
    if (wanted < 0)
        return 0;
    int in = file_of(data, size);
    FILE *out = open_memstream(&said, &bytes);
    demand(out != NULL && linked_backend.start(NULL, &fault));
    session(&linked_backend, ".", -1, in, out);
    demand(fclose(out) == 0 && strlen(said) == bytes && records(said) == wanted);
    free(said);
    close(in);
    return 0;
}
