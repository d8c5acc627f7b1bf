/* Reading lines: bounds, and what comes after a line that broke them. */
#include "lines.h"

#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct line_reader reader;

static void input(const char *bytes, size_t length) {
    static FILE *file;
    if (file != NULL)
        fclose(file);
    file = tmpfile();
    fwrite(bytes, 1, length, file);
    fflush(file);
    lseek(fileno(file), 0, SEEK_SET);
    memset(&reader, 0, sizeof reader);
    reader.fd = fileno(file);
}

static void next_is(const char *wanted) {
    const char *line;
    size_t length;
    if (CHECK(next_line(&reader, &line, &length) == LINE_READ)) {
        CHECK_NUMBER(length, strlen(wanted));
        CHECK(memcmp(line, wanted, strlen(wanted)) == 0);
    }
}

static enum line next(void) {
    const char *line;
    size_t length;
    return next_line(&reader, &line, &length);
}

static void lines(void) {
    input("one\n\nthree\n", 11);
    next_is("one");
    next_is("");
    next_is("three");
    CHECK(next() == LINE_END);
    CHECK(next() == LINE_END);
}

static void unterminated(void) {
    input("one\nstop", 8);
    next_is("one");
    CHECK(next() == LINE_END);
    input("", 0);
    CHECK(next() == LINE_END);
}

static void long_lines(void) {
    static const size_t lengths[] = {LINE_MAX_BYTES - 1, LINE_MAX_BYTES, LINE_MAX_BYTES + 1, 8191, 8192, 8193,
                                     3 * LINE_MAX_BYTES, 1000000};
    static char text[1000100];
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        size_t length = lengths[i];
        memset(text, 'x', length);
        memcpy(text + length, "\nafter\n", 7);
        input(text, length + 7);
        CHECK(next() == (length <= LINE_MAX_BYTES ? LINE_READ : LINE_TOO_LONG));
        next_is("after");
        CHECK(next() == LINE_END);
    }
}

static void many(void) {
    static char text[20 * 4000];
    for (size_t i = 0; i < 20; i++) {
        memset(text + i * 4000, 'a' + (int)i, 3999);
        text[i * 4000 + 3999] = '\n';
    }
    input(text, sizeof text);
    for (size_t i = 0; i < 20; i++) {
        const char *line;
        size_t length;
        if (CHECK(next_line(&reader, &line, &length) == LINE_READ)) {
            CHECK_NUMBER(length, 3999);
            CHECK(line[0] == 'a' + (int)i && line[3998] == 'a' + (int)i);
        }
    }
    CHECK(next() == LINE_END);
}

int main(void) {
    sentence("lines come one at a time, the empty ones too", lines);
    sentence("an unterminated last line is the end of the input", unterminated);
    sentence("a line that is too long is consumed, told once, and the next one is whole", long_lines);
    sentence("lines that straddle the buffer stay whole", many);
    return check_failures != 0;
}
