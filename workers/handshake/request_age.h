/* The keys of the verb `age`. */
#ifndef KEXBENCH_REQUEST_AGE_H
#define KEXBENCH_REQUEST_AGE_H

#include "values.h"

enum { AGE_KEYS = 4 };
extern const struct key age_keys[AGE_KEYS];

#endif
