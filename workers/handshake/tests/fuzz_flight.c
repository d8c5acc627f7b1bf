/* First flights that anybody sends: whatever they hold, what the parser points at lies in them. */
#include "bfe_backend.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct first_flight first;
    unsigned char *bytes = malloc(size > 0 ? size : 1); /* so that a byte too far is seen */
    demand(bytes != NULL);
    if (size > 0)
        memcpy(bytes, data, size);
    if (bfe_flight_read(bytes, size, &first) == FLIGHT_WHOLE) {
        demand(first.share == bytes + HEADER_BYTES && first.sealed + first.sealed_bytes == bytes + size);
        demand(first.ciphertext + first.ciphertext_bytes == bytes + first.hello_bytes);
        demand(first.ciphertext_bytes <= BFE_CIPHERTEXT_BYTES_MAX);
        demand(first.sealed_bytes >= TAG_BYTES && first.sealed_bytes <= EARLY_DATA_MAX + TAG_BYTES);
    }
    free(bytes);
    return 0;
}
