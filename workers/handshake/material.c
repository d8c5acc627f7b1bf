/* Files are read whole and before anything else, so that each library gets bytes and not
 * paths, and a missing file reads the same whatever the library. */
#include "material.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool read_all(int fd, struct material *out) {
    struct stat status;
    if (fstat(fd, &status) != 0)
        return false;
    if (!S_ISREG(status.st_mode) || status.st_size == 0 || status.st_size > MATERIAL_MAX_BYTES) {
        errno = S_ISREG(status.st_mode) && status.st_size > 0 ? EFBIG : EINVAL;
        return false;
    }
    size_t size = (size_t)status.st_size, have = 0;
    out->bytes = malloc(size);
    if (out->bytes == NULL)
        return false;
    while (have < size) {
        ssize_t got = read(fd, out->bytes + have, size - have);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            errno = got == 0 ? EIO : errno;
            return false;
        }
        have += (size_t)got;
    }
    out->length = (unsigned)size;
    return true;
}

bool material_read(const char *folder, const char *name, struct material *out, struct fault *fault) {
    out->bytes = NULL;
    out->length = 0;
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    /* O_NONBLOCK: a FIFO must not hold the worker. */
    errno = ENAMETOOLONG;
    int fd = length < (int)sizeof path ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
    bool read = fd >= 0 && read_all(fd, out);
    int error = errno;
    if (fd >= 0)
        close(fd);
    if (read)
        return true;
    material_free(out);
    fault_set(fault, FAULT_ERROR, "can't read the material file %s", name);
    snprintf(fault->detail, sizeof fault->detail, "%s", strerror(error));
    return false;
}

bool trust_path(const char *folder, const struct tls_case *tls_case, char out[PATH_MAX],
                struct fault *fault) {
    const char *suffix = tls_case->trust_store == TRUST_FOLDER ? ".d" : "";
    return snprintf(out, PATH_MAX, "%s/%s%s", folder, tls_case->trust_anchors_file, suffix) < PATH_MAX ||
           fault_set(fault, FAULT_ERROR, "the material folder's path is too long");
}

bool material_read_psk(const char *folder, const char *name, unsigned char out[PSK_BYTES],
                       struct fault *fault) {
    struct material material;
    if (!material_read(folder, name, &material, fault))
        return false;
    bool good = material.length == PSK_BYTES ||
                fault_set(fault, FAULT_ERROR, "the pre-shared key has %u bytes rather than %d",
                          material.length, PSK_BYTES);
    if (good)
        memcpy(out, material.bytes, PSK_BYTES);
    material_free(&material);
    return good;
}

/* Also used for private keys: wiped, out of habit more than need. */
void material_free(struct material *material) {
    if (material->bytes != NULL)
        explicit_bzero(material->bytes, material->length);
    free(material->bytes);
    material->bytes = NULL;
    material->length = 0;
}
