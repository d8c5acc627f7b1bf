/* Reading an answer: its head is kept until it is whole, its body is only counted. */
#include "http.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

size_t http_request(char out[HTTP_REQUEST_MAX], const char *path, bool last) {
    int length = snprintf(out, HTTP_REQUEST_MAX, "GET /%s HTTP/1.1\r\nHost: " VERIFIED_HOST "\r\n%s\r\n",
                          path, last ? "Connection: close\r\n" : "");
    return length < HTTP_REQUEST_MAX ? (size_t)length : HTTP_REQUEST_MAX - 1;
}

void answer_begin(struct answer *a, uint64_t body_bytes) {
    a->wanted = body_bytes;
    a->received = 0;
    a->state = ANSWER_MORE;
    a->head_whole = false;
    a->head_length = 0;
}

struct line {
    const char *at;
    size_t length;
};

/* The next line of a head, without its CRLF. The head is known to end in an empty one. */
static struct line next_line(const char **at, const char *end) {
    const char *stop = memmem(*at, (size_t)(end - *at), "\r\n", 2);
    struct line line = {*at, (size_t)(stop - *at)};
    *at = stop + 2;
    return line;
}

/* The value of a field if the line is that field: behind the colon, without blanks around it. */
static bool field(struct line line, const char *name, struct line *value) {
    size_t length = strlen(name);
    if (line.length <= length || strncasecmp(line.at, name, length) != 0 || line.at[length] != ':')
        return false;
    const char *at = line.at + length + 1, *end = line.at + line.length;
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    while (end > at && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    *value = (struct line){at, (size_t)(end - at)};
    return true;
}

static bool number(struct line text, uint64_t *out) {
    *out = 0;
    for (size_t i = 0; i < text.length; i++) {
        if (text.at[i] < '0' || text.at[i] > '9')
            return false;
        *out = *out * 10 + (uint64_t)(text.at[i] - '0');
    }
    return text.length > 0 && text.length <= 18;
}

/* Text of the server's goes into a reason, up to its first byte that is not printable ASCII. */
static int printable(struct line text) {
    int length = 0;
    while (length < 64 && (size_t)length < text.length && text.at[length] >= ' ' && text.at[length] <= '~')
        length++;
    return length;
}

static bool check_status(struct line line, struct fault *fault) {
    static const char good[] = "HTTP/1.1 200";
    size_t length = sizeof good - 1;
    if (line.length >= length && memcmp(line.at, good, length) == 0 &&
        (line.length == length || line.at[length] == ' '))
        return true;
    return fault_set(fault, FAULT_ERROR, "status: wanted %s, the server sent %.*s", good, printable(line),
                     line.at);
}

/* The body has to be as long as its head says, so what delimits it in another way is refused. */
static bool check_head(const struct answer *a, size_t head_bytes, struct fault *fault) {
    const char *at = a->head, *end = a->head + head_bytes;
    struct line value;
    uint64_t length = 0;
    unsigned lengths = 0;
    if (!check_status(next_line(&at, end), fault))
        return false;
    for (struct line line = next_line(&at, end); line.length > 0; line = next_line(&at, end)) {
        if (field(line, "Transfer-Encoding", &value))
            return fault_set(fault, FAULT_ERROR, "length: the answer has a Transfer-Encoding");
        if (!field(line, "Content-Length", &value))
            continue;
        if (!number(value, &length))
            return fault_set(fault, FAULT_ERROR, "length: the answer has a Content-Length of %.*s",
                             printable(value), value.at);
        lengths++;
    }
    if (lengths != 1)
        return fault_set(fault, FAULT_ERROR, "length: the answer has %u fields Content-Length", lengths);
    return length == a->wanted ||
           fault_set(fault, FAULT_ERROR, "length: wanted %llu bytes, the answer has %llu",
                     (unsigned long long)a->wanted, (unsigned long long)length);
}

/* Takes from the bytes what is still of the head; `*taken` is how many. */
static enum answer_state feed_head(struct answer *a, const char *bytes, size_t length, size_t *taken,
                                   struct fault *fault) {
    size_t before = a->head_length, room = HTTP_HEAD_MAX - before, copied = length < room ? length : room;
    memcpy(a->head + before, bytes, copied);
    size_t from = before < 3 ? 0 : before - 3; /* the end may have begun in earlier bytes */
    const char *end = memmem(a->head + from, before + copied - from, "\r\n\r\n", 4);
    a->head_length = before + copied;
    *taken = copied;
    if (end == NULL && a->head_length == HTTP_HEAD_MAX) {
        fault_set(fault, FAULT_ERROR, "status: the answer's head has no end within %d bytes", HTTP_HEAD_MAX);
        return ANSWER_WRONG;
    }
    if (end == NULL)
        return ANSWER_MORE;
    size_t head_bytes = (size_t)(end - a->head) + 4;
    *taken = head_bytes - before;
    a->head_whole = true;
    return check_head(a, head_bytes, fault) ? ANSWER_MORE : ANSWER_WRONG;
}

enum answer_state answer_feed(struct answer *a, const void *bytes, size_t length, struct fault *fault) {
    const char *at = bytes;
    size_t taken = 0;
    if (a->state == ANSWER_WRONG || length == 0)
        return a->state;
    if (!a->head_whole) {
        a->state = feed_head(a, at, length, &taken, fault);
        if (a->state == ANSWER_WRONG || !a->head_whole)
            return a->state;
    }
    a->received += length - taken;
    if (a->received > a->wanted) {
        fault_set(fault, FAULT_ERROR, "length: wanted %llu bytes, the server sent more",
                  (unsigned long long)a->wanted);
        return a->state = ANSWER_WRONG;
    }
    return a->state = a->received == a->wanted ? ANSWER_WHOLE : ANSWER_MORE;
}
