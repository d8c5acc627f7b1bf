/* CPUs that do not sleep: a CPU without work is slow to take up new work, by milliseconds in a virtual
 * machine whose host gave it away. */
#ifndef KEXBENCH_AWAKE_H
#define KEXBENCH_AWAKE_H

/* Keeps each CPU that the process may use from sleeping as long as the process lives, for an eighth of the
 * CPU's time. It is a thread without priority on each, with the caller's timer slack. Where none can be made,
 * a CPU sleeps as ever. */
void awake_keep(void);

#endif
