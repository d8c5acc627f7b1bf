/* Reading keys, certificates and parameters from the material folder. */
#ifndef KEXBENCH_MATERIAL_H
#define KEXBENCH_MATERIAL_H

#include "case.h"

enum { MATERIAL_MAX_BYTES = 1024 * 1024 };

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

#endif
