/* Emission of one flat-or-nested JSON object, one value at a time. */
#ifndef KEXBENCH_JSON_H
#define KEXBENCH_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
    FILE *out;
    bool comma; /* does the next member need one before it? */
};

void json_open(struct json *json, const char *key); /* key NULL: the outermost object */
void json_close(struct json *json);
void json_open_list(struct json *json, const char *key); /* its members have no key */
void json_close_list(struct json *json);
void json_text(struct json *json, const char *key, const char *value); /* NULL becomes null */
void json_number(struct json *json, const char *key, uint64_t value);
void json_numbers(struct json *json, const char *key, const uint64_t *values, uint64_t count);
void json_bool(struct json *json, const char *key, bool value);
void json_null(struct json *json, const char *key);

/* A quoted string; bytes that are not UTF-8 (library error text can hold any) become U+FFFD. */
void json_quote(FILE *out, const char *text);

#endif
