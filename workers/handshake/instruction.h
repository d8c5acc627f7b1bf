/* How long x86-64 instructions are. */
#ifndef KEXBENCH_INSTRUCTION_H
#define KEXBENCH_INSTRUCTION_H

#include <stdint.h>

enum { INSTRUCTION_MAX = 15 };

struct instruction {
    unsigned length;
    unsigned relative_at; /* where it has the distance of its operand from the next instruction; 0: nowhere */
};

/* Reads no byte beyond the instruction. A length of 0: no instruction of 64-bit mode. */
struct instruction instruction_at(const uint8_t *code);

#endif
