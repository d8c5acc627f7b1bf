/* Lines are those of the bytes, one by one and whole, or told to be too long. */
#include "lines.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct line_reader reader;
    const char *line;
    size_t length;
    enum line got;
    reader = (struct line_reader){.fd = file_of(data, size)};
    while ((got = next_line(&reader, &line, &length)) != LINE_END) {
        const uint8_t *newline = memchr(data, '\n', size);
        demand(newline != NULL);
        size_t whole = (size_t)(newline - data);
        demand((got == LINE_TOO_LONG) == (whole > LINE_MAX_BYTES));
        demand(got == LINE_TOO_LONG || (length == whole && memcmp(line, data, whole) == 0));
        size -= whole + 1;
        data = newline + 1;
    }
    demand(memchr(data, '\n', size) == NULL);
    close(reader.fd);
    return 0;
}
