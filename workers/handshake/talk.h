/* What a crossing does after its handshake: a request and its answer. Each goes as far as there are bytes, or
 * room for them. */
#ifndef KEXBENCH_TALK_H
#define KEXBENCH_TALK_H

#include "crossing.h"

/* How long ago its connection began; and a fault that says what became of a side's, for `outcome`. */
uint64_t talk_age_ns(const struct crossing *crossing);
enum outcome talk_failed(struct shore *shore, enum outcome outcome, const char *what);

/* The client's, once. */
enum outcome talk_ask(struct shore *shore);
enum outcome talk_take_answer(struct shore *shore);
/* The server's. */
enum outcome talk_answer(struct shore *shore);

#endif
