/* Our words for numbers of IANA's registry "Transport Layer Security (TLS) Parameters", for libraries that
 * tell numbers. */
#ifndef KEXBENCH_IANA_H
#define KEXBENCH_IANA_H

#include "case.h"

/* Words are constants. NULL, or false: no case can ask for it. 0 is none: "-". */
const char *iana_protocol_word(unsigned version);
const char *iana_group_word(unsigned number);
const char *iana_signature_word(unsigned number);
/* The method of a TLS 1.3 suite is METHOD_DEFAULT, since the suite does not name one. */
bool iana_suite(unsigned number, enum cipher *cipher, enum method *method);

/* The other way. 0: there is none, as for custom DH and without a group. */
unsigned iana_group_number(enum group group);
unsigned iana_signature_number(const char *word);
/* The one suite of a case; 0 with default settings, and where TLS has none. */
unsigned iana_suite_number(const struct tls_case *tls_case);

#endif
