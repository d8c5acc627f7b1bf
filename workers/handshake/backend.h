/* The contract between the measured loop and one TLS library. A worker is linked with
 * exactly one backend; it defines the table `backend`. One pair (a client and a server in
 * one process, joined by memory) exists at a time, inside its context. */
#ifndef KEXBENCH_BACKEND_H
#define KEXBENCH_BACKEND_H

#include "case.h"
#include "clock.h"

#include <stdbool.h>
#include <stdint.h>

enum progress { PROGRESS_WAIT, PROGRESS_DONE, PROGRESS_FAILED };

struct context; /* one case, set up; each backend has its own */

struct backend {
    const char *library;
    const struct clock *clock;
    /* Once, before anything else. `settings` is NULL but for a backend that takes some. */
    bool takes_settings;
    bool (*start)(const char *settings, struct fault *fault);
    const char *(*version)(void);
    const char *(*version_text)(void);
    const char *(*architecture)(void); /* NULL, or returning NULL: ask the kernel */

    /* Loads material and makes both configurations; the case has passed case_check. NULL and a fault on
     * failure. */
    struct context *(*setup)(const struct tls_case *tls_case, const char *material, struct fault *fault);
    void (*teardown)(struct context *context);

    /* A pair's life. After open succeeded, close is always called, whatever the steps said. */
    bool (*open)(struct context *context, struct fault *fault);
    enum progress (*client_step)(struct context *context, struct fault *fault);
    enum progress (*server_step)(struct context *context, struct fault *fault);
    /* What each side reports. A peer certificate other than the case's is a fault of its own.
     * The words stay valid until the next call on this context. */
    bool (*inspect)(struct context *context, struct negotiated *client, struct negotiated *server,
                    struct fault *fault);
    void (*bytes_sent)(const struct context *context, uint64_t *client, uint64_t *server);
    void (*close)(struct context *context);
};

extern const struct backend backend;

#endif
