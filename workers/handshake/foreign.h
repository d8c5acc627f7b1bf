/* The border to a library that is not written in C. Its glue is a static library of plain functions, linked
 * into this worker, so that the measured loop, the clocks, the proof and the records are the same code for
 * every library. backend_foreign.c makes a backend (backend.h) of them.
 *
 * Numbers are IANA's, as in iana.h. Handles are words of which 0 is none: the other language knows what
 * stands behind them. Nothing here is const, since cgo repeats these declarations without it. */
#ifndef KEXBENCH_FOREIGN_H
#define KEXBENCH_FOREIGN_H

#include "backend.h"

#include <stddef.h>
#include <stdint.h>

/* In views: this side can't tell, or there is none. Several fields know only one of the two. */
enum { FOREIGN_UNKNOWN = -1, FOREIGN_NONE = 0 };

/* A case, flattened. It and its words live as long as the context. */
struct foreign_case {
    int protocol; /* 0x0303 or 0x0304; 0: default settings, and the next six are 0 */
    int suite;
    int group;
    int retried_group; /* of the client's key share where the server shall ask for another; else 0 */
    int signature;     /* the one scheme that is offered, of both certificates */
    int curve;         /* of an ECDSA certificate: a library that demands it offers it after the group */
    int rsa_bits;
    int client_authentication;
    int verification;     /* the client verifies, and with client_authentication the server */
    int resumption;       /* enum resumption of case.h */
    int early_data_bytes; /* that a client which resumes sends */
    int anti_replay;
    int default_tickets; /* as many as the library issues; else none but what a resumption needs */
    int per_connection;  /* `open` loads the role's configuration anew from the files */
    char *certificate;   /* paths; NULL: none. The worker has read the files, but for the key */
    char *key;
    char *trust_anchors; /* the first is the chain's own */
    char *ocsp_response; /* DER */
    char *host;          /* what a client asks for, and verifies */
};

struct foreign_proof; /* the worker's own */

/* What one side reports of a handshake that is done. All is FOREIGN_UNKNOWN when it is handed out. */
struct foreign_view {
    int protocol;
    int suite;
    int group;            /* NONE: no key was exchanged */
    int signature;        /* the server's; NONE: nothing was signed, as in a resumption */
    int client_signature; /* NONE: the client showed no certificate */
    int resumed;          /* 0 or 1; these two have to be told */
    int verified_length;  /* certificates from the peer's to the trust anchor; 0: the library verified none */
    int extended_master_secret;
    int early_data_bytes; /* that the server accepted */
    int tickets;          /* that a client took in, or a server issued */
    struct foreign_proof *proof;
};

/* --- What the library exports. --- */

extern const char foreign_library[]; /* its name in a reference, such as rustls */
extern const struct traits foreign_traits;
/* Once, before anything else. 0: a fault was set (foreign_fail). */
int foreign_start(struct fault *fault);
char *foreign_version(void);
char *foreign_version_text(void);
char *foreign_cpu_features(void); /* NULL: it has no word on that */
/* Keys and configurations of both roles. Faults of the key come first, with the reasons of foreign_fail; then
 * that the chain does not lead to the first trust anchor; then what the library lacks. 0: a fault. */
uintptr_t foreign_setup(struct foreign_case *tls_case, struct fault *fault);
void foreign_teardown(uintptr_t context);
/* As in backend.h: several threads open sides of one context at the same time. `role`: enum role. */
uintptr_t foreign_open(uintptr_t context, int role, void *in, void *out, int resume, struct fault *fault);
int foreign_step(uintptr_t side, struct fault *fault); /* enum progress */
long foreign_send(uintptr_t side, void *data, size_t length, struct fault *fault);
long foreign_receive(uintptr_t side, void *data, size_t size, struct fault *fault);
int foreign_finish(uintptr_t side, struct fault *fault); /* enum progress */
/* 0: a fault. Certificates of a handshake that is not resumed are shown (foreign_show). */
int foreign_inspect(uintptr_t side, struct foreign_view *view, struct fault *fault);
int foreign_keep(uintptr_t client, struct fault *fault);
void foreign_close(uintptr_t side);

/* --- What the worker exports. --- */

/* How many bytes were taken or given; 0 when there is no room or nothing to read. */
size_t foreign_pipe_read(void *pipe, void *data, size_t size);
size_t foreign_pipe_write(void *pipe, const void *data, size_t length);

enum { FOREIGN_FAULT_UNSUPPORTED, FOREIGN_FAULT_ERROR, FOREIGN_FAULT_MISMATCH };
/* The reason is ours, in plain words ("the key can't be read", "the key does not belong to the certificate",
 * "verification: the chain does not lead to the first trust anchor"); the detail is the library's own text.
 */
void foreign_fail(struct fault *fault, int kind, const char *reason, size_t reason_length, const char *detail,
                  size_t detail_length);

enum { FOREIGN_PEER, FOREIGN_OWN, FOREIGN_STAPLED };
/* During `inspect`: certificates in DER in the order of the chain, and the stapled response that a client
 * got. They are compared with the case's before this returns. */
void foreign_show(struct foreign_view *view, int what, const void *bytes, size_t length);

#endif
