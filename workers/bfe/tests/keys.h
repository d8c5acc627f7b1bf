/* Keys of any seed in static memory, and bytes that are the same on every run. */
#ifndef KEXBENCH_BFE_KEYS_H
#define KEXBENCH_BFE_KEYS_H

#include "bfe.h"

#include <assert.h>
#include <string.h>

enum { KEY_BYTES_MAX = BFE_PUBLIC_KEY_BYTES + 1000 * BFE_ELEMENT_BYTES };

/* splitmix64 */
static inline void fill(unsigned char *out, size_t length, uint64_t seed) {
    for (size_t i = 0; i < length; i++) {
        uint64_t z = (seed * 1000003 + i + 1) * 0x9E3779B97F4A7C15u;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        out[i] = (unsigned char)(z >> 56);
    }
}

struct made {
    unsigned char bytes[KEY_BYTES_MAX], public_bytes[BFE_PUBLIC_KEY_BYTES];
    size_t length;
    struct bfe_secret_key key;
    struct bfe_public_key public_key;
};

static inline void make_key(struct made *out, uint32_t positions, uint32_t hashes, uint64_t seed) {
    struct bfe_parameters parameters = {positions, hashes};
    unsigned char seed_bytes[BFE_SEED_BYTES];
    fill(seed_bytes, sizeof seed_bytes, seed);
    out->length = bfe_secret_key_bytes(&parameters);
    assert(out->length <= sizeof out->bytes);
    bool made = bfe_generate(out->bytes, out->length, &parameters, seed_bytes, 20000, NULL, NULL);
    assert(made && bfe_read_secret_key(&out->key, out->bytes, out->length) == BFE_OK);
    bfe_publish(out->public_bytes, &out->key);
    enum bfe_result read = bfe_read_public_key(&out->public_key, out->public_bytes, sizeof out->public_bytes);
    assert(read == BFE_OK);
    (void)made, (void)read;
}

struct sent {
    unsigned char ciphertext[BFE_CIPHERTEXT_BYTES_MAX], secret[BFE_SECRET_BYTES];
    size_t length;
};

static inline void send_to(struct sent *out, const struct bfe_public_key *key, uint64_t seed) {
    unsigned char message[BFE_MESSAGE_BYTES];
    fill(message, sizeof message, seed);
    out->length = bfe_ciphertext_bytes(&key->parameters);
    bfe_encapsulate(key, message, out->ciphertext, out->secret);
}

static inline bool is_nothing(const unsigned char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

#endif
