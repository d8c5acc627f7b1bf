/* What the fuzz targets share: a demand that ends the process, and bytes taken apart. */
#ifndef KEXBENCH_FUZZ_H
#define KEXBENCH_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void demand(bool holds) {
    if (!holds)
        abort();
}

/* A file of these bytes, at its beginning. */
static inline int file_of(const uint8_t *data, size_t size) {
    int file = memfd_create("fuzz", 0);
    demand(file >= 0 && write(file, data, size) == (ssize_t)size && lseek(file, 0, SEEK_SET) == 0);
    return file;
}

#endif
