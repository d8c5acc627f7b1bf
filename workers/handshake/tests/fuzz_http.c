/* The answer of a server, of any bytes: the verdict does not depend on how they were cut, and what is whole
 * has the length that was wanted. The first byte says how they are cut, the second how long a body is wanted.
 */
#include "http.h"

#include "fuzz.h"

static struct answer whole, cut;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fault fault = {0}, cut_fault = {0};
    if (size < 2)
        return 0;
    size_t step = 1u + data[0], wanted = data[1];
    data += 2, size -= 2;
    answer_begin(&whole, wanted);
    answer_begin(&cut, wanted);
    enum answer_state state = answer_feed(&whole, data, size, &fault);
    for (size_t at = 0; at < size; at += step)
        answer_feed(&cut, data + at, size - at < step ? size - at : step, &cut_fault);
    demand(cut.state == state && cut.head_whole == whole.head_whole);
    demand(whole.head_length <= size && whole.head_length <= HTTP_HEAD_MAX);
    demand((state == ANSWER_WRONG) == (fault.reason[0] != '\0'));
    demand(strcmp(fault.reason, cut_fault.reason) == 0);
    demand(state != ANSWER_WHOLE || (whole.received == wanted && cut.received == wanted));
    demand(state != ANSWER_MORE || !whole.head_whole || whole.received < wanted);
    return 0;
}
