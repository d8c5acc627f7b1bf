/* The records of PROTOCOL.md, one function each. Each writes one line and flushes it. */
#ifndef KEXBENCH_RECORD_H
#define KEXBENCH_RECORD_H

#include "age.h"
#include "examine.h"
#include "load.h"
#include "measure.h"
#include "path.h"
#include "profile.h"
#include "start.h"

#include <stdio.h>

enum { PROTOCOL_VERSION = 11 };

/* `cpus` as in the option, or NULL. */
void record_hello(FILE *out, const struct backend *backend, const char *cpus);
void record_ready(FILE *out, const char *id, const struct negotiated *negotiated);
void record_refused(FILE *out, const char *id, const struct fault *fault);
void record_batch(FILE *out, const char *id, const struct batch *batch);
void record_examined(FILE *out, const char *id, const struct examined *examined);
void record_load(FILE *out, const char *id, const struct load *load);
void record_path(FILE *out, const char *id, const struct path_result *result);
void record_start(FILE *out, const char *id, const struct start *start);
void record_age(FILE *out, const char *id, const struct aged *aged);
void record_profile(FILE *out, const char *id, const struct profile *profile);
void record_failed(FILE *out, const char *id, uint64_t handshakes, const struct fault *fault);
void record_error(FILE *out, const char *reason);
void record_bye(FILE *out);

#endif
