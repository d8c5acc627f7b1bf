/* The transport of every backend: queues of bytes or datagrams in memory, the same for each library, so that
 * no library is measured with its own. Bounded. */
#ifndef KEXBENCH_PIPE_H
#define KEXBENCH_PIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One flight has to fit: the largest is a chain of ten ML-DSA-87 certificates, some 75 KiB. */
enum { PIPE_BYTES = 128 * 1024 };

struct wire; /* reads along what is written, wire.h */

struct pipe {
    size_t start, end;
    uint64_t written;  /* since pipe_reset */
    struct wire *wire; /* NULL: nobody reads along */
    unsigned char bytes[PIPE_BYTES];
};

struct pipe_end {
    struct pipe *in, *out;
    bool over_path; /* the other side is behind an emulated path, so time goes by; else it is in memory */
};

void pipe_reset(struct pipe *pipe);
/* How many bytes were taken or given; 0 when there is no room or nothing to read. */
size_t pipe_write(struct pipe *pipe, const void *data, size_t length);
size_t pipe_read(struct pipe *pipe, void *data, size_t length);
size_t pipe_pending(const struct pipe *pipe);

/* The same with datagrams, which are taken and given whole; what is longer than `size` is cut off. A length
 * goes before each, which `written` does not count. One pipe holds either datagrams or a stream. */
size_t pipe_write_datagram(struct pipe *pipe, const void *data, uint16_t length);
size_t pipe_read_datagram(struct pipe *pipe, void *data, size_t size);
/* The next one where it lies, of a pipe that holds one, and its removal. */
const unsigned char *pipe_peek_datagram(const struct pipe *pipe, uint16_t *length);
void pipe_drop_datagram(struct pipe *pipe);

#endif
