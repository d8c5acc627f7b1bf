/* The backend of Bloom filter encryption: its protocol and nothing else, a first flight that is taken once,
 * and a key that each set-up finds whole. */
#include "bfe_backend.h"
#include "examine.h"
#include "measure.h"

#include "check.h"
#include "matrix.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EARLY = 1024 };
static char folder[] = "/tmp/kexbench-bfe-XXXXXX";
static struct fault fault;

static void path_of(char *out, size_t size, const char *name) {
    snprintf(out, size, "%s/%s", folder, name);
}

static void write_file(const char *name, const void *bytes, size_t length) {
    char path[512];
    path_of(path, sizeof path, name);
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL && fwrite(bytes, 1, length, file) == length && fclose(file) == 0);
}

static void write_seed(const char *name, uint32_t connections, unsigned char seed) {
    unsigned char bytes[48] = {'B', 'F', 'E', 's', 'e', 'e', 'd', 1};
    bytes[11] = (unsigned char)connections;
    bytes[15] = 10; /* bits of the rate */
    memset(bytes + 16, seed, 32);
    write_file(name, bytes, sizeof bytes);
}

static struct tls_case bfe_case(const char *key, unsigned early_data_bytes) {
    char line[2048];
    snprintf(line, sizeof line,
             "setup id=a protocol=BFE-0RTT-1 key_exchange=BFE cipher=AES-128-GCM group=BLS12-381 rsa_bits=0 "
             "curve=- key=%s certificate=- early_data_bytes=%u",
             key, early_data_bytes);
    fill_up(line, sizeof line);
    return read_case(line);
}

static bool set_up(struct prepared *p, const struct tls_case *c, struct negotiated *seen) {
    memset(&fault, 0, sizeof fault);
    return prepare(p, &linked_backend, c, folder, -1, seen, &fault);
}

static void tls_is_unsupported(void) {
    for (size_t i = 0; i < ROWS; i++) {
        struct tls_case c = case_of(&rows[i]);
        struct negotiated seen = {0};
        struct prepared p;
        CHECK(!set_up(&p, &c, &seen) && fault.kind == FAULT_UNSUPPORTED);
    }
}

static void negotiates(void) {
    static const unsigned sizes[] = {0, 1, EARLY, EARLY_DATA_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct tls_case c = bfe_case("100", sizes[i]);
        struct negotiated seen = {0};
        struct limits limits = {2, 0, 2, true};
        struct batch batch;
        struct examined examined;
        struct prepared p;
        if (!CHECK(set_up(&p, &c, &seen))) {
            printf("      %s (%s)\n", fault.reason, fault.detail);
            continue;
        }
        CHECK_TEXT(seen.protocol, "BFE-0RTT-1");
        CHECK_TEXT(seen.group, "BLS12-381");
        CHECK_TEXT(seen.peer_key, "BFE");
        CHECK_NUMBER(seen.early_data_bytes, sizes[i]);
        CHECK(!seen.resumed);
        CHECK(measure(&p, &limits, &batch, &fault));
        CHECK_NUMBER(batch.handshakes, 2);
        CHECK(batch.bytes[ROLE_CLIENT] >= 2 * (418 + 32 + sizes[i]));
        CHECK_NUMBER(batch.bytes[ROLE_SERVER], 2 * ANSWER_BYTES);
        for (enum role role = ROLE_CLIENT; role <= ROLE_SERVER; role++)
            CHECK(batch.cpu_ns[SPAN_HANDSHAKE][role] > 0 && batch.first_ns[role] > 0);
        CHECK(examine(&p, 2, &examined, &fault));
        CHECK_NUMBER(examined.round_trips, sizes[i] > 0 ? 0 : 2);
        CHECK_NUMBER(examined.records[ROLE_CLIENT], 2 * 2);
        release(&p);
    }
}

static void wrong_numbers_are_refuted(void) {
    struct tls_case c = bfe_case("100", EARLY);
    struct negotiated seen = {0};
    struct limits limits = {1, 0, 1, true};
    struct batch batch;
    struct prepared p;
    if (!CHECK(set_up(&p, &c, &seen)))
        return;
    p.wanted.early_data_bytes = EARLY + 1;
    CHECK(!measure(&p, &limits, &batch, &fault) && fault.kind == FAULT_MISMATCH);
    CHECK_TEXT(fault.reason, "early_data_bytes: wanted 1025, the client got 1024");
    release(&p);
}

/* --- First flights by hand. --- */

struct flight_bytes {
    size_t length;
    unsigned char bytes[FLIGHT_BYTES_MAX];
};

/* Takes them out of the pipe. */
static struct flight_bytes sent_by(struct pair *pair, enum role role) {
    struct flight_bytes out = {0};
    out.length = pipe_read(&pair->sent[role], out.bytes, sizeof out.bytes);
    return out;
}

static enum progress step(struct pair *pair, enum role role) {
    return linked_backend.step(pair->sides[role], &fault);
}

/* What a new server makes of a flight. */
static enum progress serve(struct pair *pair, const struct flight_bytes *flight, long *early_data_bytes) {
    struct spans unused = {0};
    struct negotiated seen = {0};
    CHECK(pair_open(pair, false, false, &unused, &fault));
    pipe_write(&pair->sent[ROLE_CLIENT], flight->bytes, flight->length);
    enum progress progress = step(pair, ROLE_SERVER);
    CHECK(linked_backend.inspect(pair->sides[ROLE_SERVER], &seen, &fault));
    *early_data_bytes = seen.early_data_bytes;
    return progress;
}

static struct flight_bytes new_flight(struct pair *pair) {
    struct spans unused = {0};
    CHECK(pair_open(pair, false, false, &unused, &fault));
    CHECK(step(pair, ROLE_CLIENT) == PROGRESS_WAIT);
    struct flight_bytes flight = sent_by(pair, ROLE_CLIENT);
    pair_close(pair, false, &unused);
    return flight;
}

static void replays(void) {
    struct tls_case c = bfe_case("100", EARLY);
    struct negotiated seen = {0};
    struct spans unused = {0};
    struct prepared p;
    long delivered;
    if (!CHECK(set_up(&p, &c, &seen)))
        return;
    struct pair *pair = p.pairs[0];
    struct flight_bytes flight = new_flight(pair);
    CHECK(serve(pair, &flight, &delivered) == PROGRESS_DONE);
    CHECK_NUMBER(delivered, EARLY);
    pair_close(pair, false, &unused);
    for (int again = 0; again < 2; again++) {
        CHECK(serve(pair, &flight, &delivered) == PROGRESS_WAIT);
        CHECK_NUMBER(delivered, 0);
        struct flight_bytes refusal = sent_by(pair, ROLE_SERVER);
        CHECK_NUMBER(refusal.length, REFUSAL_BYTES);
        CHECK_NUMBER(refusal.bytes[0], RECORD_REFUSAL);
        pair_close(pair, false, &unused);
    }
    release(&p);
}

/* As after a false positive: the server refuses a flight, and the same client's next one is taken. */
static void tries_again(void) {
    struct tls_case c = bfe_case("100", EARLY);
    struct negotiated seen = {0};
    struct spans unused = {0};
    struct prepared p;
    long delivered;
    if (!CHECK(set_up(&p, &c, &seen)))
        return;
    struct pair *pair = p.pairs[0], *other = pair_new(&linked_backend, p.context, &p.tls_case, false);
    CHECK(pair_open(pair, false, false, &unused, &fault));
    CHECK(step(pair, ROLE_CLIENT) == PROGRESS_WAIT);
    struct flight_bytes flight = sent_by(pair, ROLE_CLIENT);
    CHECK(serve(other, &flight, &delivered) == PROGRESS_DONE);
    pipe_write(&pair->sent[ROLE_CLIENT], flight.bytes, flight.length);
    CHECK(step(pair, ROLE_SERVER) == PROGRESS_WAIT);
    CHECK(step(pair, ROLE_CLIENT) == PROGRESS_WAIT);
    CHECK(step(pair, ROLE_SERVER) == PROGRESS_DONE);
    CHECK(step(pair, ROLE_CLIENT) == PROGRESS_DONE);
    CHECK(pair_prove(pair, &p.wanted, &seen, &fault));
    pair_close(pair, false, &unused);
    pair_close(other, false, &unused);
    pair_free(other);
    release(&p);
}

static void changed_flights(void) {
    struct tls_case c = bfe_case("100", EARLY);
    struct negotiated seen = {0};
    struct spans unused = {0};
    struct prepared p;
    long delivered;
    if (!CHECK(set_up(&p, &c, &seen)))
        return;
    struct pair *pair = p.pairs[0];
    struct flight_bytes flight = new_flight(pair);
    /* Type, length, ciphertext; each leaves the key as it is. */
    static const size_t offsets[] = {0, 1, 4, 37, 38, 50, 300};
    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
        struct flight_bytes changed = flight;
        changed.bytes[offsets[i]] ^= 1;
        CHECK(serve(pair, &changed, &delivered) == PROGRESS_FAILED);
        CHECK_NUMBER(delivered, 0);
        pair_close(pair, false, &unused);
    }
    struct flight_bytes part = flight;
    part.length--;
    CHECK(serve(pair, &part, &delivered) == PROGRESS_WAIT);
    pair_close(pair, false, &unused);
    CHECK(serve(pair, &flight, &delivered) == PROGRESS_DONE);
    pair_close(pair, false, &unused);
    /* The client's share and the early data are protected by the ciphertext, which is used up by then. */
    static const size_t protected_offsets[] = {5, FLIGHT_BYTES_MAX};
    for (size_t i = 0; i < 2; i++) {
        struct flight_bytes changed = new_flight(pair);
        size_t at = protected_offsets[i] < changed.length ? protected_offsets[i] : changed.length - 1;
        changed.bytes[at] ^= 1;
        CHECK(serve(pair, &changed, &delivered) == PROGRESS_FAILED);
        CHECK_TEXT(fault.reason, "the early data was changed");
        CHECK_NUMBER(delivered, 0);
        pair_close(pair, false, &unused);
    }
    release(&p);
}

static void changed_answers(void) {
    struct tls_case c = bfe_case("100", EARLY);
    struct negotiated seen = {0};
    struct spans unused = {0};
    struct prepared p;
    if (!CHECK(set_up(&p, &c, &seen)))
        return;
    struct pair *pair = p.pairs[0];
    for (size_t at = 0; at < ANSWER_BYTES; at += 9) {
        CHECK(pair_open(pair, false, false, &unused, &fault));
        CHECK(step(pair, ROLE_CLIENT) == PROGRESS_WAIT);
        CHECK(step(pair, ROLE_SERVER) != PROGRESS_FAILED);
        struct flight_bytes answer = sent_by(pair, ROLE_SERVER);
        answer.bytes[at] ^= 1;
        pipe_write(&pair->sent[ROLE_SERVER], answer.bytes, answer.length);
        CHECK(step(pair, ROLE_CLIENT) == PROGRESS_FAILED);
        pair_close(pair, false, &unused);
    }
    release(&p);
}

static void dropped_pairs(void) {
    struct tls_case c = bfe_case("100", EARLY);
    struct negotiated seen = {0};
    struct spans unused = {0};
    struct prepared p;
    if (!CHECK(set_up(&p, &c, &seen)))
        return;
    for (int turns = 0; turns < 3; turns++) {
        CHECK(pair_open(p.pairs[0], false, false, &unused, &fault));
        for (int turn = 0; turn < turns; turn++)
            CHECK(step(p.pairs[0], turn % 2) != PROGRESS_FAILED);
        pair_close(p.pairs[0], false, &unused);
    }
    CHECK(pair_connection(p.pairs[0], &p.wanted, false, &unused, &seen, &fault));
    release(&p);
}

/* --- The key. --- */

/* A key for five: the one of the set-up's probe is the first. */
static void a_used_key_is_renewed(void) {
    struct tls_case c = bfe_case("5", EARLY);
    struct negotiated seen = {0};
    struct spans unused = {0};
    struct prepared p;
    long delivered;
    if (!CHECK(set_up(&p, &c, &seen)))
        return;
    struct flight_bytes flight = new_flight(p.pairs[0]);
    for (int served = 1; served < 5; served++) {
        CHECK(serve(p.pairs[0], &flight, &delivered) == (served == 1 ? PROGRESS_DONE : PROGRESS_WAIT));
        pair_close(p.pairs[0], false, &unused);
        if (served > 1)
            CHECK(pair_connection(p.pairs[0], &p.wanted, false, &unused, &seen, &fault));
    }
    CHECK(serve(p.pairs[0], &flight, &delivered) == PROGRESS_DONE);
    pair_close(p.pairs[0], false, &unused);
    release(&p);
}

static void every_set_up_finds_the_whole_key(void) {
    struct tls_case c = bfe_case("5", EARLY);
    struct negotiated seen = {0};
    struct spans unused = {0};
    struct flight_bytes flight;
    for (int i = 0; i < 2; i++) {
        struct prepared p;
        long delivered;
        if (!CHECK(set_up(&p, &c, &seen)))
            return;
        if (i == 0)
            flight = new_flight(p.pairs[0]);
        CHECK(serve(p.pairs[0], &flight, &delivered) == PROGRESS_DONE);
        pair_close(p.pairs[0], false, &unused);
        release(&p);
    }
}

static void refuses_key(const char *key, const char *reason) {
    struct tls_case c = bfe_case(key, EARLY);
    struct negotiated seen = {0};
    struct prepared p;
    CHECK(!set_up(&p, &c, &seen) && fault.kind == FAULT_ERROR);
    CHECK_TEXT(fault.reason, reason);
}

static void faults_of_the_key(void) {
    char from[512], to[512];
    write_file("short", "BFEseed\1", 8);
    write_file("kind", "BFEsead\1----------------------------------------", 48);
    write_seed("none", 0, 1);
    refuses_key("missing", "can't read the material file missing");
    refuses_key("short", "short is no seed of a key of Bloom filter encryption");
    refuses_key("kind", "kind is no seed of a key of Bloom filter encryption");
    refuses_key("none", "none is no seed of a key of Bloom filter encryption");
    write_seed("stale", 5, 9);
    path_of(from, sizeof from, "5.expanded");
    path_of(to, sizeof to, "stale.expanded");
    CHECK(link(from, to) == 0);
    refuses_key("stale", "the key of Bloom filter encryption is of another seed: delete it");
    CHECK(unlink(to) == 0);
    write_file("stale.expanded", "BFEsec", 6);
    refuses_key("stale", "a damaged key of Bloom filter encryption: delete it");
}

static void nothing_is_left(void) {
    int parts = 0;
    DIR *opened = opendir(folder);
    for (struct dirent *entry; opened != NULL && (entry = readdir(opened)) != NULL;) {
        const char *dot = strrchr(entry->d_name, '.');
        char path[512];
        parts += dot != NULL && dot[1] >= '0' && dot[1] <= '9';
        path_of(path, sizeof path, entry->d_name);
        unlink(path);
    }
    closedir(opened);
    CHECK_NUMBER(parts, 0);
    CHECK(rmdir(folder) == 0);
}

int main(void) {
    if (mkdtemp(folder) == NULL || !linked_backend.start(NULL, &fault)) {
        printf("%s\n", fault.reason);
        return 1;
    }
    printf("%s\n", linked_backend.version_text());
    write_seed("100", 100, 1);
    write_seed("5", 5, 2);
    sentence("a case of TLS is unsupported", tls_is_unsupported);
    sentence("early data of every size is accepted, and every number is there", negotiates);
    sentence("a connection that is not what was wanted gives a mismatch", wrong_numbers_are_refuted);
    sentence("a first flight is taken once: a replay is refused and delivers nothing", replays);
    sentence("a client whose flight was refused sends another, which is taken", tries_again);
    sentence("a changed first flight is refused and delivers nothing", changed_flights);
    sentence("a changed answer is refused", changed_answers);
    sentence("a pair can be dropped after any turn and the next one works", dropped_pairs);
    sentence("a key that served all its connections is whole again", a_used_key_is_renewed);
    sentence("every set-up finds the whole key", every_set_up_finds_the_whole_key);
    sentence("each fault of the key is told with its reason", faults_of_the_key);
    sentence("no half-made key is left", nothing_is_left);
    return check_failures != 0;
}
