/* The contract between the measured loop and one TLS library. A worker is linked with
 * exactly one backend; it defines the table `linked_backend`.
 *
 * A context holds a case's configuration for both roles. All threads share it, unless the case gives each its
 * own. A side is one end of one connection: it belongs to one thread and speaks through the pipes it was
 * given, which the core owns, fills and counts. */
#ifndef KEXBENCH_BACKEND_H
#define KEXBENCH_BACKEND_H

#include "case.h"
#include "clock.h"
#include "counters.h"
#include "pipe.h"

#include <stdbool.h>
#include <stdint.h>

enum role { ROLE_CLIENT, ROLE_SERVER };
enum progress { PROGRESS_WAIT, PROGRESS_DONE, PROGRESS_FAILED };

struct context; /* one case, set up; each backend has its own */
struct side;    /* one end of one connection */

/* What the core has to know of some libraries. */
struct traits {
    bool own_heap;         /* its memory is not malloc's, so nobody can count its allocations */
    bool own_threads;      /* which take the CPU from the turns: only a clock of CPU time is right */
    bool library_contexts; /* a process may have several of the library itself, as CONTEXT_LIBRARY asks for */
    bool session_cache;    /* a server keeps sessions itself, as TICKETS_CACHED asks for */
    bool early_tickets;    /* its TLS 1.3 servers send tickets before the client's Finished, where no record
                            * tells them apart: what its sides tell is all there is */
};

/* Of a library whose connections are of datagrams, and of their sides over a path, where time goes by and
 * packets are lost. There a side steps on after it is done: it acknowledges, and sends again. */
struct datagrams {
    /* When the side wants a turn though nothing came, by the clock's wall_ns; UINT64_MAX: never. */
    uint64_t (*due_ns)(struct side *side);
    /* How many packets had data that an earlier one had had. */
    unsigned (*sent_again)(struct side *side);
};

struct backend {
    const char *library;
    const struct traits *traits;       /* NULL: none of them */
    const struct datagrams *datagrams; /* NULL: its connections are streams of bytes */
    const struct clock *clock;
    const struct counter_event *counter_events; /* COUNTERS of them; NULL in virtual time */
    /* Once, before anything else. `settings` is NULL but for a backend that takes some. */
    bool takes_settings;
    bool (*start)(const char *settings, struct fault *fault);
    const char *(*version)(void);
    const char *(*version_text)(void);
    const char *(*architecture)(void); /* NULL, or returning NULL: ask the kernel */
    bool (*emulated)(void);            /* NULL: look whether an emulator runs this process */
    const char *(*cpu_features)(void); /* the library's own word on what it uses; NULL as above: none */

    /* Loads material and makes the configurations; the case has passed case_check. NULL and a fault on
     * failure. */
    struct context *(*setup)(const struct tls_case *tls_case, const char *material, struct fault *fault);
    void (*teardown)(struct context *context);
    /* Loads what handshakes are compared with, where set-up has left that out, as it does while a start is
     * timed (steps.h). NULL: set-up always does it. */
    bool (*expect)(struct context *context, struct fault *fault);

    /* Loads the server's certificate, key and all into a new configuration that replaces the one in use.
     * Sides that are open keep theirs, which is freed with the last of them. NULL: the library's backend has
     * none of it. */
    bool (*reload)(struct context *context, struct fault *fault);

    /* Of a client that was opened and has sent nothing: asks for a server by this name, of which the server
     * has as many as the case says (server_names.h), each with a configuration of its own. Whose it took,
     * `inspect` tells. NULL: the library's backend has one for all. */
    bool (*ask)(struct side *client, const char *name, struct fault *fault);

    /* A side's life; several threads may open sides of one context at the same time. `resume`: offer what
     * `keep` kept, with the case's early data; else a full handshake even where the case resumes. After open
     * succeeded, close is always called, whatever the steps said. With CONTEXT_CONNECTION, open loads the
     * role's configuration anew from the files, and close frees it. NULL and a fault on failure. */
    struct side *(*open)(struct context *context, enum role role, struct pipe_end pipes, bool resume,
                         struct fault *fault);
    /* Goes on until this side waits for the other's bytes, is done, or failed. Early data is part of it. */
    enum progress (*step)(struct side *side, struct fault *fault);
    /* Of a side that is done. Application data: how many bytes went out or came in, which may be fewer than
     * asked for; 0 when nothing came, be it that the other side has closed, and -1 and a fault. Receiving
     * takes in tickets too. Over a path datagrams are sent again from `data` itself, which lives as long as
     * the side. */
    long (*send)(struct side *side, const void *data, size_t length, struct fault *fault);
    long (*receive)(struct side *side, void *data, size_t size, struct fault *fault);
    /* Sends the close_notify and waits for the other side's. */
    enum progress (*finish)(struct side *side, struct fault *fault);
    /* What this side reports, of a handshake that is done. A peer certificate other than the case's is a
     * fault of its own. Words are constants, the library's
     * or of the context, or made for ever (words.h). */
    bool (*inspect)(struct side *side, struct negotiated *out, struct fault *fault);
    /* Of a client that is done: takes over the session that later handshakes resume, reading a ticket that
     * still lies in its pipe. Never concurrent with `open`. */
    bool (*keep)(struct side *client, struct fault *fault);
    void (*close)(struct side *side);
};

extern const struct backend linked_backend;

#endif
