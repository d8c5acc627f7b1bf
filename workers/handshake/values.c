/* Values: bounded, and nothing else than what is allowed. */
#include "values.h"

#include <string.h>

bool value_decimal(const char *text, uint64_t least, uint64_t most, uint64_t *out) {
    size_t length = strlen(text);
    if (length == 0 || length > 18 || (length > 1 && text[0] == '0'))
        return false;
    uint64_t value = 0;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9')
            return false;
        value = value * 10 + (uint64_t)(*text - '0');
    }
    *out = value;
    return value >= least && value <= most;
}

bool value_whole(const char *text, uint64_t least, uint64_t most, unsigned *out) {
    uint64_t value;
    if (!value_decimal(text, least, most, &value))
        return false;
    *out = (unsigned)value;
    return true;
}

bool value_yes_or_no(const char *text, bool *out) {
    *out = strcmp(text, "yes") == 0;
    return *out || strcmp(text, "no") == 0;
}

bool value_copy(char to[VALUE_MAX + 1], const char *value) {
    memcpy(to, value, strlen(value) + 1); /* the length was checked with the character set */
    return true;
}

bool value_file(char to[VALUE_MAX + 1], const char *value) {
    return value[0] != '.' && value_copy(to, value);
}

bool store_id(struct request *r, const char *v) {
    return value_copy(r->tls_case.id, v);
}
