/* A secret key as a mapped file: generated once, and open at once however large it is. */
#ifndef KEXBENCH_BFE_FILE_H
#define KEXBENCH_BFE_FILE_H

#include <stdbool.h>
#include <stddef.h>

struct bfe_file {
    unsigned char *bytes;
    size_t length;
};

/* All of these fail with errno. The file is new, readable by its owner alone, and has its blocks: a full disk
 * is an error here and not a signal later. */
bool bfe_file_create(struct bfe_file *out, const char *path, size_t length);
/* `kept`: what is punctured is punctured in the file. Else it is in this process alone, so that each run of a
 * benchmark begins with the same key. Whoever truncates the file meanwhile kills this process. */
bool bfe_file_open(struct bfe_file *out, const char *path, bool kept);
/* A puncture is forward secure when this has returned: until then the disk may hold the element. A copy that
 * a journal, a snapshot or the disk's own wear levelling made is out of reach from here. */
bool bfe_file_sync(const struct bfe_file *file);
void bfe_file_close(struct bfe_file *file);
/* Overwrites and closes what `bfe_file_create` made or `bfe_file_open` opened with `kept`, and removes it. */
bool bfe_file_destroy(struct bfe_file *file, const char *path);

#endif
