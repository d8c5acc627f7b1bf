/* JSON emission. Output is always valid JSON and valid UTF-8, whatever the input bytes. */
#include "json.h"

#include <inttypes.h>
#include <string.h>

/* Length of the valid UTF-8 sequence at `s`, or 0. Overlong forms, surrogates and values above
 * U+10FFFF are not valid; a NUL ends every check, so nothing is read past the end. */
static size_t utf8_length(const unsigned char *s) {
    size_t length;
    unsigned least = 0x80, most = 0xBF; /* bounds of the second byte */
    if (s[0] < 0x80)
        return 1;
    if (s[0] >= 0xC2 && s[0] <= 0xDF) {
        length = 2;
    } else if (s[0] >= 0xE0 && s[0] <= 0xEF) {
        length = 3;
        least = s[0] == 0xE0 ? 0xA0 : 0x80;
        most = s[0] == 0xED ? 0x9F : 0xBF;
    } else if (s[0] >= 0xF0 && s[0] <= 0xF4) {
        length = 4;
        least = s[0] == 0xF0 ? 0x90 : 0x80;
        most = s[0] == 0xF4 ? 0x8F : 0xBF;
    } else {
        return 0;
    }
    if (s[1] < least || s[1] > most)
        return 0;
    for (size_t i = 2; i < length; i++) {
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    }
    return length;
}

void json_quote(FILE *out, const char *text) {
    const unsigned char *s = (const unsigned char *)text;
    fputc('"', out);
    while (*s != '\0') {
        size_t length = utf8_length(s);
        if (length == 0) {
            fputs("\\ufffd", out);
            s++;
        } else if (*s == '"' || *s == '\\') {
            fputc('\\', out);
            fputc(*s++, out);
        } else if (*s < 0x20 || *s == 0x7F) {
            fprintf(out, "\\u%04x", *s++);
        } else {
            fwrite(s, 1, length, out);
            s += length;
        }
    }
    fputc('"', out);
}

static void key_of(struct json *json, const char *key) {
    if (json->comma)
        fputc(',', json->out);
    json->comma = true;
    if (key != NULL) {
        json_quote(json->out, key);
        fputc(':', json->out);
    }
}

void json_open(struct json *json, const char *key) {
    key_of(json, key);
    fputc('{', json->out);
    json->comma = false;
}

void json_close(struct json *json) {
    fputc('}', json->out);
    json->comma = true;
}

void json_open_list(struct json *json, const char *key) {
    key_of(json, key);
    fputc('[', json->out);
    json->comma = false;
}

void json_close_list(struct json *json) {
    fputc(']', json->out);
    json->comma = true;
}

void json_text(struct json *json, const char *key, const char *value) {
    if (value == NULL) {
        json_null(json, key);
        return;
    }
    key_of(json, key);
    json_quote(json->out, value);
}

void json_number(struct json *json, const char *key, uint64_t value) {
    key_of(json, key);
    fprintf(json->out, "%" PRIu64, value);
}

void json_numbers(struct json *json, const char *key, const uint64_t *values, uint64_t count) {
    key_of(json, key);
    fputc('[', json->out);
    for (uint64_t i = 0; i < count; i++)
        fprintf(json->out, "%s%" PRIu64, i == 0 ? "" : ",", values[i]);
    fputc(']', json->out);
}

void json_bool(struct json *json, const char *key, bool value) {
    key_of(json, key);
    fputs(value ? "true" : "false", json->out);
}

void json_null(struct json *json, const char *key) {
    key_of(json, key);
    fputs("null", json->out);
}
