/* The tests' harness: named sentences, and a check that goes on after a failure. */
#ifndef KEXBENCH_CHECK_H
#define KEXBENCH_CHECK_H

#include <stdio.h>
#include <string.h>

static int check_failures;

#define CHECK(condition) check_that((condition), #condition, __FILE__, __LINE__)
#define CHECK_TEXT(got, wanted) check_text((got), (wanted), __FILE__, __LINE__)
#define CHECK_NUMBER(got, wanted)                                                                            \
    check_number((long long)(got), (long long)(wanted), #got, __FILE__, __LINE__)

static inline int check_that(int holds, const char *condition, const char *file, int line) {
    if (!holds) {
        check_failures++;
        printf("    %s:%d: not true: %s\n", file, line, condition);
    }
    return holds;
}

static inline int check_text(const char *got, const char *wanted, const char *file, int line) {
    if (got != NULL && strcmp(got, wanted) == 0)
        return 1;
    check_failures++;
    printf("    %s:%d:\n      wanted %s\n      got    %s\n", file, line, wanted,
           got == NULL ? "(null)" : got);
    return 0;
}

static inline int check_number(long long got, long long wanted, const char *what, const char *file,
                               int line) {
    if (got == wanted)
        return 1;
    check_failures++;
    printf("    %s:%d: %s: wanted %lld, got %lld\n", file, line, what, wanted, got);
    return 0;
}

static inline void sentence(const char *text, void (*test)(void)) {
    int before = check_failures;
    test();
    printf("%s %s\n", check_failures == before ? "  ok  " : "FAILED", text);
}

#endif
