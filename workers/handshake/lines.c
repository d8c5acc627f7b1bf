/* Bounded reading of lines: a long line costs its reader no memory. */
#include "lines.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* False at the end of input. A read error ends the input too: there is nobody left to answer. */
static bool fill(struct line_reader *r) {
    if (r->start > 0) {
        memmove(r->buffer, r->buffer + r->start, r->end - r->start);
        r->end -= r->start;
        r->start = 0;
    }
    ssize_t got;
    do {
        got = read(r->fd, r->buffer + r->end, sizeof r->buffer - r->end);
    } while (got < 0 && errno == EINTR);
    if (got <= 0)
        return false;
    r->end += (size_t)got;
    return true;
}

enum line next_line(struct line_reader *r, const char **line, size_t *length) {
    bool too_long = false;
    for (;;) { /* ends: each round consumes input or finds its end */
        char *from = r->buffer + r->start;
        char *newline = r->end > r->start ? memchr(from, '\n', r->end - r->start) : NULL;
        if (newline != NULL) {
            r->start = (size_t)(newline - r->buffer) + 1;
            *line = from;
            *length = (size_t)(newline - from);
            return too_long || *length > LINE_MAX_BYTES ? LINE_TOO_LONG : LINE_READ;
        }
        if (r->end - r->start > LINE_MAX_BYTES) {
            too_long = true;
            r->start = r->end;
        }
        if (!fill(r))
            return LINE_END;
    }
}
