/* What a request `path` asks for. */
#ifndef KEXBENCH_PATH_PLAN_H
#define KEXBENCH_PATH_PLAN_H

#include "emulator.h"

/* Each connection's times are kept; those under way at once hold memory and files. */
enum { PATH_CONNECTIONS_MAX = 20000, PATH_UNDER_WAY_MAX = 4096 };

struct path_plan {
    struct path path;
    unsigned connections;
    uint64_t interval_ns; /* from one beginning to the next, whatever the others do */
    uint64_t timeout_ns;  /* a connection's, from its beginning to its end */
    unsigned answer_bytes;
};

#endif
