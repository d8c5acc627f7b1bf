/* Bounded reading of lines from a file descriptor. */
#ifndef KEXBENCH_LINES_H
#define KEXBENCH_LINES_H

#include "request.h"

enum line { LINE_READ, LINE_TOO_LONG, LINE_END };

struct line_reader {
    int fd;
    size_t start, end;
    char buffer[2 * (LINE_MAX_BYTES + 1)];
};

/* LINE_READ: the line without its newline, valid until the next call. LINE_TOO_LONG: the whole
 * line was consumed. An unterminated last line is a writer that died, and is dropped. */
enum line next_line(struct line_reader *reader, const char **line, size_t *length);

#endif
