/* See derive.h. */
#include "derive.h"

#include <string.h>

/* The suite of the points is the one that RFC 9380 names; random oracles, as the proof of Boneh and Franklin
 * wants. */
#define TAG(what) "KEXBENCH-BFE-V01-" what
#define POINT_TAG TAG("CS01-with-BLS12381G1_XMD:SHA-256_SSWU_RO_")

enum {
    WIDE = 64, /* 512 bits modulo a number of 255: the bias is below 2^-256 */
    SHARED_BYTES = 12 * 48,
    POSITION_BYTES = 8, /* 64 bits modulo at most 2^26 */
};

static void expand(unsigned char *out, size_t length, const char *tag, const unsigned char *message,
                   size_t message_length) {
    blst_expand_message_xmd(out, length, message, message_length, (const unsigned char *)tag, strlen(tag));
}

uint32_t bfe_number(const unsigned char bytes[4]) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

void bfe_put_number(unsigned char out[4], uint32_t number) {
    for (int i = 0; i < 4; i++)
        out[i] = (unsigned char)(number >> (24 - 8 * i));
}

void bfe_derive_id(unsigned char id[BFE_ID_BYTES], const unsigned char public_key[BFE_PUBLIC_KEY_BYTES]) {
    expand(id, BFE_ID_BYTES, TAG("id"), public_key, BFE_PUBLIC_KEY_BYTES);
}

void bfe_derive_alpha(blst_scalar *alpha, const unsigned char seed[BFE_SEED_BYTES]) {
    unsigned char wide[WIDE];
    expand(wide, sizeof wide, TAG("alpha"), seed, BFE_SEED_BYTES);
    blst_scalar_from_be_bytes(alpha, wide, sizeof wide); /* 0 for one seed of 2^255 */
    bfe_erase(wide, sizeof wide);
}

void bfe_derive_coins(blst_scalar *r, unsigned char secret[BFE_SECRET_BYTES],
                      const unsigned char id[BFE_ID_BYTES], const unsigned char message[BFE_MESSAGE_BYTES]) {
    unsigned char input[BFE_ID_BYTES + BFE_MESSAGE_BYTES], wide[WIDE + BFE_SECRET_BYTES];
    memcpy(input, id, BFE_ID_BYTES);
    memcpy(input + BFE_ID_BYTES, message, BFE_MESSAGE_BYTES);
    expand(wide, sizeof wide, TAG("coins"), input, sizeof input);
    blst_scalar_from_be_bytes(r, wide, WIDE);
    memcpy(secret, wide + WIDE, BFE_SECRET_BYTES);
    bfe_erase(input, sizeof input);
    bfe_erase(wide, sizeof wide);
}

void bfe_derive_positions(uint32_t positions[BFE_HASHES_MAX], const struct bfe_public_key *key,
                          const unsigned char u[BFE_POINT_BYTES]) {
    unsigned char input[BFE_ID_BYTES + BFE_POINT_BYTES], numbers[BFE_HASHES_MAX * POSITION_BYTES];
    memcpy(input, key->id, BFE_ID_BYTES);
    memcpy(input + BFE_ID_BYTES, u, BFE_POINT_BYTES);
    expand(numbers, sizeof numbers, TAG("positions"), input, sizeof input);
    for (uint32_t i = 0; i < key->parameters.hashes; i++) {
        const unsigned char *at = numbers + i * POSITION_BYTES;
        uint64_t number = (uint64_t)bfe_number(at) << 32 | bfe_number(at + 4);
        positions[i] = (uint32_t)(number % key->parameters.positions);
    }
}

void bfe_derive_point(blst_p1 *point, const unsigned char id[BFE_ID_BYTES], uint32_t position) {
    unsigned char input[BFE_ID_BYTES + 4];
    memcpy(input, id, BFE_ID_BYTES);
    bfe_put_number(input + BFE_ID_BYTES, position);
    blst_hash_to_g1(point, input, sizeof input, (const unsigned char *)POINT_TAG, strlen(POINT_TAG), NULL, 0);
}

void bfe_derive_pad(unsigned char pad[BFE_MESSAGE_BYTES], const unsigned char id[BFE_ID_BYTES],
                    uint32_t which, const blst_fp12 *shared) {
    unsigned char input[BFE_ID_BYTES + 4 + SHARED_BYTES];
    memcpy(input, id, BFE_ID_BYTES);
    bfe_put_number(input + BFE_ID_BYTES, which);
    blst_bendian_from_fp12(input + BFE_ID_BYTES + 4, shared);
    expand(pad, BFE_MESSAGE_BYTES, TAG("pad"), input, sizeof input);
    bfe_erase(input, sizeof input);
}

void bfe_next_day(struct bfe_days *days, unsigned char key_seed[BFE_SEED_BYTES]) {
    unsigned char input[4 + BFE_SEED_BYTES], seeds[2 * BFE_SEED_BYTES];
    bfe_put_number(input, days->day++);
    memcpy(input + 4, days->seed, BFE_SEED_BYTES);
    expand(seeds, sizeof seeds, TAG("day"), input, sizeof input);
    memcpy(key_seed, seeds, BFE_SEED_BYTES);
    memcpy(days->seed, seeds + BFE_SEED_BYTES, BFE_SEED_BYTES);
    bfe_erase(input, sizeof input);
    bfe_erase(seeds, sizeof seeds);
}

void bfe_erase(void *secret, size_t length) {
    explicit_bzero(secret, length);
}
