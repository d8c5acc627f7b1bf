/* Bloom filter encryption: a key encapsulation whose secret key is punctured, so that a ciphertext that was
 * decapsulated once can never be decapsulated again, not even by somebody who steals the key afterwards.
 *
 * Derler, Jager, Slamanig, Striecks: "Bloom Filter Encryption and Applications to Efficient Forward-Secret
 * 0-RTT Key Exchange", EUROCRYPT 2018 (ePrint 2018/199; with Gellert in the Journal of Cryptology, 2021): the
 * construction from the identity-based encryption of Boneh and Franklin (CRYPTO 2001), made secure against
 * chosen ciphertexts by the transform of Fujisaki and Okamoto (CRYPTO 1999).
 *
 * - A key is alpha, from a seed: the public key is g2^alpha, the secret key one element H(i)^alpha for each
 *   position i of a filter.
 * - Encapsulating: r and the secret come from a random message. U = g2^r chooses k positions. The message is
 *   wrapped k times, each time with e(H(i), g2^alpha)^r.
 * - Decapsulating: e(H(i)^alpha, U) of any element that is left unwraps the message. Encapsulating it again
 *   must give the same ciphertext.
 * - Puncturing overwrites the ciphertext's k elements.
 *
 * The groups are chosen for a small secret key: elements are in G1 of BLS12-381 (48 bytes), so U and the
 * public key are in G2 (96 bytes). The other way round, U would be 48 bytes shorter and the secret key twice
 * as long: 69 MB instead of 35 MB for 50,000 punctures at a false-positive rate of 2^-10. Making and hashing
 * to an element is cheaper in G1 too.
 *
 * Time does not depend on secrets as far as blst's does not: points are multiplied by its functions for
 * signing, and nothing here branches on a secret or uses one as an index. Which elements are left decides
 * which one decapsulates; the positions follow from the ciphertext, so an attacker knows which were
 * punctured. Whether a ciphertext was refused shows. Secrets are overwritten here after use, but blst leaves
 * copies of intermediate values on the stack.
 *
 * Nothing is allocated, and no function reads a clock, a file or random numbers. */
#ifndef KEXBENCH_BFE_H
#define KEXBENCH_BFE_H

#include <blst.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BFE_VERSION "1.0.0"

enum {
    BFE_SEED_BYTES = 32,
    BFE_MESSAGE_BYTES = 32,
    BFE_SECRET_BYTES = 32,
    BFE_ID_BYTES = 32,
    BFE_ELEMENT_BYTES = 48,
    BFE_POINT_BYTES = 96,
    BFE_HASHES_MAX = 32,
    BFE_POSITIONS_MAX = 1 << 26, /* a secret key of 3 GiB */
    /* What kind of key and which version (8 bytes), positions, hashes, day (4 bytes each, the highest first),
     * the public point. The elements follow in a secret key. */
    BFE_PUBLIC_KEY_BYTES = 8 + 3 * 4 + BFE_POINT_BYTES,
    /* Version and number of hashes (1 byte each), U, the wrapped messages. */
    BFE_WRAPPED_AT = 2 + BFE_POINT_BYTES,
    BFE_CIPHERTEXT_BYTES_MAX = BFE_WRAPPED_AT + BFE_HASHES_MAX * BFE_MESSAGE_BYTES,
};

enum bfe_result {
    BFE_OK,
    BFE_PUNCTURED, /* decapsulated before, or one of the filter's false positives */
    BFE_MALFORMED, /* not a ciphertext of this key, or no key */
    BFE_DAMAGED,   /* the secret key's element is no element */
};

struct bfe_parameters {
    uint32_t positions; /* of the filter */
    uint32_t hashes;    /* positions of one ciphertext */
};

struct bfe_public_key {
    struct bfe_parameters parameters;
    uint32_t day;
    blst_p2 point;
    unsigned char id[BFE_ID_BYTES]; /* hash of the serialized public key, in every derivation */
};

struct bfe_secret_key {
    struct bfe_public_key public_key;
    unsigned char *elements; /* the caller's; a punctured one is all zeros, which is no point's encoding */
};

/* After so many punctures a fresh ciphertext is punctured already with this probability (the false-positive
 * rate). False: out of range. */
bool bfe_parameters_for(uint32_t punctures, double false_positives, struct bfe_parameters *out);

size_t bfe_ciphertext_bytes(const struct bfe_parameters *parameters);
size_t bfe_secret_key_bytes(const struct bfe_parameters *parameters);

/* Asked now and then with how many elements are made; false ends the generation. */
typedef bool bfe_progress(void *context, uint32_t elements);

/* Makes the secret key of this seed in the caller's bytes, whose header is written last. `day` is a label
 * that ciphertexts depend on. `progress` may be NULL. The caller erases the seed. False, and all bytes
 * erased: the length is wrong, or progress said so. */
bool bfe_generate(unsigned char *bytes, size_t length, const struct bfe_parameters *parameters,
                  const unsigned char seed[BFE_SEED_BYTES], uint32_t day, bfe_progress *progress,
                  void *context);
/* The serialized public key alone. False: parameters out of range. */
bool bfe_public_key_of(unsigned char out[BFE_PUBLIC_KEY_BYTES], const struct bfe_parameters *parameters,
                       const unsigned char seed[BFE_SEED_BYTES], uint32_t day);

/* BFE_OK or BFE_MALFORMED. The secret key keeps using the bytes. Its elements are checked when they are used:
 * to check all would take a minute for a large key. */
enum bfe_result bfe_read_public_key(struct bfe_public_key *key, const unsigned char *bytes, size_t length);
enum bfe_result bfe_read_secret_key(struct bfe_secret_key *key, unsigned char *bytes, size_t length);
/* A secret key's header as the public key that it belongs to. */
void bfe_publish(unsigned char out[BFE_PUBLIC_KEY_BYTES], const struct bfe_secret_key *key);

/* `message` is random and used once; the caller erases it. The ciphertext takes bfe_ciphertext_bytes. */
void bfe_encapsulate(const struct bfe_public_key *key, const unsigned char message[BFE_MESSAGE_BYTES],
                     unsigned char *ciphertext, unsigned char secret[BFE_SECRET_BYTES]);
/* The secret is all zeros unless the result is BFE_OK. */
enum bfe_result bfe_decapsulate(const struct bfe_secret_key *key, const unsigned char *ciphertext,
                                size_t length, unsigned char secret[BFE_SECRET_BYTES]);
/* For a ciphertext that was decapsulated: anybody can make up one that punctures a fresh element, so to
 * puncture what was not proven would let attackers fill the filter. BFE_OK or BFE_MALFORMED. */
enum bfe_result bfe_puncture(struct bfe_secret_key *key, const unsigned char *ciphertext, size_t length);
uint32_t bfe_punctured_elements(const struct bfe_secret_key *key);

/* Overwrites secrets; the compiler keeps it. */
void bfe_erase(void *secret, size_t length);

/* Forward secrecy across days. A chain of seeds, where each gives the key seed of its day and the next day's,
 * and is then overwritten: who steals the chain and today's key learns no earlier day's. Keys of days to come
 * are lost, as in every such scheme.
 *
 * This is not the time-based scheme of the paper, which replaces the identities by those of a hierarchical
 * scheme so that one public key serves all days, with longer elements and more pairings. Here each day has a
 * public key of its own, 116 bytes, that the server publishes ahead by walking a copy of the chain (and
 * erasing the copy); a day's secret key is generated in full, and its file erased when no more of its
 * ciphertexts are accepted. */
struct bfe_days {
    uint32_t day; /* of the next key */
    unsigned char seed[BFE_SEED_BYTES];
};
/* The seed of this day's key. The chain moves on to the next day. */
void bfe_next_day(struct bfe_days *days, unsigned char key_seed[BFE_SEED_BYTES]);

#endif
