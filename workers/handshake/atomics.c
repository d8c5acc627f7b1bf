/* Not counted yet. */
#include "atomics.h"

bool atomics_count(struct prepared *prepared, uint64_t handshakes, struct stacks *out, struct fault *fault) {
    (void)prepared;
    (void)handshakes;
    (void)out;
    return fault_set(fault, FAULT_UNSUPPORTED, "atomic operations are not counted");
}
