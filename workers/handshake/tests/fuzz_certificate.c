/* A PEM file of any text, and DER of any bytes: what is found lies inside, the search comes to its end, and
 * nothing is read beyond the bytes. The first byte says which of the two it is. */
#include "certificate.h"

#include "fuzz.h"

static void pem(const uint8_t *text, size_t size) {
    struct certificate one;
    struct certificate_facts facts;
    size_t at = 0, before = 0;
    for (; certificate_next(text, size, &at, &one); before = at) {
        demand(at > before && at <= size && one.length > 0 && one.length < at - before);
        certificate_read(&one, &facts);
        certificate_free(&one);
    }
    demand(at <= size && one.der == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct certificate_facts facts;
    if (size < 2)
        return 0;
    if (data[0] % 2 == 0) {
        pem(data + 1, size - 1);
        return 0;
    }
    struct certificate der = {malloc(size - 1), size - 1}; /* ends where the bytes do */
    demand(der.der != NULL);
    memcpy(der.der, data + 1, size - 1);
    if (certificate_read(&der, &facts))
        demand(facts.parts.names <= size && facts.bits <= 8 * size);
    certificate_free(&der);
    return 0;
}
