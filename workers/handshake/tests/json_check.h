/* Is a text one JSON value, in UTF-8? A reader apart from json.c, as strict as RFC 8259, for fuzz targets. */
#ifndef KEXBENCH_JSON_CHECK_H
#define KEXBENCH_JSON_CHECK_H

#include "fuzz.h"

#include <ctype.h>

/* Behind the value, or NULL where there is none. A reader may go one byte behind the text, which is NUL. */
static inline const char *json_value(const char *at);

/* Bytes of the character, by its value and not by its bytes as json.c does it; 0: this is no UTF-8 (RFC
 * 3629). */
static inline size_t utf8_bytes(const char *at) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char first = (unsigned char)*at;
    size_t bytes = first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : first >> 3 == 30 ? 4 : 0;
    if (bytes < 2)
        return bytes;
    uint32_t value = first & (0x7Fu >> bytes);
    for (size_t i = 1; i < bytes; i++) {
        if (((unsigned char)at[i] & 0xC0) != 0x80)
            return 0;
        value = value << 6 | ((unsigned char)at[i] & 0x3F);
    }
    bool surrogate = value >= 0xD800 && value <= 0xDFFF;
    return value < least[bytes] || value > 0x10FFFF || surrogate ? 0 : bytes;
}

static inline const char *json_string(const char *at) {
    if (*at++ != '"')
        return NULL;
    while (*at != '"') {
        if ((unsigned char)*at < 0x20)
            return NULL;
        if (*at == '\\' && at[1] == 'u') {
            for (int digit = 2; digit < 6; digit++) {
                if (!isxdigit((unsigned char)at[digit]))
                    return NULL;
            }
            at += 6;
        } else if (*at == '\\') {
            if (at[1] == '\0' || strchr("\"\\/bfnrt", at[1]) == NULL)
                return NULL;
            at += 2;
        } else {
            size_t bytes = utf8_bytes(at);
            if (bytes == 0)
                return NULL;
            at += bytes;
        }
    }
    return at + 1;
}

static inline const char *json_members(const char *at) {
    for (;;) {
        at = json_string(at);
        if (at == NULL || *at++ != ':')
            return NULL;
        at = json_value(at);
        if (at == NULL || *at == '}')
            return at == NULL ? NULL : at + 1;
        if (*at++ != ',')
            return NULL;
    }
}

static inline const char *json_value(const char *at) {
    static const char *const words[] = {"true", "false", "null"};
    if (*at == '{')
        return at[1] == '}' ? at + 2 : json_members(at + 1);
    if (*at == '"')
        return json_string(at);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strncmp(at, words[i], strlen(words[i])) == 0)
            return at + strlen(words[i]);
    }
    size_t digits = strspn(at, "0123456789");
    return digits == 0 || (digits > 1 && *at == '0') ? NULL : at + digits;
}

#endif
