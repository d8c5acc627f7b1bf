/* The parser of a first flight, which anybody may have sent. */
#include "bfe_backend.h"

void bfe_record_header(unsigned char out[HEADER_BYTES], unsigned char type, size_t body_bytes) {
    out[0] = type;
    out[1] = out[2] = 3; /* as TLS 1.3 has it, for whatever reads along */
    out[3] = (unsigned char)(body_bytes >> 8);
    out[4] = (unsigned char)body_bytes;
}

/* One record at the beginning of the bytes, whose body has to be so long. */
static enum flight read_record(const unsigned char *bytes, size_t length, unsigned char type, size_t least,
                               size_t most, size_t *body_bytes) {
    if (length < HEADER_BYTES)
        return FLIGHT_PART;
    *body_bytes = (size_t)bytes[3] << 8 | bytes[4];
    if (bytes[0] != type || bytes[1] != 3 || bytes[2] != 3 || *body_bytes < least || *body_bytes > most)
        return FLIGHT_WRONG;
    return length - HEADER_BYTES < *body_bytes ? FLIGHT_PART : FLIGHT_WHOLE;
}

enum flight bfe_flight_read(const unsigned char *bytes, size_t length, struct first_flight *out) {
    size_t hello, sealed;
    enum flight state = read_record(bytes, length, RECORD_HELLO, SHARE_BYTES + BFE_WRAPPED_AT,
                                    SHARE_BYTES + BFE_CIPHERTEXT_BYTES_MAX, &hello);
    if (state != FLIGHT_WHOLE)
        return state;
    const unsigned char *rest = bytes + HEADER_BYTES + hello;
    size_t left = length - HEADER_BYTES - hello;
    state = read_record(rest, left, RECORD_DATA, TAG_BYTES, EARLY_DATA_MAX + TAG_BYTES, &sealed);
    if (state != FLIGHT_WHOLE)
        return state;
    if (left != HEADER_BYTES + sealed) /* a client waits for an answer */
        return FLIGHT_WRONG;
    *out = (struct first_flight){.share = bytes + HEADER_BYTES,
                                 .ciphertext = bytes + HEADER_BYTES + SHARE_BYTES,
                                 .early_header = rest,
                                 .sealed = rest + HEADER_BYTES,
                                 .ciphertext_bytes = hello - SHARE_BYTES,
                                 .hello_bytes = HEADER_BYTES + hello,
                                 .sealed_bytes = sealed};
    return FLIGHT_WHOLE;
}
