/* An emulator is a program of its own that the kernel started; the worker is data to it. So what the kernel
 * keeps of this process is the emulator's, and differs from what the process was handed. qemu-user answers
 * for /proc/self and its own number with what the worker expects, so both are read as /proc/thread-self,
 * which it leaves alone. Either difference is enough; each sees what the other can't:
 *
 * - The auxiliary vector. AT_RANDOM is an address on the stack that the kernel made, which no loader changes;
 *   an emulator makes a stack and a vector of its own. This also finds one of the same architecture.
 * - The executable. Started by its loader or not, it is of the architecture that this was compiled for. */
#include "emulation.h"

#include <fcntl.h>
#include <link.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <unistd.h>

enum { ENTRIES_MAX = 128 };

/* The linker's name for the start of this program: its own header. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

/* As many bytes as there are, at most `size`; 0 where the file can't be read. */
static size_t read_file(const char *path, void *out, size_t size) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    size_t done = 0;
    ssize_t got;
    while (done < size && (got = read(file, (char *)out + done, size - done)) > 0)
        done += (size_t)got;
    close(file);
    return done;
}

/* Where the kernel says that the random bytes of this process lie; 0 where it says nothing. */
static unsigned long kernels_random(void) {
    unsigned long vector[ENTRIES_MAX][2];
    size_t entries = read_file("/proc/thread-self/auxv", vector, sizeof vector) / sizeof vector[0];
    for (size_t i = 0; i < entries; i++) {
        if (vector[i][0] == AT_RANDOM)
            return vector[i][1];
    }
    return 0;
}

/* Whether the program that the kernel started is of the architecture that this one was compiled for. */
static bool is_of_our_architecture(const char *path) {
    ElfW(Ehdr) header;
    const ElfW(Ehdr) *own = &__ehdr_start;
    return read_file(path, &header, sizeof header) == sizeof header &&
           header.e_ident[EI_CLASS] == own->e_ident[EI_CLASS] &&
           header.e_ident[EI_DATA] == own->e_ident[EI_DATA] && header.e_machine == own->e_machine;
}

bool emulated(void) {
    unsigned long random = kernels_random();
    return random == 0 || random != getauxval(AT_RANDOM) || !is_of_our_architecture("/proc/thread-self/exe");
}
