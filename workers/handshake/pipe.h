/* The transport of every backend: two byte queues in memory, the same for each library, so
 * that no library is measured with its own. Bounded; allocated with the context. */
#ifndef KEXBENCH_PIPE_H
#define KEXBENCH_PIPE_H

#include <stddef.h>
#include <stdint.h>

/* One flight has to fit: the largest is a certificate with a 16,384 bit RSA key, some 8 KiB. */
enum { PIPE_BYTES = 64 * 1024 };

struct pipe {
    size_t start, end;
    uint64_t written; /* since pipe_reset */
    unsigned char bytes[PIPE_BYTES];
};

struct pipe_end {
    struct pipe *in, *out;
};

void pipe_reset(struct pipe *pipe);
/* How many bytes were taken or given; 0 when there is no room or nothing to read. */
size_t pipe_write(struct pipe *pipe, const void *data, size_t length);
size_t pipe_read(struct pipe *pipe, void *data, size_t length);
size_t pipe_pending(const struct pipe *pipe);

#endif
