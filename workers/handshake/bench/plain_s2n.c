/* s2n-tls handshakes in the manner of its own benchmarks (bindings/rust/standard/benchmarks of its
 * repository), for comparison with the worker, with which this shares no code: a public security policy by
 * its name, connections made before each handshake, and buffers in memory between both sides of one thread.
 *
 *   plain_s2n POLICY CERTIFICATE KEY [TRUST_ANCHORS HOST]
 *
 * With trust anchors the client verifies, as theirs does. For each line on standard input, a number of
 * nanoseconds, it makes handshakes for at least as long and prints how many, the CPU time of this thread,
 * making and freeing the connections included, and the part of it in the calls of s2n_negotiate. */
#include <api/s2n.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BUFFER_BYTES = 1 << 16 };
struct buffer {
    size_t start, end;
    unsigned char bytes[BUFFER_BYTES];
};
struct view {
    struct buffer *in, *out;
};
static const char *host;

static void die(const char *what) {
    fprintf(stderr, "plain_s2n: %s: %s\n", what, s2n_strerror_debug(s2n_errno, "EN"));
    exit(1);
}

static void must(int result, const char *what) {
    if (result != S2N_SUCCESS)
        die(what);
}

static long long now_ns(clockid_t id) {
    struct timespec now;
    clock_gettime(id, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static int write_bytes(void *context, const uint8_t *data, uint32_t length) {
    struct buffer *out = ((struct view *)context)->out;
    if (length > BUFFER_BYTES - out->end)
        die("buffer");
    memcpy(out->bytes + out->end, data, length);
    out->end += length;
    return (int)length;
}

static int read_bytes(void *context, uint8_t *data, uint32_t size) {
    struct buffer *in = ((struct view *)context)->in;
    size_t length = in->end - in->start < size ? in->end - in->start : size;
    if (length == 0) {
        errno = EWOULDBLOCK;
        return -1;
    }
    memcpy(data, in->bytes + in->start, length);
    in->start += length;
    return (int)length;
}

static uint8_t is_host(const char *name, size_t length, void *data) {
    (void)data;
    return length == strlen(host) && memcmp(name, host, length) == 0;
}

static char *read_file(const char *path) {
    static char text[1 << 16];
    FILE *file = fopen(path, "r");
    size_t length = file == NULL ? 0 : fread(text, 1, sizeof text - 1, file);
    if (length == 0)
        die(path);
    fclose(file);
    text[length] = '\0';
    return strdup(text);
}

static struct s2n_config *make_config(const char *policy) {
    struct s2n_config *config = s2n_config_new_minimal();
    if (config == NULL)
        die("configuration");
    must(s2n_config_set_cipher_preferences(config, policy), policy);
    must(s2n_config_set_client_auth_type(config, S2N_CERT_AUTH_NONE), "authentication");
    return config;
}

static struct s2n_connection *make(s2n_mode mode, struct s2n_config *config, struct view *view) {
    struct s2n_connection *connection = s2n_connection_new(mode);
    if (connection == NULL)
        die("connection");
    must(s2n_connection_set_blinding(connection, S2N_SELF_SERVICE_BLINDING), "blinding");
    must(s2n_connection_set_config(connection, config), "configuration");
    must(s2n_connection_set_send_cb(connection, write_bytes), "callback");
    must(s2n_connection_set_recv_cb(connection, read_bytes), "callback");
    must(s2n_connection_set_send_ctx(connection, view), "callback");
    must(s2n_connection_set_recv_ctx(connection, view), "callback");
    return connection;
}

/* The nanoseconds of wall time in turns; `tell` prints what was negotiated. */
static long long handshake(struct s2n_config *client_config, struct s2n_config *server_config, int tell) {
    static struct buffer to_server, to_client;
    struct view views[2] = {{&to_client, &to_server}, {&to_server, &to_client}};
    to_server.start = to_server.end = to_client.start = to_client.end = 0;
    struct s2n_connection *sides[2] = {make(S2N_CLIENT, client_config, &views[0]),
                                       make(S2N_SERVER, server_config, &views[1])};
    s2n_blocked_status blocked;
    int done[2] = {0, 0};
    long long start = now_ns(CLOCK_MONOTONIC);
    for (int turn = 0; turn < 32 && !(done[0] && done[1]); turn++) {
        int side = turn % 2;
        if (!done[side] && !(done[side] = s2n_negotiate(sides[side], &blocked) == S2N_SUCCESS) &&
            s2n_error_get_type(s2n_errno) != S2N_ERR_T_BLOCKED)
            die("handshake");
    }
    long long turns_ns = now_ns(CLOCK_MONOTONIC) - start;
    if (!done[0] || !done[1])
        die("handshake");
    if (tell)
        fprintf(stderr, "%d %s %s\n", s2n_connection_get_actual_protocol_version(sides[0]),
                s2n_connection_get_cipher(sides[0]), s2n_connection_get_curve(sides[0]));
    must(s2n_connection_free(sides[0]), "free");
    must(s2n_connection_free(sides[1]), "free");
    return turns_ns;
}

int main(int argc, char **argv) {
    char line[64];
    if (argc != 4 && argc != 6)
        die("usage: plain_s2n POLICY CERTIFICATE KEY [TRUST_ANCHORS HOST]");
    setenv("S2N_DONT_MLOCK", "1", 1); /* the Rust interface allocates by itself */
    must(s2n_init(), "start");
    struct s2n_config *client = make_config(argv[1]), *server = make_config(argv[1]);
    struct s2n_cert_chain_and_key *pair = s2n_cert_chain_and_key_new();
    must(s2n_cert_chain_and_key_load_pem(pair, read_file(argv[2]), read_file(argv[3])), "certificate");
    must(s2n_config_add_cert_chain_and_key_to_store(server, pair), "certificate");
    if (argc == 6) {
        host = argv[5];
        must(s2n_config_add_pem_to_trust_store(client, read_file(argv[4])), "trust anchors");
        must(s2n_config_set_verify_host_callback(client, is_host, NULL), "host");
    } else {
        must(s2n_config_disable_x509_verification(client), "verification");
    }
    handshake(client, server, 1);
    while (fgets(line, sizeof line, stdin) != NULL) {
        handshake(client, server, 0);
        long long start = now_ns(CLOCK_MONOTONIC), until = start + atoll(line), handshakes = 0, turns_ns = 0;
        long long cpu_start = now_ns(CLOCK_THREAD_CPUTIME_ID);
        do {
            turns_ns += handshake(client, server, 0);
            handshakes++;
        } while (now_ns(CLOCK_MONOTONIC) < until);
        long long cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_start,
                  wall_ns = now_ns(CLOCK_MONOTONIC) - start;
        printf("%lld %lld %lld\n", handshakes, cpu_ns,
               (long long)((double)cpu_ns * (double)turns_ns / (double)wall_ns));
        fflush(stdout);
    }
    return 0;
}
