/* What the files of the GnuTLS backend share, and lend to the backend ngtcp2. */
#ifndef KEXBENCH_GNUTLS_BACKEND_H
#define KEXBENCH_GNUTLS_BACKEND_H

#include "backend.h"
#include "server_names.h"
#include "steps.h"

#include <gnutls/gnutls.h>

struct replay_store; /* gnutls_replay.c */

/* Written at set-up and by `keep` alone, so that sides of several threads may share it without a lock. The
 * one exception is `replay_store`, and a case with that has a single thread. */
struct configuration {
    gnutls_priority_t priority[2]; /* by whether the handshake resumes */
    gnutls_certificate_credentials_t credentials;
    gnutls_psk_client_credentials_t psk_client; /* with an external key, else NULL */
    gnutls_psk_server_credentials_t psk_server;
    gnutls_dh_params_t dh; /* custom parameters, else NULL */
};

/* One that was replaced while sides used it. */
struct retired {
    struct retired *next;
    struct configuration configuration;
};

struct context {
    struct tls_case tls_case;
    struct retired *retired;                /* freed when no side is open */
    unsigned open_servers;                  /* counted with reload_every alone, which takes one thread */
    char *folder;                           /* of the material */
    struct configuration configurations[2]; /* by role */
    struct server_name *names;       /* of a server with several, each with its configuration; else NULL */
    struct configuration *further;   /* those of all names but the first */
    gnutls_datum_t dh_prime;         /* of custom parameters, else empty */
    gnutls_datum_t chain[CHAIN_MAX]; /* the case's certificates in DER */
    unsigned chain_length;
    unsigned key_bits;        /* of the first one's key; 0 for keys of one size */
    gnutls_datum_t ocsp;      /* the response that the server staples */
    gnutls_datum_t kept;      /* the session that clients resume */
    gnutls_datum_t cached_id; /* the server's cache of the one session, RESUME_SESSION_ID */
    gnutls_datum_t cached_session;
    gnutls_datum_t ticket_key;
    gnutls_datum_t cookie_key;        /* of DTLS */
    unsigned char psk[PSK_BYTES];     /* of cases that have one */
    gnutls_anti_replay_t anti_replay; /* NULL without */
    struct replay_store *replay_store;
};

struct side {
    struct context *context;
    struct configuration own; /* this connection's; empty: the context's is used */
    enum role role;
    bool resumes;
    gnutls_session_t session;
    struct pipe_end pipes;
    unsigned early_to_send; /* application data that goes out with the client's first flight */
    bool takes_early;       /* a server that may be sent some */
    bool needs_cookie;      /* a DTLS server whose client has shown none */
    bool issues_ticket;     /* a TLS 1.3 server whose client keeps the session */
    long early_taken;
    int tickets;                      /* that a client took in; counted with TICKETS_DEFAULT alone */
    const struct server_name *served; /* whose configuration a server with several took */
};

/* gnutls_fault.c: puts the library's text for `code` into the fault's detail; false, for `return
 * gnutls_fault(...)`. */
bool gnutls_fault(struct fault *fault, enum fault_kind kind, const char *reason, int code);

/* Does the library's code say that it lacks something? */
enum fault_kind gnutls_kind_of(int code);

/* gnutls_context.c: a context is all zeros before it is filled, and cleared even if that failed. A side has
 * its first four members set; its session is closed even if opening it failed. `flags` are gnutls_init's. */
bool gnutls_start(struct fault *fault);
bool gnutls_context_fill(struct context *context, const struct tls_case *tls_case, const char *material,
                         struct fault *fault);
void gnutls_context_clear(struct context *context);
/* As the backend's `reload`. */
bool gnutls_context_reload(struct context *context, struct fault *fault);
bool gnutls_session_open(struct side *side, unsigned flags, struct fault *fault);
void gnutls_session_close(struct side *side);

/* gnutls_names.c: the library's names and ours. NULL where the library's has no counterpart. */
const char *gnutls_name_of_group(enum group group);
const char *gnutls_our_group(const char *name);
const char *gnutls_name_of_signature(const char *scheme, bool tls_1_3);
const char *gnutls_our_signature(const char *name);
/* The words of a priority string: "AEAD" goes with every cipher that is not of CBC. */
const char *gnutls_name_of_cipher(enum cipher cipher);
const char *gnutls_name_of_mac(enum cipher cipher);
bool gnutls_our_cbc(gnutls_cipher_algorithm_t cipher, gnutls_mac_algorithm_t mac, enum cipher *out);
const char *gnutls_name_of_key(enum key_type key_type);
const char *gnutls_our_key(const char *name);

/* gnutls_priority.c: exactly one protocol, cipher, group and signature scheme on each side. */
bool gnutls_make_priorities(const struct tls_case *tls_case, enum role role, gnutls_priority_t out[2],
                            struct fault *fault);

/* gnutls_material.c: checks that the files are the case's, and keeps of them what handshakes are compared
 * with. */
bool gnutls_load_expected(struct context *context, struct fault *fault);
/* Reads what the server staples, if anything. */
bool gnutls_load_ocsp(struct context *context, struct fault *fault);
/* Gives a role's credentials its certificates, key, DH parameters and trust anchors. */
bool gnutls_load_role(struct context *context, struct configuration *out, enum role role,
                      struct fault *fault);
/* Are two big-endian numbers equal? The library writes some with a leading zero and some without. */
bool gnutls_same_number(gnutls_datum_t a, gnutls_datum_t b);
unsigned gnutls_number_bits(gnutls_datum_t number);

/* gnutls_resume.c: what sides that resume, or are to be resumed, need. */
bool gnutls_make_resumption(struct context *context, struct fault *fault);
unsigned gnutls_resumption_flags(const struct context *context);
int gnutls_resumption_open(struct side *side);
bool gnutls_keep(struct side *client, struct fault *fault);
/* The same of a client that has read its ticket. */
bool gnutls_keep_session(struct side *client, struct fault *fault);

/* gnutls_sni.c: a server chooses its configuration by name, and tells whose it took, or NULL; as the
 * backend's `ask`. */
void gnutls_choose_by_name(struct side *server);
const char *gnutls_served_name(const struct side *server);
bool gnutls_ask(struct side *client, const char *name, struct fault *fault);

/* gnutls_psk.c: a role's credentials with the case's external key; a session's use of them; and what a side
 * negotiated in the place of certificates. */
bool gnutls_make_psk(struct context *context, struct configuration *out, enum role role, struct fault *fault);
void gnutls_free_psk(struct configuration *configuration);
int gnutls_use_psk(struct side *side, const struct configuration *from);
bool gnutls_proves_psk(struct side *side, struct negotiated *out, struct fault *fault);

/* gnutls_replay.c: a memory of ClientHellos, for the library's anti-replay. NULL: out of memory. */
enum { REPLAY_WINDOW_S = 10 }; /* the library's default */
struct replay_store *replay_store_new(void);
void replay_store_free(struct replay_store *store);
int replay_store_add(void *store, time_t expires, const gnutls_datum_t *key, const gnutls_datum_t *data);

bool gnutls_inspect(struct side *side, struct negotiated *out, struct fault *fault);

#endif
