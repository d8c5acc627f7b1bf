/* The reader of answers: it takes what servers send, however it was cut, and everything else has a reason. */
#include "http.h"

#include "check.h"

#define HEAD "HTTP/1.1 200 OK\r\nServer: x\r\n"

static struct answer answer;
static struct fault fault;

static enum answer_state feed(const char *text, size_t step) {
    enum answer_state state = ANSWER_MORE;
    size_t length = strlen(text);
    memset(&fault, 0, sizeof fault);
    answer_begin(&answer, 4);
    for (size_t at = 0; at < length; at += step)
        state = answer_feed(&answer, text + at, length - at < step ? length - at : step, &fault);
    return state;
}

static void writes_requests(void) {
    char text[HTTP_REQUEST_MAX], path[VALUE_MAX + 1];
    size_t length = http_request(text, "4096.bin", true);
    CHECK_NUMBER(length, strlen(text));
    CHECK_TEXT(text, "GET /4096.bin HTTP/1.1\r\nHost: kexbench.invalid\r\nConnection: close\r\n\r\n");
    http_request(text, "a", false);
    CHECK_TEXT(text, "GET /a HTTP/1.1\r\nHost: kexbench.invalid\r\n\r\n");
    memset(path, 'a', VALUE_MAX);
    path[VALUE_MAX] = '\0';
    length = http_request(text, path, true);
    CHECK_NUMBER(length, strlen(text));
    CHECK_TEXT(text + strlen(text) - 4, "\r\n\r\n");
}

static void takes_answers(void) {
    static const char *const answers[] = {
        HEAD "Content-Length: 4\r\n\r\nbody",
        HEAD "content-length:4\r\nContent-Type: text/plain\r\n\r\nbody",
        HEAD "CONTENT-LENGTH: \t 4 \t\r\n\r\n\r\n\r\n",
        "HTTP/1.1 200\r\nContent-Length: 0004\r\n\r\nbody",
    };
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        for (size_t step = 1; step <= strlen(answers[i]); step++) {
            CHECK(feed(answers[i], step) == ANSWER_WHOLE);
            CHECK_NUMBER(answer.received, 4);
        }
    }
    CHECK(feed(HEAD "Content-Length: 4\r\n\r\nbod", 1) == ANSWER_MORE);
    CHECK(feed("HTTP/1.1 200 OK\r\n", 1) == ANSWER_MORE);
}

static void takes_an_empty_body(void) {
    static const char text[] = HEAD "Content-Length: 0\r\n\r\n";
    answer_begin(&answer, 0);
    CHECK(answer_feed(&answer, text, sizeof text - 2, &fault) == ANSWER_MORE);
    CHECK(answer_feed(&answer, "\n", 1, &fault) == ANSWER_WHOLE);
}

static void gives_reasons(void) {
    static const struct {
        const char *text, *reason;
    } wrong[] = {
        {"HTTP/1.1 404 Not Found\r\n\r\n",
         "status: wanted HTTP/1.1 200, the server sent HTTP/1.1 404 Not Found"},
        {"HTTP/1.1 2000\r\n\r\n", "status: wanted HTTP/1.1 200, the server sent HTTP/1.1 2000"},
        {"HTTP/1.0 200 OK\r\n\r\n", "status: wanted HTTP/1.1 200, the server sent HTTP/1.0 200 OK"},
        {"\x01\r\n\r\n", "status: wanted HTTP/1.1 200, the server sent "},
        {HEAD "\r\n", "length: the answer has 0 fields Content-Length"},
        {HEAD "Content-Length: 4\r\nContent-Length: 4\r\n\r\n",
         "length: the answer has 2 fields Content-Length"},
        {HEAD "Content-Length: 5\r\n\r\n", "length: wanted 4 bytes, the answer has 5"},
        {HEAD "Content-Length: -4\r\n\r\n", "length: the answer has a Content-Length of -4"},
        {HEAD "Content-Length: 18446744073709551620\r\n\r\n",
         "length: the answer has a Content-Length of 18446744073709551620"},
        {HEAD "Content-Length:\r\n\r\n", "length: the answer has a Content-Length of "},
        {HEAD "Content-Length : 4\r\n\r\n", "length: the answer has 0 fields Content-Length"},
        {HEAD "Transfer-Encoding: chunked\r\n\r\n", "length: the answer has a Transfer-Encoding"},
        {HEAD "Content-Length: 4\r\n\r\nbody!", "length: wanted 4 bytes, the server sent more"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        for (size_t step = 1; step <= strlen(wrong[i].text); step++) {
            CHECK(feed(wrong[i].text, step) == ANSWER_WRONG);
            CHECK_TEXT(fault.reason, wrong[i].reason);
        }
    }
    CHECK(answer_feed(&answer, "more", 4, &fault) == ANSWER_WRONG);
}

static void bounds_heads(void) {
    static char text[HTTP_HEAD_MAX + 1];
    memset(text, 'x', HTTP_HEAD_MAX);
    CHECK(feed(text, HTTP_HEAD_MAX) == ANSWER_WRONG);
    CHECK_TEXT(fault.reason, "status: the answer's head has no end within 8192 bytes");
    text[HTTP_HEAD_MAX - 1] = '\0';
    CHECK(feed(text, 1000) == ANSWER_MORE);
}

int main(void) {
    sentence("a request names its path and its host, and the last one asks to close", writes_requests);
    sentence("an answer is taken however its bytes were cut", takes_answers);
    sentence("a body may be empty", takes_an_empty_body);
    sentence("another status and another length are refused with a reason", gives_reasons);
    sentence("a head is bounded", bounds_heads);
    return check_failures != 0;
}
