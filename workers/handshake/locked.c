/* The encoding is that of the Intel SDM, volume 2: chapter 2 ("Instruction Format") for prefixes, ModRM and
 * SIB, and the pages of LOCK and XCHG for the instructions. */
#include "locked.h"

#include <stddef.h>
#include <string.h>

enum { LOCK = 0xF0, OPERAND_SIZE = 0x66, ADDRESS_SIZE = 0x67, FS = 0x64, GS = 0x65 };
enum { REX_B = 1, REX_X = 2, REX_R = 4, REX_W = 8 };
enum { RSP = 4, RBP = 5 };

struct reader {
    const uint8_t *next;
    bool locked, short_operands, short_addresses;
    uint8_t segment, rex;
    unsigned opcode; /* of two bytes: 0x0F00 and the second */
};

static bool is_rex(uint8_t byte) {
    return (byte & 0xF0) == 0x40;
}

static bool is_exchange(unsigned opcode) {
    return opcode == 0x86 || opcode == 0x87;
}

/* Of the instructions that LOCK may stand before, except BT's. */
static bool is_lockable(unsigned opcode) {
    bool arithmetic = opcode < 0x34 && (opcode & 7) < 2; /* ADD to XOR, register to memory */
    return arithmetic || opcode == 0x80 || opcode == 0x81 || opcode == 0x83 || opcode == 0xF6 ||
           opcode == 0xF7 || opcode == 0xFE || opcode == 0xFF || opcode == 0x0FB0 || opcode == 0x0FB1 ||
           opcode == 0x0FC0 || opcode == 0x0FC1 || opcode == 0x0FC7;
}

/* BTS, BTR and BTC with the bit's number in a register, by which they reach beyond their operand. */
static bool tests_far_bits(unsigned opcode) {
    return opcode == 0x0FAB || opcode == 0x0FB3 || opcode == 0x0FBB;
}

bool may_be_locked(const uint8_t *code) {
    switch (*code) {
    case LOCK:
    case OPERAND_SIZE:
    case ADDRESS_SIZE:
    case FS:
    case GS:
    case 0x26: /* the segments that no longer count */
    case 0x2E:
    case 0x36:
    case 0x3E:
    case 0xF2: /* REPNE and REP; before LOCK and XCHG: XACQUIRE and XRELEASE */
    case 0xF3:
        return true;
    default:
        return is_exchange(*code) || is_rex(*code);
    }
}

static struct reader read_opcode(const uint8_t *code) {
    struct reader i = {.next = code};
    for (; !is_rex(*i.next) && !is_exchange(*i.next) && may_be_locked(i.next); i.next++) {
        i.locked = i.locked || *i.next == LOCK;
        i.short_operands = i.short_operands || *i.next == OPERAND_SIZE;
        i.short_addresses = i.short_addresses || *i.next == ADDRESS_SIZE;
        i.segment = *i.next == FS || *i.next == GS ? *i.next : i.segment;
    }
    if (is_rex(*i.next))
        i.rex = *i.next++;
    i.opcode = *i.next++;
    if (i.opcode == 0x0F && i.locked)
        i.opcode = 0x0F00u | *i.next++;
    return i;
}

/* Bytes after the operand's address, by which one that is relative to the next instruction moves. */
static unsigned immediate_bytes(const struct reader *i) {
    if (i->opcode == 0x81)
        return i->short_operands ? 2 : 4;
    return i->opcode == 0x80 || i->opcode == 0x83 || i->opcode == 0x0FBA ? 1 : 0;
}

static uint64_t displacement(const uint8_t **at, unsigned bytes) {
    int8_t one;
    int32_t four;
    if (bytes == 0)
        return 0;
    memcpy(bytes == 1 ? (void *)&one : (void *)&four, *at, bytes);
    *at += bytes;
    return bytes == 1 ? (uint64_t)one : (uint64_t)four;
}

/* Of the operand that ModRM and what follows say. `mode` is below 3. */
static uint64_t operand(struct reader *i, unsigned mode, unsigned base, const struct registers *registers) {
    uint64_t sum = 0;
    unsigned offset_bytes = mode == 1 ? 1 : mode == 2 ? 4 : 0;
    bool relative = false;
    if (base == RSP) { /* a SIB byte */
        uint8_t sib = *i->next++;
        unsigned index = (sib >> 3 & 7u) | (i->rex & REX_X ? 8u : 0);
        base = sib & 7u;
        if (index != RSP)
            sum += registers->general[index] << (sib >> 6);
        if (base == RBP && mode == 0)
            offset_bytes = 4;
        else
            sum += registers->general[base | (i->rex & REX_B ? 8u : 0)];
    } else if (base == RBP && mode == 0) {
        relative = true;
        offset_bytes = 4;
    } else {
        sum = registers->general[base | (i->rex & REX_B ? 8u : 0)];
    }
    sum += displacement(&i->next, offset_bytes);
    return relative ? sum + (uintptr_t)(i->next + immediate_bytes(i)) : sum;
}

/* By how many bytes the word with the bit is away from the operand. */
static uint64_t far(const struct reader *i, uint64_t bit) {
    if (i->rex & REX_W)
        return (uint64_t)((int64_t)bit >> 6) * 8;
    return i->short_operands ? (uint64_t)((int16_t)bit >> 4) * 2 : (uint64_t)((int32_t)bit >> 5) * 4;
}

bool locked_operand(const uint8_t *code, const struct registers *registers, uintptr_t *address) {
    struct reader i = read_opcode(code);
    bool near_bits = i.opcode == 0x0FBA, far_bits = tests_far_bits(i.opcode);
    if (!is_exchange(i.opcode) && !(i.locked && (is_lockable(i.opcode) || near_bits || far_bits)))
        return false;
    uint8_t modrm = *i.next++;
    if (modrm >> 6 == 3)
        return false;
    uint64_t sum = operand(&i, modrm >> 6, modrm & 7u, registers);
    if (far_bits)
        sum += far(&i, registers->general[(modrm >> 3 & 7u) | (i.rex & REX_R ? 8u : 0)]);
    if (i.short_addresses)
        sum = (uint32_t)sum;
    sum += i.segment == FS ? registers->fs_base : i.segment == GS ? registers->gs_base : 0;
    *address = (uintptr_t)sum;
    return true;
}
