/* Which x86-64 instructions are atomic, and what they change. */
#ifndef KEXBENCH_LOCKED_H
#define KEXBENCH_LOCKED_H

#include <stdbool.h>
#include <stdint.h>

/* What the address of an operand is made of, before the instruction. */
struct registers {
    uint64_t
        general[16]; /* by their numbers in instructions: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8... */
    uint64_t fs_base, gs_base;
};

/* Cheap: false for nearly all instructions that are not atomic, true for all that are. */
bool may_be_locked(const uint8_t *code);

/* Whether the instruction at `code` reads and writes memory atomically: it has the prefix LOCK, or is XCHG
 * with memory, which needs none. `address` is then that of its operand. Reads no byte beyond the instruction.
 */
bool locked_operand(const uint8_t *code, const struct registers *registers, uintptr_t *address);

#endif
