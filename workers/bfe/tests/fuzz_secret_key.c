/* Any bytes as a secret key: refused, or a key that answers. The first byte says whether the others are the
 * key or are laid over a valid one; in it, nothing but the key that was made may decapsulate. */
#include "fuzz.h"
#include "keys.h"

static struct made made;
static struct sent sent;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static unsigned char bytes[KEY_BYTES_MAX];
    unsigned char secret[BFE_SECRET_BYTES];
    struct bfe_secret_key key;
    if (made.length == 0) {
        make_key(&made, 16, 2, 1);
        send_to(&sent, &made.public_key, 1);
    }
    if (size == 0 || size > sizeof bytes)
        return 0;
    size_t length = data[0] % 2 == 0 ? size - 1 : made.length;
    unsigned char *exact = malloc(length); /* whose end AddressSanitizer watches */
    demand(exact != NULL || length == 0);
    if (data[0] % 2 == 0) {
        memcpy(exact, data + 1, length);
    } else {
        memcpy(exact, made.bytes, length);
        for (size_t i = 1; i < size; i++)
            exact[(7u * (data[0] / 2) + i) % length] ^= data[i];
    }
    if (bfe_read_secret_key(&key, exact, length) == BFE_OK) {
        demand(length == bfe_secret_key_bytes(&key.public_key.parameters));
        enum bfe_result result = bfe_decapsulate(&key, sent.ciphertext, sent.length, secret);
        demand(result != BFE_OK || memcmp(secret, sent.secret, sizeof secret) == 0);
        demand(result != BFE_OK || memcmp(exact, made.bytes, BFE_PUBLIC_KEY_BYTES) == 0);
        if (bfe_puncture(&key, sent.ciphertext, sent.length) == BFE_OK)
            demand(bfe_decapsulate(&key, sent.ciphertext, sent.length, secret) != BFE_OK);
        demand(bfe_punctured_elements(&key) <= key.public_key.parameters.positions);
    }
    free(exact);
    return 0;
}
