/* What the fake backend is told to do, by --fake. */
#ifndef KEXBENCH_FAKE_SETTINGS_H
#define KEXBENCH_FAKE_SETTINGS_H

#include "case.h"

#include <stdint.h>

enum { FAKE_HELLO_MIN = 150, FAKE_HELLO_MAX = 4096 }; /* of a hello's record, in bytes */

/* Fractions are kept in parts per million: floating point may be contracted differently by another compiler.
 */
struct fake_settings {
    char version[32], architecture[32];
    int64_t seed, client_ns, server_ns, overhead_ns, background_ns, noise_ppm, step_ppm, step_after;
    int64_t start_ns;
    int64_t contention_ppm, coherency_ppm;
    int64_t client_hello_bytes, server_hello_bytes; /* of the whole record */
    int64_t emulated;                               /* negative: what is so */
    int64_t age_ns, leak_bytes; /* more for each 1,000 handshakes before; kept of each for ever */
    int64_t unsupported, fail_after, mismatch_after, crash_after, hang_after, lie, lie_after;
};

/* What the setting `lie` makes the fake do against the case. */
enum {
    LIE_NONE,
    LIE_MASTER_SECRET,
    LIE_HELLO_RETRY,
    LIE_RESUMPTION,
    LIE_CLIENT_SIGNATURE,
    LIE_KEY_SHARE,
    LIE_TICKET,
    LIE_VERIFICATION,
    LIE_CONTENT,
    LIE_RECORDS,
    LIE_ENCRYPT_THEN_MAC,
    LIE_ASKED_NAME,
    LIE_SERVED_NAME
};

extern struct fake_settings settings;

/* "name=value,name=value", or NULL for none. */
bool fake_settings_parse(const char *text, struct fault *fault);

#endif
