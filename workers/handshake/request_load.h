/* The keys of the verb `load`. */
#ifndef KEXBENCH_REQUEST_LOAD_H
#define KEXBENCH_REQUEST_LOAD_H

#include "values.h"

enum { LOAD_KEYS = 11 };
extern const struct key load_keys[LOAD_KEYS];

#endif
