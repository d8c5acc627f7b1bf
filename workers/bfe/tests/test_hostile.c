/* Bytes that somebody made up: refused, whichever field is wrong. */
#include "check.h"
#include "derive.h"
#include "keys.h"

static struct made made;
static struct sent sent;
static unsigned char secret[BFE_SECRET_BYTES], bytes[KEY_BYTES_MAX];

/* Encodings of points of the curve that are in no subgroup, found by counting x up. */
static bool outside_g2(unsigned char out[BFE_POINT_BYTES]) {
    blst_p2_affine point;
    memset(out, 0, BFE_POINT_BYTES);
    out[0] = 0x80;
    for (int x = 1; x < 256; x++) {
        out[BFE_POINT_BYTES - 1] = (unsigned char)x;
        if (blst_p2_uncompress(&point, out) == BLST_SUCCESS && !blst_p2_affine_in_g2(&point))
            return true;
    }
    return false;
}

static bool outside_g1(unsigned char out[BFE_ELEMENT_BYTES]) {
    blst_p1_affine point;
    memset(out, 0, BFE_ELEMENT_BYTES);
    out[0] = 0x80;
    for (int x = 1; x < 256; x++) {
        out[BFE_ELEMENT_BYTES - 1] = (unsigned char)x;
        if (blst_p1_uncompress(&point, out) == BLST_SUCCESS && !blst_p1_affine_in_g1(&point))
            return true;
    }
    return false;
}

static enum bfe_result decapsulate(const unsigned char *ciphertext, size_t length) {
    memset(secret, 0xAA, sizeof secret);
    enum bfe_result result = bfe_decapsulate(&made.key, ciphertext, length, secret);
    CHECK(result == BFE_OK || is_nothing(secret, sizeof secret));
    return result;
}

static void flipped(void) {
    make_key(&made, 40, 2, 1);
    send_to(&sent, &made.public_key, 1);
    CHECK_NUMBER(decapsulate(sent.ciphertext, sent.length), BFE_OK);
    for (size_t bit = 0; bit < 8 * sent.length; bit += bit < 16 ? 1 : 7) {
        sent.ciphertext[bit / 8] ^= (unsigned char)(1 << bit % 8);
        CHECK_NUMBER(decapsulate(sent.ciphertext, sent.length), BFE_MALFORMED);
        sent.ciphertext[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    CHECK_NUMBER(decapsulate(sent.ciphertext, sent.length), BFE_OK);
}

static void lengths(void) {
    unsigned char longer[BFE_CIPHERTEXT_BYTES_MAX + 1] = {0};
    memcpy(longer, sent.ciphertext, sent.length);
    for (size_t length = 0; length <= sizeof longer; length++)
        if (length != sent.length) {
            CHECK_NUMBER(decapsulate(longer, length), BFE_MALFORMED);
            CHECK_NUMBER(bfe_puncture(&made.key, longer, length), BFE_MALFORMED);
        }
    CHECK_NUMBER(bfe_punctured_elements(&made.key), 0);
}

/* The point at infinity, the generator, one outside of the subgroup, a coordinate of p and more, no
 * compression. */
static void points(void) {
    struct sent wrong = sent;
    memset(wrong.ciphertext + 2, 0, BFE_POINT_BYTES);
    CHECK_NUMBER(decapsulate(wrong.ciphertext, wrong.length), BFE_MALFORMED);
    wrong.ciphertext[2] = 0xC0;
    CHECK_NUMBER(decapsulate(wrong.ciphertext, wrong.length), BFE_MALFORMED);
    blst_p2_affine_compress(wrong.ciphertext + 2, blst_p2_affine_generator());
    CHECK_NUMBER(decapsulate(wrong.ciphertext, wrong.length), BFE_MALFORMED);
    CHECK(outside_g2(wrong.ciphertext + 2));
    CHECK_NUMBER(decapsulate(wrong.ciphertext, wrong.length), BFE_MALFORMED);
    memset(wrong.ciphertext + 2, 0xFF, BFE_POINT_BYTES);
    wrong.ciphertext[2] = 0x9F;
    CHECK_NUMBER(decapsulate(wrong.ciphertext, wrong.length), BFE_MALFORMED);
}

/* A sender who wraps different messages, so that which element is left would show in what comes out. */
static void uneven(void) {
    struct sent wrong;
    uint32_t positions[BFE_HASHES_MAX];
    for (size_t which = 0; which < 2; which++) {
        make_key(&made, 40, 2, 1);
        send_to(&wrong, &made.public_key, 1);
        bfe_derive_positions(positions, &made.public_key, wrong.ciphertext + 2);
        CHECK(positions[0] != positions[1]);
        memset(made.key.elements + positions[1 - which] * BFE_ELEMENT_BYTES, 0, BFE_ELEMENT_BYTES);
        CHECK_NUMBER(decapsulate(wrong.ciphertext, wrong.length), BFE_OK);
        wrong.ciphertext[BFE_WRAPPED_AT + (1 - which) * BFE_MESSAGE_BYTES] ^=
            1; /* not the one that is read */
        CHECK_NUMBER(decapsulate(wrong.ciphertext, wrong.length), BFE_MALFORMED);
    }
    make_key(&made, 40, 2, 1);
}

static enum bfe_result read_public(size_t length) {
    struct bfe_public_key key;
    return bfe_read_public_key(&key, bytes, length);
}

static void public_keys(void) {
    struct bfe_public_key key;
    size_t whole = BFE_PUBLIC_KEY_BYTES, point = whole - BFE_POINT_BYTES;
    memcpy(bytes, made.public_bytes, whole);
    CHECK_NUMBER(read_public(whole), BFE_OK);
    for (size_t length = 0; length < whole + 10; length++)
        CHECK_NUMBER(read_public(length), length == whole ? BFE_OK : BFE_MALFORMED);
    for (size_t bit = 0; bit < 64; bit++) { /* what kind of key, and which version */
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        CHECK_NUMBER(read_public(whole), BFE_MALFORMED);
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    uint32_t numbers[][2] = {{0, 1}, {1, 0}, {BFE_POSITIONS_MAX + 1, 1}, {1, BFE_HASHES_MAX + 1}, {~0u, ~0u}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        bfe_put_number(bytes + 8, numbers[i][0]);
        bfe_put_number(bytes + 12, numbers[i][1]);
        CHECK_NUMBER(read_public(whole), BFE_MALFORMED);
    }
    memcpy(bytes, made.public_bytes, whole);
    bytes[19] ^= 1; /* another day is another key */
    CHECK_NUMBER(bfe_read_public_key(&key, bytes, whole), BFE_OK);
    CHECK(memcmp(key.id, made.public_key.id, BFE_ID_BYTES) != 0);
    memset(bytes + point, 0, BFE_POINT_BYTES);
    bytes[point] = 0xC0; /* the point at infinity */
    CHECK_NUMBER(read_public(whole), BFE_MALFORMED);
    CHECK(outside_g2(bytes + point));
    CHECK_NUMBER(read_public(whole), BFE_MALFORMED);
}

static void secret_keys(void) {
    struct bfe_secret_key key;
    memcpy(bytes, made.bytes, made.length);
    for (size_t length = 0; length < made.length + 100; length++)
        CHECK_NUMBER(bfe_read_secret_key(&key, bytes, length),
                     length == made.length ? BFE_OK : BFE_MALFORMED);
    bfe_put_number(bytes + 8, BFE_POSITIONS_MAX); /* more than there are */
    CHECK_NUMBER(bfe_read_secret_key(&key, bytes, made.length), BFE_MALFORMED);
    memcpy(bytes, made.public_bytes, BFE_PUBLIC_KEY_BYTES);
    CHECK_NUMBER(bfe_read_secret_key(&key, bytes, made.length), BFE_MALFORMED);
}

static void elements(void) {
    static unsigned char wrong[3][BFE_ELEMENT_BYTES];
    CHECK(outside_g1(wrong[0]));
    wrong[1][0] = 0xC0; /* the point at infinity */
    memset(wrong[2], 0xFF, BFE_ELEMENT_BYTES);
    for (int i = 0; i < 3; i++) {
        for (size_t at = 0; at < 40; at++)
            memcpy(made.key.elements + at * BFE_ELEMENT_BYTES, wrong[i], BFE_ELEMENT_BYTES);
        CHECK_NUMBER(decapsulate(sent.ciphertext, sent.length), BFE_DAMAGED);
    }
    /* One of the group, but another's. */
    for (size_t at = 0; at < 40; at++)
        blst_p1_affine_compress(made.key.elements + at * BFE_ELEMENT_BYTES, blst_p1_affine_generator());
    CHECK_NUMBER(decapsulate(sent.ciphertext, sent.length), BFE_MALFORMED);
}

int main(void) {
    sentence("a ciphertext with one bit changed in any field is refused", flipped);
    sentence("so is one of another length, which punctures nothing", lengths);
    sentence("so is a point at infinity, outside of the subgroup, or badly encoded", points);
    sentence("so is one whose wrapped messages differ, whichever is read", uneven);
    sentence("a public key is refused with any field out of range or a bad point", public_keys);
    sentence("a secret key is refused unless its length is what its header says", secret_keys);
    sentence("a damaged element is found when it is used", elements);
    return check_failures != 0;
}
