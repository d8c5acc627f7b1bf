/* The Bloom filter encryption backend: a context's and a side's life, and the turns (bfe_backend.h). */
#include "bfe_backend.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A false positive in a row is as rare as the rate's square. More are a key that is used up. */
enum { REFUSALS_MAX = 8 };

struct context {
    struct tls_case tls_case;
    struct bfe_key key;
    struct bfe_public_key public_key;
    uint32_t punctures; /* of the key since it was whole */
};

struct side {
    struct context *context;
    enum role role;
    struct pipe_end pipes;
    bool began;
    unsigned refusals;
    long early_data_bytes; /* the server's: taken; the client's: sent in a flight that was answered */
    EVP_PKEY *own;
    struct later_keys later;
    unsigned char share[SHARE_BYTES], secret[BFE_SECRET_BYTES];
    size_t length; /* of the flight that is written or read */
    unsigned char flight[FLIGHT_BYTES_MAX];
    unsigned char early_data[EARLY_DATA_MAX];
};

static bool start(const char *settings, struct fault *fault) {
    (void)settings;
    setenv("OPENSSL_CONF", "/dev/null", 1);
    return bfe_start() || fault_set(fault, FAULT_ERROR, "libcrypto has not all algorithms of BFE-0RTT-1");
}

static const char *version(void) {
    return BFE_VERSION;
}

static const char *version_text(void) {
    static char text[128];
    snprintf(text, sizeof text, "Bloom filter encryption %s, %.80s", BFE_VERSION,
             OpenSSL_version(OPENSSL_VERSION));
    return text;
}

/* --- The context. --- */

static void teardown(struct context *c) {
    bfe_key_close(&c->key);
    free(c);
}

static struct context *setup(const struct tls_case *tls_case, const char *material, struct fault *fault) {
    if (tls_case->protocol != BFE_0RTT) {
        fault_set(fault, FAULT_UNSUPPORTED, "Bloom filter encryption is no %s",
                  protocol_name(tls_case->protocol));
        return NULL;
    }
    struct context *c = calloc(1, sizeof *c);
    if (c == NULL) {
        fault_set(fault, FAULT_ERROR, "out of memory");
        return NULL;
    }
    c->tls_case = *tls_case;
    if (!bfe_key_open(&c->key, material, tls_case->key, fault)) {
        free(c);
        return NULL;
    }
    c->public_key = c->key.secret.public_key;
    return c;
}

/* --- A side. --- */

static void close_side(struct side *side) {
    EVP_PKEY_free(side->own);
    bfe_erase(&side->later, sizeof side->later);
    bfe_erase(side->secret, sizeof side->secret);
    free(side);
}

/* A server whose key served all the connections that it was made for goes on with the whole key. */
static struct side *open_side(struct context *c, enum role role, struct pipe_end pipes, bool resume,
                              struct fault *fault) {
    (void)resume;
    if (role == ROLE_SERVER && c->punctures >= c->key.connections) {
        if (!bfe_key_renew(&c->key, fault))
            return NULL;
        c->punctures = 0;
    }
    struct side *side = malloc(sizeof *side);
    if (side == NULL) {
        fault_set(fault, FAULT_ERROR, "out of memory");
        return NULL;
    }
    memset(side, 0, offsetof(struct side, flight)); /* the buffers are written before they are read */
    side->context = c;
    side->role = role;
    side->pipes = pipes;
    return side;
}

static enum progress failed(struct fault *fault, const char *reason) {
    fault_set(fault, FAULT_ERROR, "%s", reason);
    return PROGRESS_FAILED;
}

/* What lies in the pipe, behind what was read before. */
static void read_pipe(struct side *side) {
    side->length +=
        pipe_read(side->pipes.in, side->flight + side->length, sizeof side->flight - side->length);
}

static bool write_pipe(const struct side *side, const unsigned char *bytes, size_t length) {
    return pipe_write(side->pipes.out, bytes, length) == length;
}

/* Of both flights up to the server's share. */
static bool agree_later(struct side *side, const unsigned char *flight, size_t length,
                        const unsigned char answer_hello[ANSWER_HELLO_BYTES],
                        const unsigned char peer_share[SHARE_BYTES], unsigned char transcript[HASH_BYTES]) {
    unsigned char shared[SHARE_BYTES];
    bool good = bfe_hash(transcript, flight, length, answer_hello, ANSWER_HELLO_BYTES) &&
                bfe_share_agree(side->own, peer_share, shared) &&
                bfe_later_keys(&side->later, side->secret, shared, transcript);
    bfe_erase(shared, sizeof shared);
    return good;
}

static bool early_key(const struct side *side, const unsigned char *hello, size_t length,
                      struct traffic_key *out) {
    unsigned char hash[HASH_BYTES];
    return bfe_hash(hash, hello, length, NULL, 0) && bfe_early_key(out, side->secret, hash);
}

/* --- The client. --- */

static enum progress send_flight(struct side *side, struct fault *fault) {
    static const unsigned char data[EARLY_DATA_MAX];
    const struct bfe_public_key *key = &side->context->public_key;
    size_t early_bytes = side->context->tls_case.early_data_bytes;
    size_t hello_bytes = SHARE_BYTES + bfe_ciphertext_bytes(&key->parameters);
    unsigned char message[BFE_MESSAGE_BYTES], *hello = side->flight,
                                              *early = hello + HEADER_BYTES + hello_bytes;
    struct traffic_key traffic;
    if (side->own == NULL && (side->own = bfe_share_new(side->share)) == NULL)
        return failed(fault, "the client has no key share");
    if (RAND_bytes(message, sizeof message) != 1)
        return failed(fault, "the client has no random numbers");
    bfe_record_header(hello, RECORD_HELLO, hello_bytes);
    memcpy(hello + HEADER_BYTES, side->share, SHARE_BYTES);
    bfe_encapsulate(key, message, hello + HEADER_BYTES + SHARE_BYTES, side->secret);
    bfe_erase(message, sizeof message);
    bfe_record_header(early, RECORD_DATA, early_bytes + TAG_BYTES);
    bool sealed = early_key(side, hello, HEADER_BYTES + hello_bytes, &traffic) &&
                  bfe_seal(&traffic, early, data, early_bytes, early + HEADER_BYTES);
    bfe_erase(&traffic, sizeof traffic);
    if (!sealed)
        return failed(fault, "the client can't protect its early data");
    side->length = HEADER_BYTES + hello_bytes + HEADER_BYTES + early_bytes + TAG_BYTES;
    return write_pipe(side, side->flight, side->length) ? PROGRESS_WAIT
                                                        : failed(fault, "the first flight is too large");
}

/* Compared in full: an answer is made by somebody who could decapsulate. */
static enum progress take_answer(struct side *side, const unsigned char answer[ANSWER_BYTES],
                                 struct fault *fault) {
    const unsigned char *finished = answer + ANSWER_HELLO_BYTES;
    unsigned char transcript[HASH_BYTES], confirmed[HASH_BYTES], headers[2][HEADER_BYTES];
    bfe_record_header(headers[0], RECORD_HELLO, SHARE_BYTES);
    bfe_record_header(headers[1], RECORD_DATA, HASH_BYTES + TAG_BYTES);
    if (memcmp(answer, headers[0], HEADER_BYTES) != 0 || memcmp(finished, headers[1], HEADER_BYTES) != 0)
        return failed(fault, "the server's answer is malformed");
    if (!agree_later(side, side->flight, side->length, answer, answer + HEADER_BYTES, transcript) ||
        !bfe_open(&side->later.answer, finished, finished + HEADER_BYTES, HASH_BYTES + TAG_BYTES,
                  confirmed) ||
        CRYPTO_memcmp(confirmed, transcript, HASH_BYTES) != 0)
        return failed(fault, "the server's answer is not one to this client");
    side->early_data_bytes = (long)side->context->tls_case.early_data_bytes;
    return PROGRESS_DONE;
}

static enum progress client_step(struct side *side, struct fault *fault) {
    unsigned char answer[ANSWER_BYTES];
    size_t pending = pipe_pending(side->pipes.in);
    if (!side->began) {
        side->began = true;
        return send_flight(side, fault);
    }
    if (pending == REFUSAL_BYTES) { /* shorter than any answer, and written at once */
        pipe_read(side->pipes.in, answer, REFUSAL_BYTES);
        if (answer[0] != RECORD_REFUSAL || ++side->refusals > REFUSALS_MAX)
            return failed(fault, "the server refuses every first flight");
        return send_flight(side, fault);
    }
    if (pending < sizeof answer)
        return PROGRESS_WAIT;
    pipe_read(side->pipes.in, answer, sizeof answer);
    return take_answer(side, answer, fault);
}

/* --- The server. --- */

static enum progress refuse(struct side *side, struct fault *fault) {
    unsigned char refusal[REFUSAL_BYTES] = {0};
    bfe_record_header(refusal, RECORD_REFUSAL, 1);
    side->length = 0;
    return write_pipe(side, refusal, sizeof refusal) ? PROGRESS_WAIT
                                                     : failed(fault, "the refusal is too large");
}

static enum progress answer_flight(struct side *side, const struct first_flight *first, struct fault *fault) {
    unsigned char answer[ANSWER_BYTES], transcript[HASH_BYTES];
    unsigned char *finished = answer + ANSWER_HELLO_BYTES;
    bfe_record_header(answer, RECORD_HELLO, SHARE_BYTES);
    bfe_record_header(finished, RECORD_DATA, HASH_BYTES + TAG_BYTES);
    if ((side->own = bfe_share_new(answer + HEADER_BYTES)) == NULL ||
        !agree_later(side, side->flight, side->length, answer, first->share, transcript))
        return failed(fault, "the server can't agree on the later keys");
    if (!bfe_seal(&side->later.answer, finished, transcript, HASH_BYTES, finished + HEADER_BYTES) ||
        !write_pipe(side, answer, sizeof answer))
        return failed(fault, "the server can't answer");
    return PROGRESS_DONE;
}

/* The key is punctured before the early data is decrypted, let alone delivered. */
static enum progress take_flight(struct side *side, const struct first_flight *first, struct fault *fault) {
    struct context *c = side->context;
    struct traffic_key traffic;
    enum bfe_result result =
        bfe_decapsulate(&c->key.secret, first->ciphertext, first->ciphertext_bytes, side->secret);
    if (result == BFE_PUNCTURED)
        return refuse(side, fault);
    if (result != BFE_OK)
        return failed(fault, result == BFE_DAMAGED ? "the server's key is damaged"
                                                   : "the first flight is not for this server");
    bfe_puncture(&c->key.secret, first->ciphertext, first->ciphertext_bytes);
    c->punctures++;
    bool opened =
        early_key(side, side->flight, first->hello_bytes, &traffic) &&
        bfe_open(&traffic, first->early_header, first->sealed, first->sealed_bytes, side->early_data);
    bfe_erase(&traffic, sizeof traffic);
    if (!opened)
        return failed(fault, "the early data was changed");
    side->early_data_bytes = (long)(first->sealed_bytes - TAG_BYTES);
    return answer_flight(side, first, fault);
}

static enum progress server_step(struct side *side, struct fault *fault) {
    struct first_flight first;
    read_pipe(side);
    switch (bfe_flight_read(side->flight, side->length, &first)) {
    case FLIGHT_PART:
        return PROGRESS_WAIT;
    case FLIGHT_WHOLE:
        return take_flight(side, &first, fault);
    case FLIGHT_WRONG:
        break;
    }
    return failed(fault, "the first flight is malformed");
}

static enum progress step(struct side *side, struct fault *fault) {
    return side->role == ROLE_CLIENT ? client_step(side, fault) : server_step(side, fault);
}

static bool inspect(struct side *side, struct negotiated *out, struct fault *fault) {
    (void)fault;
    out->protocol = protocol_name(BFE_0RTT);
    out->cipher = cipher_name(AES_128_GCM);
    out->group = group_name(GROUP_BLS12_381);
    out->signature = out->client_key = out->client_signature = "-";
    out->peer_key = peer_key_name(KEY_BFE);
    out->resumed = false;
    out->chain_length = out->verified_length = out->client_verified_length = 0;
    out->ocsp_bytes = 0;
    out->early_data_bytes = side->early_data_bytes;
    return true;
}

/* --- What no case of this protocol asks for. --- */

static long no_send(struct side *side, const void *data, size_t length, struct fault *fault) {
    (void)side, (void)data, (void)length;
    fault_set(fault, FAULT_ERROR, "BFE-0RTT-1 has no application data after its answer");
    return -1;
}

static long no_receive(struct side *side, void *data, size_t size, struct fault *fault) {
    return no_send(side, data, size, fault);
}

static enum progress no_finish(struct side *side, struct fault *fault) {
    (void)side;
    return failed(fault, "BFE-0RTT-1 has no close_notify");
}

static bool no_keep(struct side *client, struct fault *fault) {
    (void)client;
    return fault_set(fault, FAULT_ERROR, "BFE-0RTT-1 has no sessions");
}

const struct backend linked_backend = {
    .library = "bfe",
    .clock = &slow_clock,
    .counter_events = hardware_events,
    .takes_settings = false,
    .start = start,
    .version = version,
    .version_text = version_text,
    .architecture = NULL,
    .setup = setup,
    .teardown = teardown,
    .open = open_side,
    .step = step,
    .send = no_send,
    .receive = no_receive,
    .finish = no_finish,
    .inspect = inspect,
    .keep = no_keep,
    .close = close_side,
};
