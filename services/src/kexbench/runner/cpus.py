"""Which CPU the workers are pinned to, and which are left to the runner."""

import os


def split_cpus(allowed: set[int]) -> tuple[int | None, set[int]]:
    """(the workers' CPU, the runner's CPUs). The last CPU measures: interrupts mostly go to the first.
    With a single CPU all share it, unpinned."""
    if len(allowed) < 2:
        return None, allowed
    cpu = max(allowed)
    return cpu, allowed - {cpu}


def claim_cpus() -> int | None:
    """Move this process off the workers' CPU and return that CPU."""
    cpu, own = split_cpus(os.sched_getaffinity(0))
    os.sched_setaffinity(0, own)
    return cpu
