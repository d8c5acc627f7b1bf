/* What was encapsulated comes out once, and never again. */
#include "check.h"
#include "derive.h"
#include "keys.h"

enum { KEYS = 3, CIPHERTEXTS = 4 };

static struct made made, other;
static struct sent sent, later;
static unsigned char secret[BFE_SECRET_BYTES];

static enum bfe_result decapsulate(const struct made *by, const struct sent *ciphertext) {
    memset(secret, 0xAA, sizeof secret);
    return bfe_decapsulate(&by->key, ciphertext->ciphertext, ciphertext->length, secret);
}

static void same_secret(void) {
    for (uint64_t seed = 0; seed < KEYS; seed++) {
        make_key(&made, 40, (uint32_t)(1 + 4 * seed), seed);
        for (uint64_t message = 0; message < CIPHERTEXTS; message++) {
            send_to(&sent, &made.public_key, message);
            CHECK_NUMBER(decapsulate(&made, &sent), BFE_OK);
            CHECK(memcmp(secret, sent.secret, sizeof secret) == 0);
            send_to(&later, &made.public_key, message + 1);
            CHECK(memcmp(later.secret, sent.secret, sizeof secret) != 0);
        }
    }
}

static void punctured(void) {
    make_key(&made, 1000, 5, 1);
    send_to(&sent, &made.public_key, 1);
    send_to(&later, &made.public_key, 2);
    CHECK_NUMBER(bfe_punctured_elements(&made.key), 0);
    CHECK_NUMBER(bfe_puncture(&made.key, sent.ciphertext, sent.length), BFE_OK);
    CHECK_NUMBER(bfe_punctured_elements(&made.key), 5);
    CHECK_NUMBER(decapsulate(&made, &sent), BFE_PUNCTURED);
    CHECK(is_nothing(secret, sizeof secret));
    CHECK_NUMBER(decapsulate(&made, &later), BFE_OK);
    CHECK_NUMBER(bfe_puncture(&made.key, sent.ciphertext, sent.length), BFE_OK);
    CHECK_NUMBER(bfe_punctured_elements(&made.key), 5);
}

/* Elements are overwritten and not marked; any one that is left decapsulates. */
static void one_is_enough(void) {
    uint32_t positions[BFE_HASHES_MAX];
    make_key(&made, 1000, 5, 3);
    send_to(&sent, &made.public_key, 1);
    bfe_derive_positions(positions, &made.public_key, sent.ciphertext + 2);
    for (uint32_t left = 0; left < 5; left++) {
        unsigned char kept[BFE_ELEMENT_BYTES], *element = made.key.elements + positions[left] * sizeof kept;
        memcpy(kept, element, sizeof kept);
        bfe_puncture(&made.key, sent.ciphertext, sent.length);
        CHECK(is_nothing(element, sizeof kept));
        memcpy(element, kept, sizeof kept);
        CHECK_NUMBER(decapsulate(&made, &sent), BFE_OK);
        CHECK(memcmp(secret, sent.secret, sizeof secret) == 0);
        make_key(&made, 1000, 5, 3);
    }
}

static void other_keys(void) {
    make_key(&made, 40, 3, 1);
    make_key(&other, 40, 3, 2);
    send_to(&sent, &made.public_key, 1);
    CHECK_NUMBER(decapsulate(&other, &sent), BFE_MALFORMED);
    CHECK(is_nothing(secret, sizeof secret));
    /* The same key but another day. */
    unsigned char seed[BFE_SEED_BYTES];
    fill(seed, sizeof seed, 1);
    CHECK(bfe_generate(other.bytes, other.length, &made.public_key.parameters, seed, 20001, NULL, NULL));
    CHECK_NUMBER(bfe_read_secret_key(&other.key, other.bytes, other.length), BFE_OK);
    CHECK_NUMBER(decapsulate(&other, &sent), BFE_MALFORMED);
}

int main(void) {
    sentence("decapsulating gives the secret that was encapsulated, with one hash and with nine",
             same_secret);
    sentence("a punctured ciphertext stays closed, and others open", punctured);
    sentence("any element that is left decapsulates; punctured ones are overwritten", one_is_enough);
    sentence("another key, or the same of another day, refuses", other_keys);
    return check_failures != 0;
}
