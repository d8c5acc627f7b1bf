/* A backend without a library, in virtual time: seeded, so that its output is the same byte
 * for byte on every machine, and able to fail on command. It reads no material and
 * "negotiates" whatever the case asks for.
 *
 * Settings are those of PROTOCOL.md.
 * N counts all handshakes of a thread, the probe of a set-up and the first after a token
 * included: N of them succeed, the next one fails. All arithmetic is in integers (parts per
 * million), since floating point may be contracted differently by another compiler. */
#include "backend.h"
#include "crew.h"
#include "emulation.h"
#include "fake_settings.h"
#include "server_names.h"
#include "steps.h"
#include "wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int64_t MILLION = 1000000;

/* What is never given back while the context lives. */
struct leaked {
    struct leaked *next;
};

struct context {
    struct tls_case tls_case;
    struct leaked *leaked;
    uint64_t connections;            /* that it has seen */
    bool kept;                       /* a session to resume */
    struct server_name *names;       /* NULL: the server has one */
    const struct server_name *asked; /* by the newest client */
};

struct side {
    struct context *context;
    enum role role;
    struct pipe_end pipes;
    bool resumed;
    int64_t left_ns;
    unsigned turns;
    const struct server_name *name; /* asked for, or served; NULL: none */
    size_t unread;                  /* of the record that is being read */
    bool finished;
};

/* Each thread lives in a time of its own: CPU time, and wall time that waiting for other threads adds to. */
static _Thread_local uint64_t cpu_now_ns, waited_ns;
static _Thread_local uint64_t random_state;
static _Thread_local bool random_is_seeded;
static _Thread_local int64_t handshakes_opened;

/* All threads of the process together. */
static atomic_uint_fast64_t process_now_ns;

static void pass(uint64_t ns) {
    cpu_now_ns += ns;
    atomic_fetch_add(&process_now_ns, ns);
}

static uint64_t virtual_cpu_ns(void) {
    return cpu_now_ns;
}
static uint64_t virtual_process_ns(void) {
    return atomic_load(&process_now_ns);
}
static uint64_t virtual_wall_ns(void) {
    return cpu_now_ns + waited_ns;
}
static struct waiting no_waiting(void) {
    return (struct waiting){.knows_ready = true};
}
static const struct clock virtual_clock = {"virtual",          virtual_cpu_ns,  virtual_cpu_ns,
                                           virtual_process_ns, virtual_wall_ns, no_waiting};

/* What counted instructions see of a cost. */
enum { NS_PER_ROUND = 100 };
__attribute__((noinline)) static void compute(int64_t rounds) {
    for (volatile int64_t round = 0; round < rounds; round++)
        ;
}

/* A share of what a start that is timed costs without its handshake. */
static void begin(int64_t eighths) {
    int64_t step_ppm = settings.step_after == 0 ? settings.step_ppm : MILLION;
    int64_t ns = settings.start_ns * eighths / 8 * step_ppm / MILLION;
    if (!start_is_timed)
        return;
    compute(ns / NS_PER_ROUND);
    pass((uint64_t)ns);
}

static bool start(const char *text, struct fault *fault) {
    random_is_seeded = false;
    handshakes_opened = 0;
    if (!fake_settings_parse(text, fault))
        return false;
    begin(4);
    return true;
}

static const char *version(void) {
    return settings.version;
}

static const char *version_text(void) {
    static char text[64];
    snprintf(text, sizeof text, "fake %s (virtual time)", settings.version);
    return text;
}

static const char *architecture(void) {
    return settings.architecture[0] == '\0' ? NULL : settings.architecture;
}
static bool is_emulated(void) {
    return settings.emulated < 0 ? emulated() : settings.emulated != 0;
}

/* splitmix64 */
static uint64_t next_random(void) {
    if (!random_is_seeded)
        random_state = (uint64_t)settings.seed;
    random_is_seeded = true;
    uint64_t z = random_state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* A standard normal deviate times 65,536, as the sum of twelve uniform ones (Irwin-Hall). */
static int64_t next_deviate(void) {
    int64_t sum = -6 * 65536;
    for (int word = 0; word < 3; word++) {
        uint64_t random = next_random();
        for (int part = 0; part < 4; part++, random >>= 16)
            sum += (int64_t)(random & 0xFFFF);
    }
    return sum;
}

static int64_t duration_ns(int64_t base_ns) {
    int64_t noise_ppm = settings.noise_ppm * next_deviate() / 65536;
    int64_t step_ppm = handshakes_opened > settings.step_after ? settings.step_ppm : MILLION;
    int64_t ns = base_ns * (MILLION + noise_ppm) / MILLION;
    ns = ns * step_ppm / MILLION;
    return ns < 0 ? 0 : ns;
}

static struct context *setup(const struct tls_case *tls_case, const char *material, struct fault *fault) {
    (void)material;
    if (settings.unsupported) {
        fault_set(fault, FAULT_UNSUPPORTED, "the fake library was told to support nothing");
        return NULL;
    }
    struct context *context = calloc(1, sizeof *context);
    if (context == NULL)
        fault_set(fault, FAULT_ERROR, "out of memory");
    else
        context->tls_case = *tls_case;
    if (context != NULL && tls_case->server_names > 1)
        context->names = server_names_new(tls_case->server_names);
    step_begin(STEP_CONTEXT);
    begin(tls_case->server_names);
    step_begin(STEP_KEYS);
    begin(tls_case->server_names);
    step_begin(STEP_TRUST);
    begin(tls_case->verification ? 2 : 0);
    return context;
}

/* A function with a name, by which what counts allocations finds it. */
__attribute__((noinline)) static void leak(struct context *context, int64_t bytes) {
    struct leaked *leaked =
        malloc((size_t)bytes > sizeof *leaked ? (size_t)bytes : sizeof *leaked); /* room for its link */
    if (leaked == NULL)
        return;
    leaked->next = context->leaked;
    context->leaked = leaked;
}

/* What a context does more than it did when it was young, as if it walked a list that grows. One of several
 * threads doesn't age. */
static void grow_old(struct side *side) {
    struct context *context = side->context;
    if (context->tls_case.threads > 1)
        return;
    side->left_ns += settings.age_ns * (int64_t)context->connections++ / 1000;
    if (settings.leak_bytes > 0)
        leak(context, settings.leak_bytes);
}

/* As much as the handshake's objects cost ten times. */
static bool reload(struct context *context, struct fault *fault) {
    (void)context, (void)fault;
    pass((uint64_t)(10 * settings.overhead_ns));
    return true;
}

static bool ask(struct side *client, const char *name, struct fault *fault) {
    struct context *context = client->context;
    client->name = server_names_find(context->names, context->tls_case.server_names, name);
    context->asked = client->name;
    return client->name != NULL || fault_set(fault, FAULT_ERROR, "there is no name %s", name);
}

static struct side *open_side(struct context *context, enum role role, struct pipe_end pipes, bool resume,
                              struct fault *fault) {
    struct side *side = calloc(1, sizeof *side);
    if (side == NULL || (resume && !context->kept)) {
        fault_set(fault, FAULT_ERROR, side == NULL ? "out of memory" : "there is no session to resume");
        free(side);
        return NULL;
    }
    /* A handshake begins with its client; where only the server lives here, with that. */
    bool begins = role == ROLE_CLIENT || context->tls_case.roles == ROLES_SERVER;
    handshakes_opened += begins;
    if (begins) {
        pass((uint64_t)(settings.overhead_ns / 2));
        atomic_fetch_add(&process_now_ns, (uint64_t)settings.background_ns);
    }
    *side = (struct side){.context = context, .role = role, .pipes = pipes, .resumed = resume};
    side->left_ns = duration_ns(role == ROLE_CLIENT ? settings.client_ns : settings.server_ns);
    if (role == ROLE_SERVER) {
        side->name = context->asked;
        grow_old(side);
    }
    return side;
}

/* Waiting for the other threads, by the universal scalability law (Gunther, Guerrilla Capacity Planning,
 * 2007, chapter 4): N threads take 1 + contention (N - 1) + coherency N (N - 1) times as long as one. */
static void spend(struct side *side, int64_t spent_ns) {
    int64_t at_work = (int64_t)atomic_load(&crew_at_work), threads = at_work > 0 ? at_work : 1;
    int64_t waits_ppm =
        settings.contention_ppm * (threads - 1) + settings.coherency_ppm * threads * (threads - 1);
    compute(spent_ns / NS_PER_ROUND);
    pass((uint64_t)spent_ns);
    waited_ns += (uint64_t)(spent_ns * waits_ppm / MILLION);
    side->left_ns -= spent_ns;
}

static bool is_dtls(const struct side *side) {
    return case_is_dtls(&side->context->tls_case);
}

/* A datagram of so many bytes: a hello in the clear, if there is one, and the rest in a record that looks
 * encrypted. */
static void write_datagram(struct side *side, const unsigned char *hello, size_t hello_bytes, size_t bytes) {
    enum { RECORD_HEADER = 13, TLS_HEADER = 4, MORE_OF_HEADER = 8 };
    unsigned char out[FAKE_HELLO_MAX] = {0}, *at = out;
    if (hello_bytes > 0) {
        size_t record = hello_bytes + MORE_OF_HEADER, message = hello_bytes - TLS_HEADER;
        memcpy(at, (unsigned char[]){22, 0xFE, 0xFD}, 3);
        at[11] = (unsigned char)(record >> 8), at[12] = (unsigned char)record;
        at += RECORD_HEADER;
        memcpy(at, hello, TLS_HEADER);
        at[10] = (unsigned char)(message >> 8), at[11] = (unsigned char)message; /* one fragment */
        memcpy(at + TLS_HEADER + MORE_OF_HEADER, hello + TLS_HEADER, message);
        at += TLS_HEADER + MORE_OF_HEADER + message;
    }
    size_t rest = bytes - (size_t)(at - out) - RECORD_HEADER;
    memcpy(at, (unsigned char[]){23, 0xFE, 0xFD, 0, 1}, 5); /* of the second epoch */
    at[11] = (unsigned char)(rest >> 8), at[12] = (unsigned char)rest;
    pipe_write_datagram(side->pipes.out, out, (uint16_t)bytes);
}

/* One TLS record of so many bytes, header included. */
static void write_record(struct side *side, unsigned char type, const unsigned char *body, size_t body_bytes,
                         size_t bytes) {
    if (is_dtls(side)) {
        write_datagram(side, body, body_bytes, bytes);
        return;
    }
    static const unsigned char blank[FAKE_HELLO_MAX];
    unsigned char header[5] = {type, 3, 3, (unsigned char)((bytes - 5) >> 8), (unsigned char)(bytes - 5)};
    pipe_write(side->pipes.out, header, sizeof header);
    pipe_write(side->pipes.out, body, body_bytes);
    pipe_write(side->pipes.out, blank, bytes - sizeof header - body_bytes);
}

static bool lies(int64_t about) {
    return settings.lie == about && handshakes_opened > settings.lie_after;
}

/* As much of a ClientHello as is read off the wire: a session id of one byte, key shares and a ticket. */
/* Another name of the table. */
static const struct server_name *another(const struct side *side) {
    const struct context *c = side->context;
    return &c->names[(side->name - c->names + 1) % c->tls_case.server_names];
}

static unsigned char *write_name(const struct side *side, unsigned char *at) {
    const char *name = lies(LIE_ASKED_NAME) ? another(side)->name : side->name->name;
    unsigned char length = (unsigned char)strlen(name);
    memcpy(
        at,
        (unsigned char[]){0, 0, 0, (unsigned char)(length + 5), 0, (unsigned char)(length + 3), 0, 0, length},
        9);
    memcpy(at + 9, name, length);
    return at + 9 + length;
}

static void write_client_hello(struct side *side, size_t bytes) {
    const struct tls_case *c = &side->context->tls_case;
    bool ticket = (side->resumed && c->resumption == RESUME_TICKET) != lies(LIE_RESUMPTION);
    bool alone = c->method == METHOD_PSK || (side->resumed && c->resumption == RESUME_PSK);
    int shares = case_has_tls_1_2(c) || alone ? 0 : 1;
    shares += lies(LIE_KEY_SHARE);
    unsigned char hello[128] = {1, 0, 0, 0, 3, 3}, *at = hello + 6 + 32;
    *at++ = 1, *at++ = 7;                                  /* session id */
    at += is_dtls(side);                                   /* no cookie */
    memcpy(at, (unsigned char[]){0, 2, 0x13, 1, 1, 0}, 6); /* cipher suite, compression */
    unsigned char *extensions = at + 6;
    at = extensions + 2;
    *at++ = 0, *at++ = 35, *at++ = 0, *at++ = ticket;
    at += ticket;
    *at++ = 0, *at++ = 51, *at++ = 0, *at++ = (unsigned char)(2 + 5 * shares);
    *at++ = 0, *at++ = (unsigned char)(5 * shares);
    for (int i = 0; i < shares; i++, at += 5)
        at[3] = 1; /* a group and a key of one byte */
    if (side->name != NULL)
        at = write_name(side, at);
    if (case_has_psk(c) && case_has_tls_1_3(c)) {
        static const char identity[] = PSK_IDENTITY;
        size_t named = sizeof identity - 1;
        memcpy(at,
               (unsigned char[]){0, 41, 0, (unsigned char)(named + 8), 0, (unsigned char)(named + 6), 0,
                                 (unsigned char)named},
               8);
        memcpy(at + 8, identity, named);
        at += 8 + named + 4; /* an age */
    }
    extensions[1] = (unsigned char)(at - extensions - 2);
    hello[3] = (unsigned char)(at - hello - 4);
    write_record(side, 22, hello, (size_t)(at - hello), bytes);
}

/* As much of a ServerHello as is read off the wire. */
static void write_server_hello(struct side *side, size_t bytes) {
    const struct tls_case *c = &side->context->tls_case;
    unsigned char hello[4 + 2 + 32 + 2 + 3 + 2 + 12] = {2, 0, 0, sizeof hello - 4, 3, 3};
    memcpy(hello + 38, (unsigned char[]){1, 7}, 2); /* the client's session id */
    if (c->hello_retry != lies(LIE_HELLO_RETRY))
        memcpy(hello + 6, WIRE_HELLO_RETRY_RANDOM, sizeof WIRE_HELLO_RETRY_RANDOM);
    unsigned char *extensions = hello + sizeof hello - 12;
    bool alone = c->method == METHOD_PSK || (side->resumed && c->resumption != RESUME_PSK_DHE);
    extensions[1] = side->resumed || case_has_psk(c) ? 41 : 0;                /* pre_shared_key */
    extensions[5] = alone ? 0 : 51;                                           /* key_share */
    extensions[9] = is_cbc(c->cipher) != lies(LIE_ENCRYPT_THEN_MAC) ? 22 : 0; /* encrypt_then_mac */
    extensions[-1] = 12;
    write_record(side, 22, hello, sizeof hello, bytes);
}

/* Asks for a cookie: by a HelloVerifyRequest, or a HelloRetryRequest. */
static void write_cookie_request(struct side *side) {
    unsigned char verify[4 + 3] = {3, 0, 0, 3, 0xFE, 0xFF}, retry[4 + 2 + 32 + 2 + 3 + 2 + 4] = {2};
    if (side->context->tls_case.protocol == DTLS_1_2) {
        write_record(side, 22, verify, sizeof verify, 100);
        return;
    }
    retry[3] = sizeof retry - 4;
    memcpy(retry + 6, WIRE_HELLO_RETRY_RANDOM, sizeof WIRE_HELLO_RETRY_RANDOM);
    memcpy(retry + 38, (unsigned char[]){1, 7}, 2);
    retry[sizeof retry - 5] = 4;
    retry[sizeof retry - 3] = 44;
    write_record(side, 22, retry, sizeof retry, 100);
}

/* Takes a record, once all of it came: a socket may bring it in parts. */
static bool read_record(struct side *side) {
    unsigned char taken[1024];
    struct pipe *in = side->pipes.in;
    if (is_dtls(side))
        return pipe_read_datagram(in, taken, sizeof taken) > 0;
    if (side->unread == 0 && pipe_pending(in) >= 5) {
        pipe_read(in, taken, 5);
        side->unread = (size_t)(taken[3] << 8 | taken[4]);
    }
    if (side->unread == 0 || pipe_pending(in) < side->unread)
        return false;
    while (side->unread > 0)
        side->unread -= pipe_read(in, taken, side->unread < sizeof taken ? side->unread : sizeof taken);
    return true;
}

/* The turns of a full TLS 1.2 handshake: three of the client's and two of the server's. A cookie takes each
 * one more. */
static enum progress step(struct side *side, struct fault *fault) {
    if (side->role == ROLE_SERVER) {
        if (handshakes_opened > settings.crash_after)
            abort();
        while (handshakes_opened > settings.hang_after)
            pause(); /* until the runner loses patience */
        if (handshakes_opened > settings.fail_after) {
            fault_set(fault, FAULT_ERROR, "the server's turn failed");
            snprintf(fault->detail, sizeof fault->detail, "fake: told to fail after %lld handshakes",
                     (long long)settings.fail_after);
            return PROGRESS_FAILED;
        }
    }
    if ((side->role == ROLE_SERVER || side->turns > 0) && !read_record(side))
        return PROGRESS_WAIT;
    unsigned cookies = is_dtls(side), last = (side->role == ROLE_CLIENT ? 3 : 2) + cookies;
    bool done = ++side->turns == last;
    spend(side, done ? side->left_ns : side->left_ns / (int64_t)last);
    if (side->role == ROLE_SERVER && side->turns <= cookies)
        write_cookie_request(side);
    else if (side->role == ROLE_SERVER && !done)
        write_server_hello(side, (size_t)settings.server_hello_bytes);
    else if (side->role == ROLE_CLIENT && side->turns <= 1 + cookies)
        write_client_hello(side, (size_t)settings.client_hello_bytes);
    else if (side->role == ROLE_SERVER || !done)
        write_record(side, 23, NULL, 0, side->role == ROLE_CLIENT ? 200 : 800);
    return done ? PROGRESS_DONE : PROGRESS_WAIT;
}

static bool inspect(struct side *side, struct negotiated *out, struct fault *fault) {
    (void)fault;
    *out = case_wanted(&side->context->tls_case, side->resumed);
    if (out->protocol == NULL) { /* default settings: some have to be taken */
        out->protocol = protocol_name(TLS_1_3);
        out->cipher = cipher_name(AES_128_GCM);
        out->group = group_name(GROUP_X25519);
        out->signature = "ed25519";
    }
    if (out->extended_master_secret >= 0)
        out->extended_master_secret = !lies(LIE_MASTER_SECRET);
    if (side->context->tls_case.tickets == TICKETS_DEFAULT)
        out->tickets = lies(LIE_TICKET) ? 0 : 2;
    if (side->role == ROLE_SERVER && side->name != NULL)
        out->server_name = lies(LIE_SERVED_NAME) ? another(side)->name : side->name->name;
    if (lies(LIE_VERIFICATION))
        out->verified_length = 0;
    if (lies(LIE_CLIENT_SIGNATURE))
        out->client_signature = "another-signature";
    if (handshakes_opened > settings.mismatch_after)
        out->group = "another-group";
    return true;
}

/* --- After the handshake: a nanosecond for every four bytes, and for closing. --- */

static long send_data(struct side *side, const void *data, size_t length, struct fault *fault) {
    const unsigned char *bytes = data;
    size_t most = lies(LIE_RECORDS) ? RECORD_MAX / 4 * 3 : RECORD_MAX, sent = length < most ? length : most;
    unsigned char header[5] = {23, 3, 3, (unsigned char)((sent + 16) >> 8), (unsigned char)(sent + 16)};
    unsigned char tag[16] = {0};
    (void)fault;
    pipe_write(side->pipes.out, header, sizeof header);
    pipe_write(side->pipes.out, lies(LIE_CONTENT) ? bytes + 1 : bytes, sent);
    pipe_write(side->pipes.out, tag, sizeof tag);
    pass(1 + sent / 4);
    return (long)sent;
}

static long receive_data(struct side *side, void *data, size_t size, struct fault *fault) {
    unsigned char header[5], tag[16];
    struct pipe *in = side->pipes.in;
    if (side->unread == 0) { /* a socket may bring a record in parts: its header and its tag are read whole */
        if (pipe_pending(in) < sizeof header)
            return 0;
        pipe_read(in, header, sizeof header);
        side->unread = (size_t)(header[3] << 8 | header[4]);
    }
    if (side->unread < sizeof tag) {
        fault_set(fault, FAULT_ERROR, "a record that the fake did not write");
        return -1;
    }
    size_t left = side->unread - sizeof tag;
    size_t given = pipe_read(in, data, size < left ? size : left);
    side->unread -= given;
    if (side->unread == sizeof tag && pipe_pending(in) >= sizeof tag)
        side->unread -= pipe_read(in, tag, sizeof tag);
    pass(1 + given / 4);
    return (long)given;
}

static enum progress finish(struct side *side, struct fault *fault) {
    (void)fault;
    bool finished = side->finished;
    side->finished = true;
    pass(finished ? 0 : 1000);
    return side->role == ROLE_SERVER && !finished ? PROGRESS_WAIT : PROGRESS_DONE;
}

static bool keep(struct side *client, struct fault *fault) {
    (void)fault;
    client->context->kept = true;
    return true;
}

static void close_side(struct side *side) {
    if (side->role == ROLE_SERVER || side->context->tls_case.roles == ROLES_CLIENT)
        pass((uint64_t)(settings.overhead_ns - settings.overhead_ns / 2));
    free(side);
}

static void teardown(struct context *context) {
    while (context->leaked != NULL) {
        struct leaked *next = context->leaked->next;
        free(context->leaked);
        context->leaked = next;
    }
    free(context->names);
    free(context);
}

static const struct traits traits = {.library_contexts = true, .session_cache = true};

const struct backend linked_backend = {
    .library = "fake",
    .traits = &traits,
    .clock = &virtual_clock,
    .takes_settings = true,
    .start = start,
    .version = version,
    .version_text = version_text,
    .architecture = architecture,
    .emulated = is_emulated,
    .setup = setup,
    .teardown = teardown,
    .reload = reload,
    .ask = ask,
    .open = open_side,
    .step = step,
    .send = send_data,
    .receive = receive_data,
    .finish = finish,
    .inspect = inspect,
    .keep = keep,
    .close = close_side,
};
