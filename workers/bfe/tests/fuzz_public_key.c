/* Any bytes as a public key: refused, or a key that encapsulates. The first
 * byte says whether the others are the key or are laid over a valid one. */
#include "fuzz.h"
#include "keys.h"

static struct made made;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    unsigned char bytes[BFE_PUBLIC_KEY_BYTES];
    struct bfe_public_key key;
    struct sent sent;
    if (made.length == 0)
        make_key(&made, 20, 2, 1);
    if (size == 0)
        return 0;
    if (data[0] % 2 == 0) {
        enum bfe_result result = bfe_read_public_key(&key, data + 1, size - 1);
        demand(result == BFE_MALFORMED || (result == BFE_OK && size - 1 == sizeof bytes));
        return 0;
    }
    memcpy(bytes, made.public_bytes, sizeof bytes);
    for (size_t i = 1; i < size; i++)
        bytes[(data[0] / 2 + i) % sizeof bytes] ^= data[i];
    if (bfe_read_public_key(&key, bytes, sizeof bytes) != BFE_OK)
        return 0;
    demand(key.parameters.positions >= 1 && key.parameters.positions <= BFE_POSITIONS_MAX);
    demand(key.parameters.hashes >= 1 && key.parameters.hashes <= BFE_HASHES_MAX);
    if (key.parameters.hashes <= 2 || data[0] == 1) /* each takes a millisecond */
        send_to(&sent, &key, 1);
    return 0;
}
