/* Amounts by the stack that they were met on, in parts of a connection: what the verb `profile` answers.
 * Bounded, and without an allocation of its own after stacks_new, so that it may be filled inside an
 * allocator or a handler of signals. */
#ifndef KEXBENCH_STACKS_H
#define KEXBENCH_STACKS_H

#include "json.h"

#include <stdbool.h>
#include <stdint.h>

enum { STACK_DEPTH_MAX = 128, STACKS_MAX = 1 << 15 };

struct stacks;

struct stacks *stacks_new(void); /* NULL: out of memory */
void stacks_free(struct stacks *stacks);

/* Adds to the stack's count and amount. `addresses`: return addresses or program counters, innermost first;
 * what is deeper than STACK_DEPTH_MAX is cut off at the outer end. `part` is a constant. Returns the stack's
 * number, or -1 when there are too many, which stacks_overflowed remembers. */
long stacks_add(struct stacks *stacks, const char *part, const uintptr_t *addresses, unsigned depth,
                uint64_t count, uint64_t amount);
/* The same for a stack that is known by its number. */
void stacks_charge(struct stacks *stacks, long number, uint64_t count, uint64_t amount);
bool stacks_overflowed(const struct stacks *stacks);

/* The members `objects` (the mapped files and where they are) and `stacks` (those with a count). */
void stacks_write(struct json *json, const struct stacks *stacks);

#endif
