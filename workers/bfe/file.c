/* See file.h. */
#include "file.h"

#include "bfe.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool map(struct bfe_file *out, int descriptor, size_t length, bool kept) {
    void *bytes = mmap(NULL, length, PROT_READ | PROT_WRITE, kept ? MAP_SHARED : MAP_PRIVATE, descriptor, 0);
    if (bytes == MAP_FAILED)
        return false;
    *out = (struct bfe_file){bytes, length};
    return true;
}

static bool close_after(int descriptor, bool done) {
    int error = errno;
    close(descriptor);
    errno = error;
    return done;
}

bool bfe_file_create(struct bfe_file *out, const char *path, size_t length) {
    int descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    if (descriptor < 0)
        return false;
    int error = posix_fallocate(descriptor, 0, (off_t)length);
    if (error != 0)
        errno = error;
    bool done = close_after(descriptor, error == 0 && map(out, descriptor, length, true));
    if (!done)
        unlink(path);
    return done;
}

bool bfe_file_open(struct bfe_file *out, const char *path, bool kept) {
    struct stat facts;
    int descriptor = open(path, (kept ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    if (descriptor < 0)
        return false;
    bool done = fstat(descriptor, &facts) == 0 && map(out, descriptor, (size_t)facts.st_size, kept);
    return close_after(descriptor, done);
}

bool bfe_file_sync(const struct bfe_file *file) {
    return msync(file->bytes, file->length, MS_SYNC) == 0;
}

void bfe_file_close(struct bfe_file *file) {
    munmap(file->bytes, file->length);
    *file = (struct bfe_file){0};
}

bool bfe_file_destroy(struct bfe_file *file, const char *path) {
    bfe_erase(file->bytes, file->length);
    bool synced = bfe_file_sync(file);
    bfe_file_close(file);
    return unlink(path) == 0 && synced;
}
