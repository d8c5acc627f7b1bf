/* Atomic operations: the instructions that the assembler makes, those of a library beside a disassembler's
 * (`test_atomics sites LIBRARY` lists them for atomics.sh), and what a thread does while it is watched. */
#include "breakpoints.h"
#include "instruction.h"
#include "locked.h"
#include "sites.h"

#include "check.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>

#if defined(__x86_64__)

/* rax is 1000, rcx 2000 and so on in the order of their numbers, fs 100000 and gs 200000. */
#define INSTRUCTIONS(X)                                                                                      \
    X("lock addl $1, (%rax)", 0x1000)                                                                        \
    X("lock addl $0x12345678, 8(%rcx)", 0x2008)                                                              \
    X("lock addw $0x1234, 8(%rcx)", 0x2008)                                                                  \
    X("lock orl $0, (%rsp)", 0x5000)                                                                         \
    X("lock subb $3, -1(%rbp)", 0x5FFF)                                                                      \
    X("lock adc %r9, 0x12345(%r13)", 0xE000 + 0x12345)                                                       \
    X("lock sbb %al, (%r13)", 0xE000)                                                                        \
    X("lock and %cx, (%r12)", 0xD000)                                                                        \
    X("lock xor %edx, (%rax,%rcx,4)", 0x1000 + 4 * 0x2000)                                                   \
    X("lock xor %edx, 16(%r8,%r12,8)", 0x9010 + 8 * 0xD000)                                                  \
    X("lock notl 0x100(,%rbx,2)", 0x100 + 2 * 0x4000)                                                        \
    X("lock negq (%rdi)", 0x8000)                                                                            \
    X("lock incl (%rbx)", 0x4000)                                                                            \
    X("lock decq 0x30(%r15)", 0x10030)                                                                       \
    X("lock incb (%rsi)", 0x7000)                                                                            \
    X("lock xaddl %eax, 0x10(%rdi)", 0x8010)                                                                 \
    X("lock xaddb %al, (%rdi)", 0x8000)                                                                      \
    X("lock cmpxchgl %ecx, (%rdx)", 0x3000)                                                                  \
    X("lock cmpxchgb %cl, (%rdx)", 0x3000)                                                                   \
    X("lock cmpxchg8b (%rdx)", 0x3000)                                                                       \
    X("lock cmpxchg16b (%rdx)", 0x3000)                                                                      \
    X("lock btsl $3, (%rdx)", 0x3000)                                                                        \
    X("lock btcq %rax, (%rdx)", 0x3000 + 0x1000 / 8)                                                         \
    X("lock btrl %eax, (%rdx)", 0x3000 + 0x1000 / 8)                                                         \
    X("lock btsw %ax, (%rdx)", 0x3000 + 0x1000 / 8)                                                          \
    X("lock addl $1, %fs:0x28(%rax)", 0x101028)                                                              \
    X("lock addl $1, %gs:(%rax)", 0x201000)                                                                  \
    X("lock addl $1, (%eax,%r15d)", 0x11000)                                                                 \
    X("xchg %eax, (%rsi)", 0x7000)                                                                           \
    X("xchg %r11b, 1(%r14)", 0xF001)                                                                         \
    X("xacquire lock orl $1, (%rsi)", 0x7000)                                                                \
    X("xrelease xchg %eax, (%rsi)", 0x7000)                                                                  \
    X("lock incl here(%rip)", (uintptr_t)here)                                                               \
    X("lock addl $1, here(%rip)", (uintptr_t)here)                                                           \
    X("lock addl $0x12345678, here(%rip)", (uintptr_t)here)                                                  \
    X("lock addw $0x1234, here(%rip)", (uintptr_t)here)                                                      \
    X("lock btsl $3, here(%rip)", (uintptr_t)here)                                                           \
    X("xchg %rax, here(%rip)", (uintptr_t)here)                                                              \
    X("xchg %eax, %esi", 0)                                                                                  \
    X("xchg %eax, %ecx", 0)                                                                                  \
    X("addl $1, (%rax)", 0)                                                                                  \
    X("xaddl %eax, (%rdi)", 0)                                                                               \
    X("cmpxchgl %ecx, (%rdx)", 0)                                                                            \
    X("rep movsb", 0)                                                                                        \
    X("movl %fs:0, %eax", 0)                                                                                 \
    X("movabs $0xF0F0F0F0F0F0F0F0, %rax", 0)                                                                 \
    X("movabs 0xF0F0F0F0F0F0F0F0, %al", 0)                                                                   \
    X("testl $0xF0F0F0F0, (%rax)", 0)                                                                        \
    X("testw $0xF0F0, 4(%rsp)", 0)                                                                           \
    X("testb $0xF0, (%rsp)", 0)                                                                              \
    X("imul $0xF0F0F0F0 - (1 << 32), 8(%rax), %ecx", 0)                                                      \
    X("enter $0xF0F0, $0xF0", 0)                                                                             \
    X("ret $0xF0F0", 0)                                                                                      \
    X("call here", 0)                                                                                        \
    X("jmp here", 0)                                                                                         \
    X("pushw $0xF0F0 - (1 << 16)", 0)                                                                        \
    X("nopw 0x0(%rax,%rax,1)", 0)                                                                            \
    X("endbr64", 0)                                                                                          \
    X("pshufd $0xF0, 8(%rax), %xmm1", 0)                                                                     \
    X("palignr $8, %xmm2, %xmm9", 0)                                                                         \
    X("pclmulqdq $0x11, here(%rip), %xmm9", 0)                                                               \
    X("aesenc (%rax), %xmm9", 0)                                                                             \
    X("vzeroupper", 0)                                                                                       \
    X("vpxor (%rax,%rcx), %ymm1, %ymm9", 0)                                                                  \
    X("vpalignr $8, %ymm2, %ymm3, %ymm9", 0)                                                                 \
    X("vpshufd $0xF0, %ymm2, %ymm3", 0)                                                                      \
    X("vpblendd $0xF0, 4(%r9), %ymm3, %ymm4", 0)                                                             \
    X("mulx 8(%rsi), %r8, %r9", 0)                                                                           \
    X("adcx 8(%rsi), %r9", 0)                                                                                \
    X("rorx $41, %r13, %r14", 0)                                                                             \
    X("vpternlogq $0xF0, 64(%rax), %zmm1, %zmm2", 0)                                                         \
    X("vmovdqu64 256(%rax), %zmm31", 0)                                                                      \
    X("kmovq %rax, %k1", 0)                                                                                  \
    X("vpermi2q %zmm1, %zmm2, %zmm3{%k1}{z}", 0)                                                             \
    X("sha256rnds2 %xmm1, %xmm2", 0)                                                                         \
    X("crc32b (%rax), %eax", 0)                                                                              \
    X("rdtsc", 0)                                                                                            \
    X("syscall", 0)                                                                                          \
    X("fstpt 16(%rsp)", 0)                                                                                   \
    X("data16 lea here(%rip), %rdi", 0)

extern const uint8_t instructions[], instructions_end[], here[];
#define ASSEMBLED(text, address) text "\n"
__asm__(".text\n.globl instructions, instructions_end, here\n"
        "instructions:\n" INSTRUCTIONS(ASSEMBLED) "instructions_end:\nhere: .quad 0\n");

static const struct {
    const char *text;
    uintptr_t address; /* 0: not atomic */
} wanted[] = {
#define WANTED(text, address) {text, address},
    INSTRUCTIONS(WANTED)};

static void decodes(void) {
    struct registers registers = {.fs_base = 0x100000, .gs_base = 0x200000};
    const uint8_t *at = instructions;
    for (unsigned i = 0; i < 16; i++)
        registers.general[i] = 0x1000 * (i + 1);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        struct instruction instruction = instruction_at(at);
        uintptr_t address = 0;
        bool locked = may_be_locked(at) && locked_operand(at, &registers, &address);
        if (!CHECK(instruction.length > 0 && locked == (wanted[i].address != 0) &&
                   address == wanted[i].address))
            printf("      %s: length %u, %s%lx\n", wanted[i].text, instruction.length, locked ? "" : "not ",
                   (unsigned long)address);
        at += instruction.length;
    }
    CHECK(at == instructions_end);
}

static void refuses_what_is_none(void) {
    static const uint8_t invalid[][16] = {{0x06}, {0x60}, {0x9A}, {0x0F, 0x04}, {0xC4, 0xE0, 0x78, 0x10}};
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++)
        CHECK_NUMBER(instruction_at(invalid[i]).length, 0);
}

static atomic_int shared_by_two;
static atomic_long another;

__attribute__((noinline)) static void two_operations(void) {
    atomic_fetch_add(&shared_by_two, 1);
    atomic_exchange(&another, 7);
}

static void *in_another_thread(void *unused) {
    two_operations();
    return unused;
}

static void watches(void) {
    struct fault fault = {0};
    pthread_t thread;
    struct operations *operations = breakpoints_open(&fault);
    if (operations == NULL) {
        CHECK(fault.kind == FAULT_UNSUPPORTED);
        printf("      not here: %s\n", fault.reason);
        return;
    }
    two_operations();
    breakpoints_watch("part", 1);
    two_operations();
    breakpoints_watch(NULL, 0);
    two_operations();
    CHECK_NUMBER(operations->used, 2);
    const struct operation *first = &operations->all[0], *second = &operations->all[1];
    CHECK(first->address == (uintptr_t)&shared_by_two && second->address == (uintptr_t)&another);
    CHECK_TEXT(first->part, "part");
    CHECK_NUMBER(first->thread, 1);
    CHECK(first->depth >= 2 && !operations->full);
    const uintptr_t *of_first = operations->frames + first->frames,
                    *of_second = operations->frames + second->frames;
    CHECK(of_first[0] >= (uintptr_t)two_operations && of_first[0] < of_second[0] &&
          of_second[0] < (uintptr_t)two_operations + 64);
    CHECK(of_first[1] == of_second[1]); /* the call in this function */
    breakpoints_close(operations);
    CHECK(pthread_create(&thread, NULL, in_another_thread, NULL) == 0 && pthread_join(thread, NULL) == 0);
    CHECK_NUMBER(shared_by_two, 4);
    CHECK_NUMBER(another, 7);
}

static void can_be_set_again(void) {
    for (int i = 0; i < 3; i++) {
        struct fault fault = {0};
        struct operations *operations = breakpoints_open(&fault);
        if (operations == NULL)
            return;
        breakpoints_watch("part", 0);
        two_operations();
        breakpoints_watch(NULL, 0);
        CHECK_NUMBER(operations->used, 2);
        breakpoints_close(operations);
    }
}

/* The sites of a library that is loaded for the purpose, as addresses in its file. */
static int list(const char *path) {
    struct sites sites;
    void *library = dlopen(path, RTLD_NOW);
    struct link_map *map;
    if (library == NULL || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || !sites_find(&sites)) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    for (size_t i = 0; i < sites.modules_used; i++) {
        const struct module *module = &sites.modules[i];
        Dl_info info;
        if (dladdr((void *)sites.all[module->first], &info) == 0 || (uintptr_t)info.dli_fbase != map->l_addr)
            continue;
        for (size_t j = 0; j < module->sites; j++)
            printf("%lx\n", (unsigned long)(sites.all[module->first + j] - map->l_addr));
    }
    sites_free(&sites);
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "sites") == 0)
        return list(argv[2]);
    sentence("each instruction has its length, and atomic ones their address", decodes);
    sentence("what is no instruction has no length", refuses_what_is_none);
    sentence("what a thread changes atomically while it is watched is written down, and takes effect",
             watches);
    sentence("breakpoints can be set and taken away again and again", can_be_set_again);
    return check_failures != 0;
}

#else

int main(void) {
    struct fault fault = {0};
    CHECK(breakpoints_open(&fault) == NULL && fault.kind == FAULT_UNSUPPORTED);
    printf("  ok   atomic operations are counted on x86-64 alone: %s\n", fault.reason);
    return check_failures != 0;
}

#endif
