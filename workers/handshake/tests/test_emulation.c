/* `test_emulation no` or `yes`: whether this process is emulated is what its starter says. */
#include "emulation.h"

#include "check.h"

static bool wanted;

static void as_started(void) {
    CHECK_NUMBER(emulated(), wanted);
}

int main(int argc, char **argv) {
    if (argc != 2)
        return 2;
    wanted = strcmp(argv[1], "yes") == 0;
    sentence(wanted ? "a process beneath an emulator knows it" : "a process on the processor itself knows it",
             as_started);
    return check_failures != 0;
}
