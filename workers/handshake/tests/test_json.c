/* JSON emission: valid JSON and valid UTF-8, whatever bytes a library's error text holds. */
#include "json.h"

#include "check.h"

#include <stdlib.h>

static void quotes(const char *text, const char *wanted) {
    char *bytes = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&bytes, &size);
    json_quote(out, text);
    fclose(out);
    CHECK_TEXT(bytes, wanted);
    free(bytes);
}

static void plain(void) {
    quotes("", "\"\"");
    quotes("no suitable key share", "\"no suitable key share\"");
    quotes("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x94\x91", "\"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x94\x91\"");
}

static void special(void) {
    quotes("a \"b\" \\ c", "\"a \\\"b\\\" \\\\ c\"");
    quotes("a\nb\tc\x01\x1f\x7f", "\"a\\u000ab\\u0009c\\u0001\\u001f\\u007f\"");
}

static void invalid(void) {
    quotes("\xff", "\"\\ufffd\"");
    quotes("a\x80z", "\"a\\ufffdz\"");
    quotes("\xc3", "\"\\ufffd\"");                                  /* cut off at the end */
    quotes("\xe2\x82", "\"\\ufffd\\ufffd\"");                       /* cut off in the middle */
    quotes("\xc0\xaf", "\"\\ufffd\\ufffd\"");                       /* overlong slash */
    quotes("\xe0\x80\xaf", "\"\\ufffd\\ufffd\\ufffd\"");            /* overlong in three */
    quotes("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"");            /* surrogate */
    quotes("\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""); /* above U+10FFFF */
    quotes("\xc3\"", "\"\\ufffd\\\"\"");                            /* must not swallow the quote */
}

static void objects(void) {
    char *bytes = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&bytes, &size);
    struct json json = {out, false};
    json_open(&json, NULL);
    json_text(&json, "a", "x");
    json_open(&json, "b");
    json_number(&json, "c", UINT64_MAX);
    json_bool(&json, "d", false);
    json_close(&json);
    json_null(&json, "e");
    json_text(&json, "f", NULL);
    json_close(&json);
    fclose(out);
    CHECK_TEXT(bytes, "{\"a\":\"x\",\"b\":{\"c\":18446744073709551615,\"d\":false},\"e\":null,\"f\":null}");
    free(bytes);
}

int main(void) {
    sentence("text is quoted as it is, in UTF-8", plain);
    sentence("quotes, backslashes and control characters are escaped", special);
    sentence("bytes that are not UTF-8 become the replacement character", invalid);
    sentence("objects nest and their commas stand right", objects);
    return check_failures != 0;
}
