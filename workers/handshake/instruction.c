/* The opcode maps of the Intel SDM, volume 2, appendix A: which opcodes have a ModRM byte, and what follows.
 */
#include "instruction.h"

#include <stdbool.h>

enum { REX_W = 8 };

/* What an instruction's bytes are made of, as far as they are read. */
struct reader {
    const uint8_t *start, *next;
    bool short_operands, short_addresses, wide;
    unsigned relative_at;
};

/* An opcode's operands. `word`: two or four bytes, by the operands' size. */
struct shape {
    bool valid, modrm, word;
    unsigned bytes;
};

static const struct shape NONE = {.valid = true}, MODRM = {.valid = true, .modrm = true}, INVALID = {false},
                          BYTE = {.valid = true, .bytes = 1}, MODRM_BYTE = {true, true, false, 1},
                          WORD = {.valid = true, .word = true}, MODRM_WORD = {true, true, true, 0};

static bool between(unsigned opcode, unsigned first, unsigned last) {
    return opcode >= first && opcode <= last;
}

/* The opcodes from 40 on, of one byte. */
static struct shape one_byte(unsigned opcode, const struct reader *r) {
    unsigned extension = *r->next >> 3 & 7u; /* in the ModRM byte, where there is one */
    switch (opcode) {
    case 0x60:
    case 0x61:
    case 0x82:
    case 0x9A:
    case 0xCE:
    case 0xD4:
    case 0xD5:
    case 0xD6:
    case 0xEA:
        return INVALID;
    case 0x68:
    case 0xA9:
        return WORD;
    case 0x69:
    case 0x81:
    case 0xC7:
        return MODRM_WORD;
    case 0x6A:
    case 0xA8:
    case 0xCD:
    case 0xEB:
        return BYTE;
    case 0x6B:
    case 0x80:
    case 0x83:
    case 0xC0:
    case 0xC1:
    case 0xC6:
        return MODRM_BYTE;
    case 0xA0:
    case 0xA1:
    case 0xA2:
    case 0xA3:
        return (struct shape){.valid = true, .bytes = r->short_addresses ? 4 : 8};
    case 0xC2:
    case 0xCA:
        return (struct shape){.valid = true, .bytes = 2};
    case 0xC8:
        return (struct shape){.valid = true, .bytes = 3};
    case 0xE8:
    case 0xE9:
        return (struct shape){.valid = true, .bytes = 4};
    case 0xF6:
        return extension < 2 ? MODRM_BYTE : MODRM;
    case 0xF7:
        return extension < 2 ? MODRM_WORD : MODRM;
    default:
        break;
    }
    if (between(opcode, 0x70, 0x7F) || between(opcode, 0xB0, 0xB7) || between(opcode, 0xE0, 0xE7))
        return BYTE;
    if (between(opcode, 0xB8, 0xBF))
        return r->wide ? (struct shape){.valid = true, .bytes = 8} : WORD;
    bool modrm = opcode == 0x63 || between(opcode, 0x84, 0x8F) || between(opcode, 0xD0, 0xD3) ||
                 between(opcode, 0xD8, 0xDF) || opcode >= 0xFE;
    return modrm ? MODRM : NONE;
}

static struct shape primary(unsigned opcode, const struct reader *r) {
    if (opcode >= 0x40)
        return one_byte(opcode, r);
    unsigned column = opcode & 7u; /* ADD, OR, ADC, SBB, AND, SUB, XOR, CMP */
    return column < 4 ? MODRM : column == 4 ? BYTE : column == 5 ? WORD : INVALID;
}

static bool has_byte(unsigned opcode) {
    return between(opcode, 0x70, 0x73) || opcode == 0xC2 || between(opcode, 0xC4, 0xC6);
}

/* After 0F. */
static struct shape secondary(unsigned opcode) {
    if (between(opcode, 0x80, 0x8F))
        return (struct shape){.valid = true, .bytes = 4};
    if (opcode == 0x04 || opcode == 0x0A || opcode == 0x0C || between(opcode, 0x24, 0x27))
        return INVALID;
    bool alone = between(opcode, 0x05, 0x09) || opcode == 0x0B || opcode == 0x0E ||
                 between(opcode, 0x30, 0x37) || opcode == 0x77 || between(opcode, 0xA0, 0xA2) ||
                 between(opcode, 0xA8, 0xAA) || between(opcode, 0xC8, 0xCF);
    if (alone)
        return NONE;
    return has_byte(opcode) || opcode == 0x0F || opcode == 0xA4 || opcode == 0xAC || opcode == 0xBA
               ? MODRM_BYTE
               : MODRM;
}

/* After VEX and EVEX. Map 1 is 0F, 2 is 0F 38, 3 is 0F 3A; 5 and 6 are for half precision. */
static struct shape vector(unsigned map, unsigned opcode, bool extended) {
    if (map == 1 && opcode == 0x77 && !extended)
        return NONE;
    if (map == 0 || map == 4 || map > 6)
        return INVALID;
    return map == 3 || (map == 1 && has_byte(opcode)) ? MODRM_BYTE : MODRM;
}

/* False: the byte is no prefix. */
static bool read_prefix(struct reader *r) {
    switch (*r->next) {
    case 0x66:
        r->short_operands = true;
        break;
    case 0x67:
        r->short_addresses = true;
        break;
    case 0x26:
    case 0x2E:
    case 0x36:
    case 0x3E:
    case 0x64:
    case 0x65:
    case 0xF0:
    case 0xF2:
    case 0xF3:
        break;
    default:
        return false;
    }
    r->next++;
    return true;
}

static struct shape read_opcode(struct reader *r) {
    while (r->next - r->start < INSTRUCTION_MAX && read_prefix(r))
        ;
    if ((*r->next & 0xF0) == 0x40)
        r->wide = (*r->next++ & REX_W) != 0;
    unsigned opcode = *r->next++, map = 1;
    switch (opcode) {
    case 0x0F:
        opcode = *r->next++;
        if (opcode != 0x38 && opcode != 0x3A)
            return secondary(opcode);
        r->next++;
        return opcode == 0x38 ? MODRM : MODRM_BYTE;
    case 0xC4:
        map = *r->next & 0x1Fu;
        r->next += 2;
        return vector(map, *r->next++, false);
    case 0xC5:
        r->next++;
        return vector(map, *r->next++, false);
    case 0x62:
        map = *r->next & 7u;
        r->next += 3;
        return vector(map, *r->next++, true);
    default:
        return primary(opcode, r);
    }
}

static void read_operand(struct reader *r) {
    unsigned modrm = *r->next++, mode = modrm >> 6, base = modrm & 7u;
    if (mode == 3)
        return;
    if (mode == 0 && base == 5)
        r->relative_at = (unsigned)(r->next - r->start);
    if (base == 4)
        base = *r->next++ & 7u;
    r->next += mode == 1 ? 1 : mode == 2 || base == 5 ? 4 : 0;
}

struct instruction instruction_at(const uint8_t *code) {
    struct reader r = {.start = code, .next = code};
    struct shape shape = read_opcode(&r);
    if (!shape.valid)
        return (struct instruction){0, 0};
    if (shape.modrm)
        read_operand(&r);
    r.next += shape.bytes;
    if (shape.word)
        r.next += r.short_operands && !r.wide ? 2 : 4;
    unsigned length = (unsigned)(r.next - code);
    return length > INSTRUCTION_MAX ? (struct instruction){0, 0}
                                    : (struct instruction){length, r.relative_at};
}
