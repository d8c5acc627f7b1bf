/* Reading keys, certificates and parameters from the material folder. */
#ifndef KEXBENCH_MATERIAL_H
#define KEXBENCH_MATERIAL_H

#include "case.h"

#include <limits.h>

enum { MATERIAL_MAX_BYTES = 4 * 1024 * 1024 };

struct material {
    unsigned char *bytes; /* NULL: nothing was read */
    unsigned length;
};

/* False and a fault when there is no such regular file, or it is empty or too large. */
bool material_read(const char *folder, const char *name, struct material *out, struct fault *fault);
/* A key of PSK_BYTES, as it is. */
bool material_read_psk(const char *folder, const char *name, unsigned char out[PSK_BYTES],
                       struct fault *fault);
void material_free(struct material *material);

/* From where a side loads its trust anchors: the case's file, or the folder beside it with the suffix ".d",
 * in which each has a file named by the hash of its subject. */
bool trust_path(const char *folder, const struct tls_case *tls_case, char out[PATH_MAX], struct fault *fault);

#endif
