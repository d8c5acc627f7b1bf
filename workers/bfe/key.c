/* Keys: how large, made, read and erased. */
#include "bfe.h"

#include "derive.h"

#include <math.h>
#include <string.h>

enum { KIND_BYTES = 8, POINT_AT = KIND_BYTES + 3 * 4, PROGRESS_EVERY = 1024 };

static const unsigned char PUBLIC_KIND[KIND_BYTES] = {'B', 'F', 'E', 'p', 'u', 'b', 0, 1};
static const unsigned char SECRET_KIND[KIND_BYTES] = {'B', 'F', 'E', 's', 'e', 'c', 0, 1};

static bool in_range(const struct bfe_parameters *parameters) {
    return parameters->positions >= 1 && parameters->positions <= BFE_POSITIONS_MAX &&
           parameters->hashes >= 1 && parameters->hashes <= BFE_HASHES_MAX;
}

/* A Bloom filter: the number of positions that a filter of this rate needs, and the number of
 * hashes that is best for it. */
bool bfe_parameters_for(uint32_t punctures, double false_positives, struct bfe_parameters *out) {
    const double ln2 = 0.69314718055994530942;
    if (punctures == 0 || !(false_positives > 0 && false_positives < 1))
        return false;
    double positions = ceil(-(double)punctures * log(false_positives) / (ln2 * ln2));
    double hashes = ceil(-log2(false_positives));
    if (positions > BFE_POSITIONS_MAX || hashes > BFE_HASHES_MAX)
        return false;
    *out = (struct bfe_parameters){(uint32_t)positions, (uint32_t)hashes};
    return true;
}

size_t bfe_ciphertext_bytes(const struct bfe_parameters *parameters) {
    return BFE_WRAPPED_AT + (size_t)parameters->hashes * BFE_MESSAGE_BYTES;
}

size_t bfe_secret_key_bytes(const struct bfe_parameters *parameters) {
    return BFE_PUBLIC_KEY_BYTES + (size_t)parameters->positions * BFE_ELEMENT_BYTES;
}

static void write_public_key(unsigned char out[BFE_PUBLIC_KEY_BYTES], const struct bfe_parameters *parameters,
                             const blst_scalar *alpha, uint32_t day) {
    blst_p2 point;
    memcpy(out, PUBLIC_KIND, KIND_BYTES);
    bfe_put_number(out + KIND_BYTES, parameters->positions);
    bfe_put_number(out + KIND_BYTES + 4, parameters->hashes);
    bfe_put_number(out + KIND_BYTES + 8, day);
    blst_sk_to_pk_in_g2(&point, alpha);
    blst_p2_compress(out + POINT_AT, &point);
}

bool bfe_public_key_of(unsigned char out[BFE_PUBLIC_KEY_BYTES], const struct bfe_parameters *parameters,
                       const unsigned char seed[BFE_SEED_BYTES], uint32_t day) {
    blst_scalar alpha;
    if (!in_range(parameters))
        return false;
    bfe_derive_alpha(&alpha, seed);
    write_public_key(out, parameters, &alpha, day);
    bfe_erase(&alpha, sizeof alpha);
    return true;
}

static bool make_elements(unsigned char *elements, uint32_t positions, const unsigned char id[BFE_ID_BYTES],
                          const blst_scalar *alpha, bfe_progress *progress, void *context) {
    for (uint32_t i = 0; i < positions; i++) {
        blst_p1 point;
        bfe_derive_point(&point, id, i);
        blst_sign_pk_in_g2(&point, &point, alpha);
        blst_p1_compress(elements + (size_t)i * BFE_ELEMENT_BYTES, &point);
        if (progress != NULL && (i + 1) % PROGRESS_EVERY == 0 && !progress(context, i + 1))
            return false;
    }
    return true;
}

bool bfe_generate(unsigned char *bytes, size_t length, const struct bfe_parameters *parameters,
                  const unsigned char seed[BFE_SEED_BYTES], uint32_t day, bfe_progress *progress,
                  void *context) {
    unsigned char header[BFE_PUBLIC_KEY_BYTES], id[BFE_ID_BYTES];
    blst_scalar alpha;
    bool made = in_range(parameters) && length == bfe_secret_key_bytes(parameters);
    if (made) {
        bfe_derive_alpha(&alpha, seed);
        write_public_key(header, parameters, &alpha, day);
        bfe_derive_id(id, header);
        made =
            make_elements(bytes + BFE_PUBLIC_KEY_BYTES, parameters->positions, id, &alpha, progress, context);
        bfe_erase(&alpha, sizeof alpha);
    }
    if (!made) {
        bfe_erase(bytes, length);
        return false;
    }
    memcpy(bytes, header, sizeof header);
    memcpy(bytes, SECRET_KIND, KIND_BYTES);
    return true;
}

enum bfe_result bfe_read_public_key(struct bfe_public_key *key, const unsigned char *bytes, size_t length) {
    blst_p2_affine point;
    if (length != BFE_PUBLIC_KEY_BYTES || memcmp(bytes, PUBLIC_KIND, KIND_BYTES) != 0)
        return BFE_MALFORMED;
    key->parameters.positions = bfe_number(bytes + KIND_BYTES);
    key->parameters.hashes = bfe_number(bytes + KIND_BYTES + 4);
    key->day = bfe_number(bytes + KIND_BYTES + 8);
    /* blst_p2_affine_in_g2 takes the point at infinity for an element, which it is; as a public key it would
     * make every shared value 1. */
    if (!in_range(&key->parameters) || blst_p2_uncompress(&point, bytes + POINT_AT) != BLST_SUCCESS ||
        blst_p2_affine_is_inf(&point) || !blst_p2_affine_in_g2(&point))
        return BFE_MALFORMED;
    blst_p2_from_affine(&key->point, &point);
    bfe_derive_id(key->id, bytes);
    return BFE_OK;
}

enum bfe_result bfe_read_secret_key(struct bfe_secret_key *key, unsigned char *bytes, size_t length) {
    unsigned char header[BFE_PUBLIC_KEY_BYTES];
    if (length < sizeof header || memcmp(bytes, SECRET_KIND, KIND_BYTES) != 0)
        return BFE_MALFORMED;
    memcpy(header, bytes, sizeof header);
    memcpy(header, PUBLIC_KIND, KIND_BYTES);
    if (bfe_read_public_key(&key->public_key, header, sizeof header) != BFE_OK ||
        length != bfe_secret_key_bytes(&key->public_key.parameters))
        return BFE_MALFORMED;
    key->elements = bytes + BFE_PUBLIC_KEY_BYTES;
    return BFE_OK;
}

void bfe_publish(unsigned char out[BFE_PUBLIC_KEY_BYTES], const struct bfe_secret_key *key) {
    memcpy(out, key->elements - BFE_PUBLIC_KEY_BYTES, BFE_PUBLIC_KEY_BYTES);
    memcpy(out, PUBLIC_KIND, KIND_BYTES);
}
