/* Text of any bytes becomes JSON, and what was UTF-8 already is told as it was. */
#include "json.h"

#include "json_check.h"

/* The text as a reader has it: escapes of one character undone. NULL: a byte was replaced. */
static char *unquoted(const char *quoted) {
    size_t length = strlen(quoted), used = 0;
    char *out = calloc(1, length);
    demand(out != NULL);
    for (const char *at = quoted + 1; at < quoted + length - 1; at++) {
        if (strncmp(at, "\\ufffd", 6) == 0) {
            free(out);
            return NULL;
        }
        if (*at == '\\' && at[1] == 'u') {
            char digits[5] = {at[2], at[3], at[4], at[5], '\0'};
            out[used++] = (char)strtoul(digits, NULL, 16);
            at += 5;
        } else {
            at += *at == '\\';
            out[used++] = *at;
        }
    }
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *quoted = NULL, *text = strndup((const char *)data, size);
    size_t bytes = 0;
    FILE *out = open_memstream(&quoted, &bytes);
    demand(text != NULL && out != NULL);
    json_quote(out, text);
    demand(fclose(out) == 0 && strlen(quoted) == bytes && json_string(quoted) == quoted + bytes);
    const char *at = text;
    while (*at != '\0' && utf8_bytes(at) > 0)
        at += utf8_bytes(at);
    char *told = unquoted(quoted);
    demand((told != NULL) == (*at == '\0') && (told == NULL || strcmp(told, text) == 0));
    free(told);
    free(quoted);
    free(text);
    return 0;
}
