/* What the files of the Bloom filter encryption backend share: BFE-0RTT-1, a protocol of two flights that is
 * as small as a fair comparison with early data in TLS 1.3 allows.
 *
 *   client: X25519 share, ciphertext of Bloom filter encryption | early data under a key of the ciphertext
 * alone server: X25519 share | hash of the transcript under a key of the ciphertext and both shares
 *
 * The server punctures its key before it decrypts the early data. So a first flight is taken once, and who
 * steals the key afterwards can't decrypt it. What comes later is protected by both shares, too. A server
 * that can't decapsulate says so, and the client encapsulates anew: it was a false positive of the filter, or
 * a replay. Records have the headers of TLS. */
#ifndef KEXBENCH_BFE_BACKEND_H
#define KEXBENCH_BFE_BACKEND_H

#include "backend.h"

#include <bfe.h>
#include <file.h>

#include <openssl/evp.h>

enum { SHARE_BYTES = 32, TAG_BYTES = 16, HASH_BYTES = 32, HEADER_BYTES = 5 };
enum { RECORD_REFUSAL = 21, RECORD_HELLO = 22, RECORD_DATA = 23 };
enum {
    REFUSAL_BYTES = HEADER_BYTES + 1,
    ANSWER_HELLO_BYTES = HEADER_BYTES + SHARE_BYTES,
    ANSWER_BYTES = ANSWER_HELLO_BYTES + HEADER_BYTES + HASH_BYTES + TAG_BYTES,
    FLIGHT_BYTES_MAX =
        HEADER_BYTES + SHARE_BYTES + BFE_CIPHERTEXT_BYTES_MAX + HEADER_BYTES + EARLY_DATA_MAX + TAG_BYTES,
};

/* --- bfe_flight.c: the bytes of a first flight --- */

enum flight { FLIGHT_WHOLE, FLIGHT_PART, FLIGHT_WRONG };

/* Points into the bytes. */
struct first_flight {
    const unsigned char *share, *ciphertext, *early_header, *sealed;
    size_t ciphertext_bytes, hello_bytes, sealed_bytes; /* hello: the first record, with its header */
};

enum flight bfe_flight_read(const unsigned char *bytes, size_t length, struct first_flight *out);
void bfe_record_header(unsigned char out[HEADER_BYTES], unsigned char type, size_t body_bytes);

/* --- bfe_secrets.c: X25519, HKDF with SHA-256 and AES-128-GCM of libcrypto; false where that fails --- */

/* Each protects one record, so there is no counter. */
struct traffic_key {
    unsigned char key[16], iv[12];
};
struct later_keys {
    struct traffic_key answer;
    unsigned char secret[32]; /* of everything after the answer */
};

bool bfe_start(void);
EVP_PKEY *bfe_share_new(unsigned char share[SHARE_BYTES]);
bool bfe_share_agree(EVP_PKEY *own, const unsigned char peer[SHARE_BYTES], unsigned char shared[SHARE_BYTES]);
bool bfe_hash(unsigned char out[HASH_BYTES], const void *a, size_t a_bytes, const void *b, size_t b_bytes);
bool bfe_early_key(struct traffic_key *out, const unsigned char secret[BFE_SECRET_BYTES],
                   const unsigned char hello_hash[HASH_BYTES]);
bool bfe_later_keys(struct later_keys *out, const unsigned char secret[BFE_SECRET_BYTES],
                    const unsigned char shared[SHARE_BYTES], const unsigned char transcript[HASH_BYTES]);
bool bfe_seal(const struct traffic_key *key, const unsigned char header[HEADER_BYTES], const void *plain,
              size_t length, unsigned char *sealed);
bool bfe_open(const struct traffic_key *key, const unsigned char header[HEADER_BYTES],
              const unsigned char *sealed, size_t sealed_bytes, unsigned char *plain);

/* --- bfe_key.c: a key from the material --- */

struct bfe_key {
    struct bfe_file file;
    struct bfe_secret_key secret;
    uint32_t connections; /* that it is made for */
    char *path;
};

/* The material is a seed of 48 bytes. The key that it expands to takes minutes to make and megabytes to keep,
 * so whoever needs it first writes it beside the seed. It is mapped privately: every process begins with the
 * whole key. False, a fault, and nothing to close. */
bool bfe_key_open(struct bfe_key *out, const char *folder, const char *name, struct fault *fault);
/* The whole key again. */
bool bfe_key_renew(struct bfe_key *key, struct fault *fault);
void bfe_key_close(struct bfe_key *key);

#endif
