/* Counts entries of a certificate's extensions, for libraries that do not tell them. */
#ifndef KEXBENCH_EXTENSIONS_H
#define KEXBENCH_EXTENSIONS_H

#include "case.h"

/* `certificate`: in DER (RFC 5280, section 4.1). What can't be read counts as nothing. */
void extensions_count(const unsigned char *certificate, size_t length, struct certificate_parts *out);

#endif
