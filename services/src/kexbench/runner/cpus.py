"""Which CPUs the workers are pinned to, and which are left to the runner."""

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Cpus:
    """`measuring` is None where there is a single CPU, which all share unpinned."""

    measuring: int | None
    others: tuple[int, ...] = ()

    def pin(self, threads: int) -> tuple[str, ...]:
        """The worker's option: as many CPUs as it has threads, the measuring one first, the runner's after all
        others; all there are where threads outnumber them."""
        if self.measuring is None:
            return ()
        chosen = (self.measuring, *reversed(self.others))[:threads]
        return ("--cpus", ",".join(map(str, sorted(chosen))))


def split_cpus(allowed: set[int]) -> Cpus:
    """The last CPU measures: interrupts mostly go to the first."""
    if len(allowed) < 2:
        return Cpus(None)
    measuring = max(allowed)
    return Cpus(measuring, tuple(sorted(allowed - {measuring})))


def claim_cpus() -> Cpus:
    """Move this process off the measuring CPU and return who may use what."""
    cpus = split_cpus(os.sched_getaffinity(0))
    if cpus.measuring is not None:
        os.sched_setaffinity(0, cpus.others)
    return cpus
