/* Any bytes as a ciphertext: only the one that was made is accepted. The first byte says whether the others
 * are the ciphertext or are laid over it. */
#include "fuzz.h"
#include "keys.h"

static struct made made;
static struct sent sent;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    unsigned char laid[BFE_CIPHERTEXT_BYTES_MAX], secret[BFE_SECRET_BYTES];
    const unsigned char *ciphertext = data + 1;
    if (made.length == 0) {
        make_key(&made, 16, 2, 1);
        send_to(&sent, &made.public_key, 1);
    }
    if (size == 0)
        return 0;
    size_t length = size - 1;
    if (data[0] % 2 != 0) {
        length = sent.length;
        memcpy(laid, sent.ciphertext, length);
        for (size_t i = 1; i < size; i++)
            laid[(data[0] / 2 + i) % length] ^= data[i];
        ciphertext = laid;
    }
    bool same = length == sent.length && memcmp(ciphertext, sent.ciphertext, length) == 0;
    enum bfe_result result = bfe_decapsulate(&made.key, ciphertext, length, secret);
    demand(result == (same ? BFE_OK : BFE_MALFORMED));
    demand(!same || memcmp(secret, sent.secret, sizeof secret) == 0);
    return 0;
}
