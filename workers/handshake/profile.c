/* Which of the counts is asked for, and what none of them can do. */
#include "profile.h"

#include "allocations.h"
#include "atomics.h"

#include <string.h>

static const struct {
    const char *name;
    bool (*count)(struct prepared *prepared, uint64_t handshakes, struct stacks *out, struct fault *fault);
} counts[PROFILED] = {
    [PROFILED_ALLOCATIONS] = {"allocations", allocations_count},
    [PROFILED_ATOMICS] = {"atomics", atomics_count},
};

bool profiled_from_name(const char *name, enum profiled *out) {
    for (enum profiled of = 0; of < PROFILED; of++) {
        if (strcmp(name, counts[of].name) == 0) {
            *out = of;
            return true;
        }
    }
    return false;
}

bool profile(struct prepared *prepared, enum profiled of, uint64_t handshakes, struct profile *out,
             struct fault *fault) {
    *out = (struct profile){.handshakes = handshakes};
    if (prepared->peer >= 0)
        return fault_set(fault, FAULT_UNSUPPORTED, "a single role has no profile");
    out->stacks = stacks_new();
    if (out->stacks == NULL)
        return fault_set(fault, FAULT_ERROR, "out of memory");
    return counts[of].count(prepared, handshakes, out->stacks, fault) &&
           (!stacks_overflowed(out->stacks) ||
            fault_set(fault, FAULT_ERROR, "there are more than %d stacks", STACKS_MAX));
}

void profile_free(struct profile *profile) {
    stacks_free(profile->stacks);
}
