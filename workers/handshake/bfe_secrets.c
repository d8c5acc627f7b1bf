/* The cryptography beside Bloom filter encryption. Algorithms are fetched once: each fetch would take a lock
 * and some microseconds of every connection. */
#include "bfe_backend.h"

#include <openssl/core_names.h>
#include <openssl/kdf.h>

#include <string.h>

static EVP_KDF *hkdf;
static EVP_MD *sha_256;
static EVP_CIPHER *aes_128_gcm;

bool bfe_start(void) {
    hkdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
    sha_256 = EVP_MD_fetch(NULL, "SHA256", NULL);
    aes_128_gcm = EVP_CIPHER_fetch(NULL, "AES-128-GCM", NULL);
    return hkdf != NULL && sha_256 != NULL && aes_128_gcm != NULL;
}

EVP_PKEY *bfe_share_new(unsigned char share[SHARE_BYTES]) {
    size_t length = SHARE_BYTES;
    EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "X25519");
    if (key != NULL && EVP_PKEY_get_raw_public_key(key, share, &length) == 1)
        return key;
    EVP_PKEY_free(key);
    return NULL;
}

/* libcrypto refuses shares of small order, which would give zeros. */
bool bfe_share_agree(EVP_PKEY *own, const unsigned char peer[SHARE_BYTES],
                     unsigned char shared[SHARE_BYTES]) {
    size_t length = SHARE_BYTES;
    EVP_PKEY *other = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, NULL, peer, SHARE_BYTES);
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new(own, NULL);
    bool good = other != NULL && context != NULL && EVP_PKEY_derive_init(context) == 1 &&
                EVP_PKEY_derive_set_peer(context, other) == 1 &&
                EVP_PKEY_derive(context, shared, &length) == 1;
    EVP_PKEY_CTX_free(context);
    EVP_PKEY_free(other);
    return good;
}

bool bfe_hash(unsigned char out[HASH_BYTES], const void *a, size_t a_bytes, const void *b, size_t b_bytes) {
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool good = context != NULL && EVP_DigestInit_ex(context, sha_256, NULL) == 1 &&
                EVP_DigestUpdate(context, a, a_bytes) == 1 && EVP_DigestUpdate(context, b, b_bytes) == 1 &&
                EVP_DigestFinal_ex(context, out, NULL) == 1;
    EVP_MD_CTX_free(context);
    return good;
}

static bool expand(void *out, size_t length, void *secret, size_t secret_bytes, const unsigned char *salt,
                   const char *purpose) {
    char digest[] = "SHA256", info[32];
    unsigned char salt_copy[HASH_BYTES];
    memcpy(salt_copy, salt, sizeof salt_copy);
    size_t info_bytes = strlen(purpose);
    memcpy(info, purpose, info_bytes);
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, secret, secret_bytes),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, salt_copy, sizeof salt_copy),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info, info_bytes),
        OSSL_PARAM_construct_end(),
    };
    EVP_KDF_CTX *context = EVP_KDF_CTX_new(hkdf);
    bool good = context != NULL && EVP_KDF_derive(context, out, length, parameters) == 1;
    EVP_KDF_CTX_free(context);
    return good;
}

bool bfe_early_key(struct traffic_key *out, const unsigned char secret[BFE_SECRET_BYTES],
                   const unsigned char hello_hash[HASH_BYTES]) {
    unsigned char copy[BFE_SECRET_BYTES];
    memcpy(copy, secret, sizeof copy);
    bool good = expand(out, sizeof *out, copy, sizeof copy, hello_hash, "BFE-0RTT-1 early data");
    bfe_erase(copy, sizeof copy);
    return good;
}

bool bfe_later_keys(struct later_keys *out, const unsigned char secret[BFE_SECRET_BYTES],
                    const unsigned char shared[SHARE_BYTES], const unsigned char transcript[HASH_BYTES]) {
    unsigned char both[BFE_SECRET_BYTES + SHARE_BYTES];
    memcpy(both, secret, BFE_SECRET_BYTES);
    memcpy(both + BFE_SECRET_BYTES, shared, SHARE_BYTES);
    bool good = expand(out, sizeof *out, both, sizeof both, transcript, "BFE-0RTT-1 later");
    bfe_erase(both, sizeof both);
    return good;
}

bool bfe_seal(const struct traffic_key *key, const unsigned char header[HEADER_BYTES], const void *plain,
              size_t length, unsigned char *sealed) {
    int bytes = 0, more = 0;
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    bool good = context != NULL && EVP_EncryptInit_ex2(context, aes_128_gcm, key->key, key->iv, NULL) == 1 &&
                EVP_EncryptUpdate(context, NULL, &bytes, header, HEADER_BYTES) == 1 &&
                EVP_EncryptUpdate(context, sealed, &bytes, plain, (int)length) == 1 &&
                EVP_EncryptFinal_ex(context, sealed + length, &more) == 1 &&
                EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, TAG_BYTES, sealed + length) == 1;
    EVP_CIPHER_CTX_free(context);
    return good;
}

bool bfe_open(const struct traffic_key *key, const unsigned char header[HEADER_BYTES],
              const unsigned char *sealed, size_t sealed_bytes, unsigned char *plain) {
    size_t length = sealed_bytes - TAG_BYTES;
    unsigned char tag[TAG_BYTES];
    int bytes = 0, more = 0;
    memcpy(tag, sealed + length, sizeof tag);
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    bool good = context != NULL && EVP_DecryptInit_ex2(context, aes_128_gcm, key->key, key->iv, NULL) == 1 &&
                EVP_DecryptUpdate(context, NULL, &bytes, header, HEADER_BYTES) == 1 &&
                EVP_DecryptUpdate(context, plain, &bytes, sealed, (int)length) == 1 &&
                EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, TAG_BYTES, tag) == 1 &&
                EVP_DecryptFinal_ex(context, plain + length, &more) == 1;
    EVP_CIPHER_CTX_free(context);
    return good;
}
