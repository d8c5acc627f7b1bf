/* The keys of the verb `path`. */
#ifndef KEXBENCH_REQUEST_PATH_H
#define KEXBENCH_REQUEST_PATH_H

#include "values.h"

enum { PATH_KEYS = 13 };
extern const struct key path_keys[PATH_KEYS];

/* False: the request would take longer than any may. */
bool path_is_bounded(const struct path_plan *plan);

#endif
