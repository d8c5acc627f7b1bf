/* Writing records: the order of the fields is that of PROTOCOL.md. */
#include "record.h"

#include "json.h"

static struct json begin(FILE *out, const char *type) {
    struct json json = {out, false};
    json_open(&json, NULL);
    json_text(&json, "type", type);
    return json;
}

static void end(struct json *json) {
    json_close(json);
    fputc('\n', json->out);
    fflush(json->out);
}

void record_hello(FILE *out, const struct backend *backend, const char *architecture, int cpu) {
    struct clock_costs costs = clock_costs(backend->clock);
    struct json json = begin(out, "hello");
    json_number(&json, "protocol_version", PROTOCOL_VERSION);
    json_text(&json, "library", backend->library);
    json_text(&json, "version", backend->version());
    json_text(&json, "version_text", backend->version_text());
    json_text(&json, "architecture", architecture);
    if (cpu >= 0)
        json_number(&json, "cpu", (uint64_t)cpu);
    else
        json_null(&json, "cpu");
    json_text(&json, "tick_source", backend->clock->tick_source);
    json_number(&json, "thread_cpu_clock_cost_ns", costs.thread_cpu_clock_ns);
    json_number(&json, "tick_cost_ns", costs.tick_ns);
    end(&json);
}

void record_ready(FILE *out, const char *id, const struct negotiated *negotiated) {
    struct json json = begin(out, "ready");
    json_text(&json, "id", id);
    json_open(&json, "negotiated");
    json_text(&json, "protocol", negotiated->protocol);
    json_text(&json, "cipher", negotiated->cipher);
    json_text(&json, "group", negotiated->group);
    json_text(&json, "signature", negotiated->signature);
    json_text(&json, "peer_key", negotiated->peer_key);
    json_number(&json, "peer_key_bits", negotiated->peer_key_bits);
    json_bool(&json, "resumed", negotiated->resumed);
    json_close(&json);
    end(&json);
}

static void fault_fields(struct json *json, const char *kind, const struct fault *fault) {
    json_text(json, "kind", kind);
    json_text(json, "reason", fault->reason);
    json_text(json, "detail", fault->detail[0] == '\0' ? NULL : fault->detail);
}

void record_refused(FILE *out, const char *id, const struct fault *fault) {
    struct json json = begin(out, "refused");
    json_text(&json, "id", id);
    /* At set-up a mismatch is one more error: there is no batch that it could spoil. */
    fault_fields(&json, fault_kind_name(fault->kind == FAULT_MISMATCH ? FAULT_ERROR : fault->kind), fault);
    end(&json);
}

void record_batch(FILE *out, const char *id, const struct batch *batch) {
    struct json json = begin(out, "batch");
    json_text(&json, "id", id);
    json_number(&json, "handshakes", batch->handshakes);
    json_number(&json, "client_cpu_ns", batch->client_cpu_ns);
    json_number(&json, "server_cpu_ns", batch->server_cpu_ns);
    json_number(&json, "wall_ns", batch->wall_ns);
    json_number(&json, "first_client_ns", batch->first_client_ns);
    json_number(&json, "first_server_ns", batch->first_server_ns);
    json_number(&json, "client_bytes", batch->client_bytes);
    json_number(&json, "server_bytes", batch->server_bytes);
    json_number(&json, "involuntary_switches", batch->involuntary_switches);
    end(&json);
}

void record_failed(FILE *out, const char *id, uint64_t handshakes, const struct fault *fault) {
    struct json json = begin(out, "failed");
    json_text(&json, "id", id);
    json_number(&json, "handshakes", handshakes);
    fault_fields(&json, fault_kind_name(fault->kind), fault);
    end(&json);
}

void record_error(FILE *out, const char *reason) {
    struct json json = begin(out, "error");
    json_text(&json, "reason", reason);
    end(&json);
}

void record_bye(FILE *out) {
    struct json json = begin(out, "bye");
    end(&json);
}
