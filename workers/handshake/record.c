/* Writing records: the order of the fields is that of PROTOCOL.md. */
#include "record.h"

#include "emulation.h"
#include "json.h"

#include <sys/utsname.h>

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

void record_hello(FILE *out, const struct backend *backend, const char *cpus) {
    struct clock_costs costs = clock_costs(backend->clock);
    struct utsname host = {0};
    uname(&host);
    const char *named = backend->architecture == NULL ? NULL : backend->architecture();
    struct json json = begin(out, "hello");
    json_number(&json, "protocol_version", PROTOCOL_VERSION);
    json_text(&json, "library", backend->library);
    json_text(&json, "version", backend->version());
    json_text(&json, "version_text", backend->version_text());
    json_text(&json, "architecture", named != NULL ? named : host.machine);
    json_bool(&json, "emulated", backend->emulated == NULL ? emulated() : backend->emulated());
    json_text(&json, "cpus", cpus);
    json_text(&json, "cpu_features", backend->cpu_features == NULL ? NULL : backend->cpu_features());
    json_text(&json, "tick_source", backend->clock->tick_source);
    json_number(&json, "thread_cpu_clock_cost_ns", costs.thread_cpu_clock_ns);
    json_number(&json, "tick_cost_ns", costs.tick_ns);
    end(&json);
}

/* A negative number is a thing that nobody could tell. */
static void number_or_null(struct json *json, const char *key, long value) {
    if (value < 0)
        json_null(json, key);
    else
        json_number(json, key, (uint64_t)value);
}

static void number_if(struct json *json, const char *key, bool known, uint64_t value) {
    if (known)
        json_number(json, key, value);
    else
        json_null(json, key);
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
    json_text(&json, "client_key", negotiated->client_key);
    number_or_null(&json, "chain_length", negotiated->chain_length);
    number_or_null(&json, "ocsp_bytes", negotiated->ocsp_bytes);
    number_or_null(&json, "early_data_bytes", negotiated->early_data_bytes);
    number_or_null(&json, "hello_retry", negotiated->hello_retry);
    json_text(&json, "client_signature", negotiated->client_signature);
    number_or_null(&json, "extended_master_secret", negotiated->extended_master_secret);
    number_or_null(&json, "encrypt_then_mac", negotiated->encrypt_then_mac);
    number_or_null(&json, "key_shares", negotiated->key_shares);
    number_or_null(&json, "tickets", negotiated->tickets);
    number_or_null(&json, "verified_length", negotiated->verified_length);
    number_or_null(&json, "client_verified_length", negotiated->client_verified_length);
    number_or_null(&json, "transferred_bytes", negotiated->transferred_bytes);
    number_or_null(&json, "transfer_records", negotiated->transfer_records);
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

/* `client_NAME` and `server_NAME`. */
static void by_role(struct json *json, const char *name, bool known, const uint64_t values[ROLES]) {
    char key[64];
    for (enum role role = ROLE_CLIENT; role <= ROLE_SERVER; role++) {
        snprintf(key, sizeof key, "%s_%s", role_name(role), name);
        number_if(json, key, known, values[role]);
    }
}

void record_batch(FILE *out, const char *id, const struct batch *batch) {
    struct json json = begin(out, "batch");
    json_text(&json, "id", id);
    json_number(&json, "handshakes", batch->handshakes);
    bool client = batch->has[ROLE_CLIENT], server = batch->has[ROLE_SERVER];
    json_number(&json, "thread_cpu_ns", batch->thread_cpu_ns);
    json_number(&json, "background_cpu_ns", batch->background_cpu_ns);
    number_if(&json, "client_cpu_ns", client, batch->cpu_ns[SPAN_HANDSHAKE][ROLE_CLIENT]);
    number_if(&json, "server_cpu_ns", server, batch->cpu_ns[SPAN_HANDSHAKE][ROLE_SERVER]);
    number_if(&json, "wall_ns", client && server, batch->wall_ns);
    json_number(&json, "elapsed_ns", batch->elapsed_ns);
    number_if(&json, "first_client_ns", client, batch->first_ns[ROLE_CLIENT]);
    number_if(&json, "first_server_ns", server, batch->first_ns[ROLE_SERVER]);
    json_number(&json, "client_bytes", batch->bytes[ROLE_CLIENT]);
    json_number(&json, "server_bytes", batch->bytes[ROLE_SERVER]);
    by_role(&json, "objects_cpu_ns", batch->has_objects, batch->cpu_ns[SPAN_OBJECTS]);
    by_role(&json, "transfer_cpu_ns", batch->has_transfer, batch->cpu_ns[SPAN_TRANSFER]);
    by_role(&json, "finish_cpu_ns", batch->has_transfer, batch->cpu_ns[SPAN_FINISH]);
    json_number(&json, "involuntary_switches", batch->involuntary_switches);
    json_number(&json, "others_ns", batch->others_ns);
    number_if(&json, "alone_handshakes", batch->alone_handshakes > 0, batch->alone_handshakes);
    number_if(&json, "alone_elapsed_ns", batch->alone_handshakes > 0, batch->alone_elapsed_ns);
    number_if(&json, "alone_others_ns", batch->alone_handshakes > 0, batch->alone_others_ns);
    end(&json);
}

void record_examined(FILE *out, const char *id, const struct examined *examined) {
    static const char *const counters[COUNTERS] = {[COUNT_INSTRUCTIONS] = "instructions",
                                                   [COUNT_CYCLES] = "cycles",
                                                   [COUNT_BRANCH_MISSES] = "branch_misses",
                                                   [COUNT_CACHE_MISSES] = "cache_misses"};
    struct json json = begin(out, "examined");
    json_text(&json, "id", id);
    json_number(&json, "handshakes", examined->handshakes);
    by_role(&json, "bytes", true, examined->bytes);
    by_role(&json, "records", true, examined->records);
    json_number(&json, "round_trips", examined->round_trips);
    by_role(&json, "allocations", examined->has_heap, examined->allocations);
    number_if(&json, "heap_peak_bytes", examined->has_heap, examined->heap_peak_bytes);
    json_number(&json, "held_connections", examined->held_connections);
    by_role(&json, "held_bytes", examined->has_heap, examined->held_bytes);
    for (int i = 0; i < COUNTERS; i++)
        by_role(&json, counters[i], examined->has_counter[i], examined->counters[i]);
    json_text(&json, "counters_absent",
              examined->counters_absent[0] == '\0' ? NULL : examined->counters_absent);
    end(&json);
}

/* `NAME_p50_ns` and so on. */
static void latency_fields(struct json *json, const char *name, bool known, const struct latency *latency) {
    const struct {
        const char *suffix;
        uint64_t ns;
    } fields[] = {{"p50_ns", latency->p50_ns},
                  {"p90_ns", latency->p90_ns},
                  {"p99_ns", latency->p99_ns},
                  {"max_ns", latency->max_ns}};
    char key[64];
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        snprintf(key, sizeof key, "%s_%s", name, fields[i].suffix);
        number_if(json, key, known, fields[i].ns);
    }
}

/* Of connections: those up to `last` can happen. */
static void failure_fields(struct json *json, const uint64_t failures[OUTCOMES], enum outcome last,
                           const char *first_failure) {
    static const char *const reasons[OUTCOMES] = {
        [OUTCOME_REFUSED] = "refused", [OUTCOME_RESET] = "reset", [OUTCOME_CLOSED] = "closed",
        [OUTCOME_TIMEOUT] = "timeout", [OUTCOME_TLS] = "tls",     [OUTCOME_HTTP] = "http"};
    json_open(json, "failures");
    for (enum outcome outcome = OUTCOME_REFUSED; outcome <= last; outcome++)
        json_number(json, reasons[outcome], failures[outcome]);
    json_close(json);
    json_text(json, "first_failure", first_failure[0] == '\0' ? NULL : first_failure);
}

void record_load(FILE *out, const char *id, const struct load *load) {
    struct json json = begin(out, "load");
    json_text(&json, "id", id);
    json_number(&json, "connections", load->connections);
    json_number(&json, "resumed", load->resumed);
    failure_fields(&json, load->failures, OUTCOME_HTTP, load->first_failure);
    json_number(&json, "wall_ns", load->wall_ns);
    json_number(&json, "thread_cpu_ns", load->thread_cpu_ns);
    json_number(&json, "involuntary_switches", load->involuntary_switches);
    by_role(&json, "bytes", true, load->bytes);
    latency_fields(&json, "handshake", load->connections > 0, &load->handshake);
    latency_fields(&json, "response", load->connections > 0, &load->response);
    end(&json);
}

void record_path(FILE *out, const char *id, const struct path_result *r) {
    static const char *const times[PATH_TIMES] = {
        [PATH_CONNECT] = "connect_ns",       [PATH_HANDSHAKE] = "handshake_ns",
        [PATH_COMPUTING] = "computing_ns",   [PATH_REQUEST] = "request_ns",
        [PATH_FIRST_BYTE] = "first_byte_ns", [PATH_LAST_BYTE] = "last_byte_ns"};
    const struct emulated *e = &r->emulated;
    struct json json = begin(out, "path");
    json_text(&json, "id", id);
    json_number(&json, "connections", r->connections);
    failure_fields(&json, r->failures, OUTCOME_TLS, r->first_failure);
    json_number(&json, "wall_ns", r->wall_ns);
    json_number(&json, "thread_cpu_ns", r->thread_cpu_ns);
    json_number(&json, "emulator_cpu_ns", e->cpu_ns);
    json_number(&json, "others_ns", r->others_ns);
    json_number(&json, "begin_late_p50_ns", r->begins.p50_ns);
    json_number(&json, "begin_late_p99_ns", r->begins.p99_ns);
    json_number(&json, "begin_late_max_ns", r->begins.max_ns);
    for (enum path_time time = PATH_CONNECT; time < PATH_TIMES; time++)
        json_numbers(&json, times[time], r->times[time], r->connections);
    json_numbers(&json, "client_retransmissions", r->retransmissions[ROLE_CLIENT], r->connections);
    json_numbers(&json, "server_retransmissions", r->retransmissions[ROLE_SERVER], r->connections);
    json_numbers(&json, "flight_bytes", r->flight_bytes, r->flights);
    by_role(&json, "packets", true, e->packets);
    by_role(&json, "wire_bytes", true, e->wire_bytes);
    by_role(&json, "lost_packets", true, e->lost);
    by_role(&json, "dropped_packets", true, e->dropped);
    json_number(&json, "client_split_packets", e->split);
    number_if(&json, "delay_p50_ns", e->delays > 0, e->delay_p50_ns);
    number_if(&json, "delay_p99_ns", e->delays > 0, e->delay_p99_ns);
    number_if(&json, "delay_max_ns", e->delays > 0, e->delay_max_ns);
    json_number(&json, "late_packets", e->late);
    number_if(&json, "carried_bit_s", e->carried_bit_s > 0, e->carried_bit_s);
    json_text(&json, "congestion_control", r->congestion_control);
    end(&json);
}

static void numbers_if(struct json *json, const char *key, bool known, const uint64_t *values,
                       uint64_t count) {
    if (known)
        json_numbers(json, key, values, count);
    else
        json_null(json, key);
}

void record_age(FILE *out, const char *id, const struct aged *aged) {
    struct json json = begin(out, "age");
    json_text(&json, "id", id);
    json_numbers(&json, "connections", aged->connections, aged->points);
    json_numbers(&json, "thread_cpu_ns", aged->thread_cpu_ns, aged->points);
    json_numbers(&json, "cpu_ns", aged->cpu_ns, aged->points);
    json_numbers(&json, "others_ns", aged->others_ns, aged->points);
    numbers_if(&json, "heap_bytes", aged->has_heap, aged->heap_bytes, aged->points);
    numbers_if(&json, "heap_blocks", aged->has_heap, aged->heap_blocks, aged->points);
    numbers_if(&json, "resident_bytes", aged->has_resident, aged->resident_bytes, aged->points);
    end(&json);
}

/* Of each process; null where a process can't tell, as then none of the same program can. */
static void of_each(struct json *json, const char *key, bool known, const struct start *start,
                    uint64_t (*value)(const struct started *started, int index), int index) {
    uint64_t values[START_PROCESSES_MAX];
    for (uint64_t i = 0; known && i < start->processes; i++)
        values[i] = value(&start->each[i], index);
    numbers_if(json, key, known, values, start->processes);
}

/* What a backend does not divide is the context's, if it divides a set-up at all. */
static uint64_t sum_of(const uint64_t by_step[STEPS], int step) {
    uint64_t sum = 0;
    for (int each = 0; each < STEPS; each++)
        sum +=
            step == STEPS || each == step || (each == STEP_SETUP && step == STEP_CONTEXT) ? by_step[each] : 0;
    return sum;
}
static uint64_t cpu_of(const struct started *started, int step) {
    return sum_of(started->times.cpu_ns, step);
}
static uint64_t wall_of(const struct started *started, int step) {
    return sum_of(started->times.wall_ns, step);
}
static uint64_t bytes_of(const struct started *started, int index) {
    return index == 0 ? started->read_bytes : index == 1 ? started->resident_bytes : started->heap_bytes;
}

void record_start(FILE *out, const char *id, const struct start *start) {
    static const struct {
        const char *name;
        int step;
        bool of_setup;
    } rows[] = {{"total", STEPS, false},
                {"load", STEP_LOAD, false},
                {"library", STEP_LIBRARY, false},
                {"context", STEP_CONTEXT, true},
                {"keys", STEP_KEYS, true},
                {"trust", STEP_TRUST, true},
                {"handshake", STEP_HANDSHAKE, false}};
    const struct started *first = &start->each[0];
    struct json json = begin(out, "start");
    char key[64];
    json_text(&json, "id", id);
    json_number(&json, "processes", start->processes);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bool known = !rows[i].of_setup || first->times.begun[STEP_CONTEXT];
        snprintf(key, sizeof key, "%s_cpu_ns", rows[i].name);
        of_each(&json, key, known, start, cpu_of, rows[i].step);
        snprintf(key, sizeof key, "%s_wall_ns", rows[i].name);
        of_each(&json, key, known, start, wall_of, rows[i].step);
    }
    of_each(&json, "read_bytes", first->has_read, start, bytes_of, 0);
    of_each(&json, "resident_bytes", first->has_resident, start, bytes_of, 1);
    of_each(&json, "heap_bytes", first->has_heap, start, bytes_of, 2);
    end(&json);
}

void record_profile(FILE *out, const char *id, const struct profile *profile) {
    struct json json = begin(out, "profile");
    json_text(&json, "id", id);
    json_number(&json, "handshakes", profile->handshakes);
    stacks_write(&json, profile->stacks);
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
