/* The little HTTP/1.1 that a load needs (RFC 9112): a GET request, and an answer whose body has a length that
 * is known beforehand. Pure: bytes in, a verdict out. */
#ifndef KEXBENCH_HTTP_H
#define KEXBENCH_HTTP_H

#include "case.h"

#include <stdint.h>

/* Apache httpd, nginx and HAProxy send heads of some 250 bytes. */
enum { HTTP_HEAD_MAX = 8192, HTTP_REQUEST_MAX = VALUE_MAX + 128 };

enum answer_state { ANSWER_MORE, ANSWER_WHOLE, ANSWER_WRONG };

struct answer {
    uint64_t wanted;   /* bytes of body */
    uint64_t received; /* the same, so far */
    enum answer_state state;
    bool head_whole;
    size_t head_length;
    char head[HTTP_HEAD_MAX];
};

/* The request for `/path`; `last` asks the server to close after its answer. Returns its length. */
size_t http_request(char out[HTTP_REQUEST_MAX], const char *path, bool last);

void answer_begin(struct answer *answer, uint64_t body_bytes);
/* Goes on reading, however the bytes are cut. ANSWER_WRONG: the fault says why, whatever follows. */
enum answer_state answer_feed(struct answer *answer, const void *bytes, size_t length, struct fault *fault);

#endif
