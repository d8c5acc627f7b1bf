/* A key of a request with the setter of its value, and what setters share. Each returns false where the value
 * is none of its kind. */
#ifndef KEXBENCH_VALUES_H
#define KEXBENCH_VALUES_H

#include "request.h"

#include <stdint.h>

struct key {
    const char *name;
    bool (*store)(struct request *request, const char *value);
    const char *wants;
};

#define NS_LIMIT (3600ull * 1000000000ull) /* an hour: a token is never held that long */

bool value_decimal(const char *text, uint64_t least, uint64_t most, uint64_t *out);
bool value_whole(const char *text, uint64_t least, uint64_t most, unsigned *out);
bool value_yes_or_no(const char *text, bool *out);
bool value_copy(char to[VALUE_MAX + 1], const char *value);
bool value_file(char to[VALUE_MAX + 1], const char *value);

/* The key that verbs about a case have in common. */
bool store_id(struct request *request, const char *value);

#endif
