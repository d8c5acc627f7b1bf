"""Which CPUs the workers are pinned to, and which are left to the runner."""

import os
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from kexbench.runner.tree import Tree, siblings_of


@dataclass(frozen=True)
class Cpus:
    """`measuring` is None where there is a single CPU, which all share unpinned."""

    measuring: int | None
    others: tuple[int, ...] = ()
    siblings: tuple[int, ...] = ()
    """Other threads of the measuring core, whether this process may use them or not: what runs there slows it."""

    @property
    def runners(self) -> tuple[int, ...]:
        """Where the runner stays: off the measuring core, unless there is no other."""
        return self._elsewhere or self.others

    def pin(self, threads: int) -> tuple[str, ...]:
        """The worker's option: as many CPUs as it has threads, the measuring one first, then other cores', of these the
        runner's last, and at the end the other threads of the measuring core; all there are where threads outnumber
        them."""
        if self.measuring is None:
            return ()
        beside = [cpu for cpu in self.others if cpu in self.siblings]
        chosen = (self.measuring, *reversed(self._elsewhere), *reversed(beside))[:threads]
        return ("--cpus", ",".join(map(str, sorted(chosen))))

    @property
    def _elsewhere(self) -> tuple[int, ...]:
        return tuple(cpu for cpu in self.others if cpu not in self.siblings)


def split_cpus(allowed: set[int], core: Collection[int] = ()) -> Cpus:
    """The last CPU measures: interrupts mostly go to the first. `core`: the CPUs of its core, where that is known."""
    if len(allowed) < 2:
        return Cpus(None)
    measuring = max(allowed)
    return Cpus(measuring, tuple(sorted(allowed - {measuring})), tuple(sorted(set(core) - {measuring})))


def claim_cpus() -> Cpus:
    """Move this process off the measuring core, if it can, and return who may use what. With the threads that libraries
    made when they were loaded; those that are made later follow."""
    allowed = os.sched_getaffinity(0)
    cpus = split_cpus(allowed, siblings_of(Tree(), max(allowed)) or ())
    if cpus.measuring is not None:
        for thread in Path("/proc/self/task").iterdir():
            with suppress(ProcessLookupError):
                os.sched_setaffinity(int(thread.name), cpus.runners)
    return cpus
