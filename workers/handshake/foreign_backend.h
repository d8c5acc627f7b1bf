/* What the files of the backend of foreign libraries share. */
#ifndef KEXBENCH_FOREIGN_BACKEND_H
#define KEXBENCH_FOREIGN_BACKEND_H

#include "backend.h"
#include "expected.h"
#include "foreign.h"

#include <limits.h>

/* Written at set-up alone. */
struct context {
    struct tls_case tls_case;
    struct foreign_case flat;
    char paths[4][PATH_MAX]; /* of the files that `flat` names */
    struct expected expected;
    uintptr_t foreign;
};

struct side {
    struct context *context;
    enum role role;
    uintptr_t foreign;
};

/* foreign_inspect.c: makes words of what the library tells in numbers, and compares what it shows with the
 * case's. */
bool foreign_compare(struct side *side, struct negotiated *out, struct fault *fault);

#endif
