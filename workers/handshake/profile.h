/* What a connection is made of, by the stack that made it: the verb `profile`. */
#ifndef KEXBENCH_PROFILE_H
#define KEXBENCH_PROFILE_H

#include "prepared.h"
#include "stacks.h"

enum profiled { PROFILED_ALLOCATIONS, PROFILED_ATOMICS, PROFILED };
enum { PROFILED_MAX = 100 };

/* Totals over `handshakes`, in every part. */
struct profile {
    uint64_t handshakes;
    struct stacks *stacks;
};

bool profiled_from_name(const char *name, enum profiled *out);

/* False and a fault: nothing was counted. `out` is to be freed in either case. */
bool profile(struct prepared *prepared, enum profiled of, uint64_t handshakes, struct profile *out,
             struct fault *fault);
void profile_free(struct profile *profile);

#endif
