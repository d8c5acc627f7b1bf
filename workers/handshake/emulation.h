/* Whether this process runs beneath an emulator of a processor, where times say nothing about any processor.
 */
#ifndef KEXBENCH_EMULATION_H
#define KEXBENCH_EMULATION_H

#include <stdbool.h>

/* True as well where /proc doesn't tell: what can't be excluded is not measured. */
bool emulated(void);

#endif
