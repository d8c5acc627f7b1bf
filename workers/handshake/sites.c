/* The tables for unwinding say where functions begin and end (LSB Core, "Exception Frames"), so that data
 * between them is not taken for instructions. A function that does not end with an instruction is left out:
 * something in it is data, or is no instruction that we know. */
#include "sites.h"

#include "instruction.h"
#include "locked.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* DW_EH_PE: a table of pairs, relative to its own beginning; numbers of four bytes. */
enum { TABLE_ENCODING = 0x3B, COUNT_ENCODING = 0x03 };

static const struct registers NOWHERE;

static bool add_site(struct sites *sites, uintptr_t site) {
    if ((sites->used & (sites->used - 1)) == 0) { /* it doubles at powers of two */
        uintptr_t *larger = realloc(sites->all, (sites->used == 0 ? 1 : 2 * sites->used) * sizeof *larger);
        if (larger == NULL)
            return false;
        sites->all = larger;
    }
    sites->all[sites->used++] = site;
    return true;
}

static bool add_function(struct sites *sites, const uint8_t *from, const uint8_t *to) {
    size_t before = sites->used;
    const uint8_t *at = from;
    while (at < to) {
        struct instruction instruction = instruction_at(at);
        uintptr_t unused;
        if (instruction.length == 0)
            break;
        if (may_be_locked(at) && locked_operand(at, &NOWHERE, &unused) && !add_site(sites, (uintptr_t)at))
            return false;
        at += instruction.length;
    }
    if (at != to)
        sites->used = before;
    return true;
}

static int32_t number_at(const uint8_t *at) {
    int32_t number;
    memcpy(&number, at, sizeof number);
    return number;
}

/* The header: version, three encodings, where the frames are, how many, and pairs of a function's beginning
 * and its frame, in order. A frame: length, its common part, the beginning relative to this number, and the
 * size. */
static bool add_functions(struct sites *sites, const uint8_t *header, const struct module *module) {
    if (header[0] != 1 || header[2] != COUNT_ENCODING || header[3] != TABLE_ENCODING)
        return true;
    int32_t count = number_at(header + 8);
    const uint8_t *pair = header + 12;
    for (int32_t i = 0; i < count; i++, pair += 8) {
        const uint8_t *begins = header + number_at(pair), *frame = header + number_at(pair + 4);
        const uint8_t *ends = begins + (uint32_t)number_at(frame + 12);
        bool relative = frame + 8 + number_at(frame + 8) == begins;
        if (relative && (uintptr_t)begins >= module->code && (uintptr_t)ends <= module->end &&
            !add_function(sites, begins, ends))
            return false;
    }
    return true;
}

static int add_module(struct dl_phdr_info *info, size_t size, void *data) {
    struct sites *sites = data;
    struct module module = {.first = sites->used};
    const uint8_t *header = NULL;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t from = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0) {
            module.code = from & ~(page - 1);
            module.end = (from + segment->p_memsz + page - 1) & ~(page - 1);
        } else if (segment->p_type == PT_GNU_EH_FRAME) {
            header = (const uint8_t *)from;
        }
    }
    if (header == NULL || module.code == 0)
        return 0;
    struct module *larger = realloc(sites->modules, (sites->modules_used + 1) * sizeof *larger);
    if (larger == NULL)
        return 1;
    sites->modules = larger;
    if (!add_functions(sites, header, &module))
        return 1;
    module.sites = sites->used - module.first;
    sites->modules[sites->modules_used] = module;
    sites->modules_used += module.sites > 0; /* the kernel's own, which can't be changed, has none */
    return 0;
}

bool sites_find(struct sites *out) {
    *out = (struct sites){.all = NULL};
    if (dl_iterate_phdr(add_module, out) == 0)
        return true;
    sites_free(out);
    return false;
}

void sites_free(struct sites *sites) {
    free(sites->all);
    free(sites->modules);
}
