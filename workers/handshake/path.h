/* Connections over an emulated path, each proven: how long their clients wait. */
#ifndef KEXBENCH_PATH_H
#define KEXBENCH_PATH_H

#include "path_result.h"
#include "prepared.h"

/* The case was set up with both roles. True: `out` is meaningful, even where every connection failed. False:
 * `fault` says why there is no result. The caller frees `out`. */
bool path(const struct prepared *prepared, const struct path_plan *plan, struct path_result *out,
          struct fault *fault);

#endif
