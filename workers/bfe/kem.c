/* Encapsulation, decapsulation and puncturing. */
#include "bfe.h"

#include "derive.h"

#include <string.h>

enum { VERSION = 1, LINES = 68 /* of blst_precompute_lines */ };

static void combine(unsigned char *out, const unsigned char *a, const unsigned char *b) {
    for (size_t i = 0; i < BFE_MESSAGE_BYTES; i++)
        out[i] = a[i] ^ b[i];
}

/* e(H(i), g2^alpha)^r is e(H(i), v) with v = g2^(alpha r): one multiplication in place of k exponentiations,
 * and the lines of v through the Miller loop, its larger half, are computed once. */
static void wrap(const struct bfe_public_key *key, const blst_p2 *v, const uint32_t *positions,
                 const unsigned char message[BFE_MESSAGE_BYTES], unsigned char *wrapped) {
    unsigned char pad[BFE_MESSAGE_BYTES];
    blst_p2_affine v_affine;
    blst_fp6 lines[LINES];
    blst_fp12 shared;
    blst_p2_to_affine(&v_affine, v);
    blst_precompute_lines(lines, &v_affine);
    for (uint32_t i = 0; i < key->parameters.hashes; i++) {
        blst_p1 point;
        blst_p1_affine affine;
        bfe_derive_point(&point, key->id, positions[i]);
        blst_p1_to_affine(&affine, &point);
        blst_miller_loop_lines(&shared, lines, &affine);
        blst_final_exp(&shared, &shared);
        bfe_derive_pad(pad, key->id, i, &shared);
        combine(wrapped + i * BFE_MESSAGE_BYTES, message, pad);
    }
    bfe_erase(pad, sizeof pad);
    bfe_erase(&v_affine, sizeof v_affine);
    bfe_erase(lines, sizeof lines);
    bfe_erase(&shared, sizeof shared);
}

/* `positions`: those of the ciphertext that is made again, whose own U is public. Else what is hashed and
 * looked up would depend on a U that nobody may know before it is compared. NULL: those of the U made here.
 */
static void encapsulate(const struct bfe_public_key *key, const unsigned char message[BFE_MESSAGE_BYTES],
                        const uint32_t *positions, unsigned char *ciphertext,
                        unsigned char secret[BFE_SECRET_BYTES]) {
    uint32_t own_positions[BFE_HASHES_MAX];
    blst_scalar r;
    blst_p2 u, v;
    bfe_derive_coins(&r, secret, key->id, message);
    blst_sk_to_pk_in_g2(&u, &r);
    blst_sign_pk_in_g1(&v, &key->point, &r);
    ciphertext[0] = VERSION;
    ciphertext[1] = (unsigned char)key->parameters.hashes;
    blst_p2_compress(ciphertext + 2, &u);
    if (positions == NULL) {
        bfe_derive_positions(own_positions, key, ciphertext + 2);
        positions = own_positions;
    }
    wrap(key, &v, positions, message, ciphertext + BFE_WRAPPED_AT);
    bfe_erase(&r, sizeof r);
    bfe_erase(&u, sizeof u);
    bfe_erase(&v, sizeof v);
}

void bfe_encapsulate(const struct bfe_public_key *key, const unsigned char message[BFE_MESSAGE_BYTES],
                     unsigned char *ciphertext, unsigned char secret[BFE_SECRET_BYTES]) {
    encapsulate(key, message, NULL, ciphertext, secret);
}

static bool well_formed(const struct bfe_public_key *key, const unsigned char *ciphertext, size_t length) {
    return length == bfe_ciphertext_bytes(&key->parameters) && ciphertext[0] == VERSION &&
           ciphertext[1] == key->parameters.hashes;
}

static unsigned char *element(const struct bfe_secret_key *key, uint32_t position) {
    return key->elements + (size_t)position * BFE_ELEMENT_BYTES;
}

/* An encoded element has the highest bit of its first byte set, an overwritten one has none. */
static bool is_left(const struct bfe_secret_key *key, uint32_t position) {
    return (element(key, position)[0] & 0x80) != 0;
}

static bool read_element(blst_p1_affine *out, const unsigned char bytes[BFE_ELEMENT_BYTES]) {
    return blst_p1_uncompress(out, bytes) == BLST_SUCCESS && !blst_p1_affine_is_inf(out) &&
           blst_p1_affine_in_g1(out);
}

static bool equal(const unsigned char *a, const unsigned char *b, size_t length) {
    unsigned char difference = 0;
    for (size_t i = 0; i < length; i++)
        difference |= a[i] ^ b[i];
    return difference == 0;
}

static void unwrap(const struct bfe_public_key *key, const blst_p2_affine *u, const blst_p1_affine *sk,
                   const unsigned char *ciphertext, uint32_t which,
                   unsigned char message[BFE_MESSAGE_BYTES]) {
    unsigned char pad[BFE_MESSAGE_BYTES];
    blst_fp12 shared;
    blst_miller_loop(&shared, u, sk);
    blst_final_exp(&shared, &shared);
    bfe_derive_pad(pad, key->id, which, &shared);
    combine(message, ciphertext + BFE_WRAPPED_AT + which * BFE_MESSAGE_BYTES, pad);
    bfe_erase(pad, sizeof pad);
    bfe_erase(&shared, sizeof shared);
}

enum bfe_result bfe_decapsulate(const struct bfe_secret_key *key, const unsigned char *ciphertext,
                                size_t length, unsigned char secret[BFE_SECRET_BYTES]) {
    const struct bfe_public_key *public_key = &key->public_key;
    unsigned char message[BFE_MESSAGE_BYTES], again[BFE_CIPHERTEXT_BYTES_MAX];
    uint32_t positions[BFE_HASHES_MAX], which = 0;
    blst_p2_affine u;
    blst_p1_affine sk;
    memset(secret, 0, BFE_SECRET_BYTES);
    if (!well_formed(public_key, ciphertext, length) ||
        blst_p2_uncompress(&u, ciphertext + 2) != BLST_SUCCESS || blst_p2_affine_is_inf(&u) ||
        !blst_p2_affine_in_g2(&u))
        return BFE_MALFORMED;
    bfe_derive_positions(positions, public_key, ciphertext + 2);
    while (which < public_key->parameters.hashes && !is_left(key, positions[which]))
        which++;
    if (which == public_key->parameters.hashes)
        return BFE_PUNCTURED;
    if (!read_element(&sk, element(key, positions[which])))
        return BFE_DAMAGED;
    unwrap(public_key, &u, &sk, ciphertext, which, message);
    encapsulate(public_key, message, positions, again, secret);
    bool same = equal(again, ciphertext, length);
    if (!same)
        bfe_erase(secret, BFE_SECRET_BYTES);
    bfe_erase(&sk, sizeof sk);
    bfe_erase(message, sizeof message);
    bfe_erase(again, sizeof again);
    return same ? BFE_OK : BFE_MALFORMED;
}

enum bfe_result bfe_puncture(struct bfe_secret_key *key, const unsigned char *ciphertext, size_t length) {
    uint32_t positions[BFE_HASHES_MAX];
    if (!well_formed(&key->public_key, ciphertext, length))
        return BFE_MALFORMED;
    bfe_derive_positions(positions, &key->public_key, ciphertext + 2);
    for (uint32_t i = 0; i < key->public_key.parameters.hashes; i++)
        bfe_erase(element(key, positions[i]), BFE_ELEMENT_BYTES);
    return BFE_OK;
}

uint32_t bfe_punctured_elements(const struct bfe_secret_key *key) {
    uint32_t punctured = 0;
    for (uint32_t i = 0; i < key->public_key.parameters.positions; i++)
        punctured += !is_left(key, i);
    return punctured;
}
