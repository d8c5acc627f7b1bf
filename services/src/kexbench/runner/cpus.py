"""Which CPUs the workers are pinned to, and which the runner uses."""

import os
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from kexbench.runner.tree import Tree, siblings_of


@dataclass(frozen=True)
class Cpus:
    """`measuring` is None on a single CPU, which all processes share without pinning."""

    measuring: int | None
    others: tuple[int, ...] = ()
    siblings: tuple[int, ...] = ()
    """Other threads of the measuring core, even if this process may not use them. Programs there slow it down."""

    @property
    def runners(self) -> tuple[int, ...]:
        """The runner's CPUs. They are not on the measuring core, unless there is no other core."""
        return self._elsewhere or self.others

    @property
    def beside(self) -> "Cpus":
        """Where a program measures that keeps another busy, which runs on the measuring CPU: on the last CPU of another
        core, if there is one."""
        return self if self.measuring is None else Cpus(self.runners[-1])

    def pin(self, threads: int) -> tuple[str, ...]:
        """The worker's option: one CPU for each of its threads, if there are enough. The measuring CPU is used first,
        then other cores from the last to the first, then the other threads of the measuring core."""
        if self.measuring is None:
            return ()
        siblings = [cpu for cpu in self.others if cpu in self.siblings]
        chosen = (self.measuring, *reversed(self._elsewhere), *reversed(siblings))[:threads]
        return ("--cpus", ",".join(map(str, sorted(chosen))))

    @property
    def _elsewhere(self) -> tuple[int, ...]:
        return tuple(cpu for cpu in self.others if cpu not in self.siblings)


def split_cpus(allowed: set[int], core: Collection[int] = ()) -> Cpus:
    """The last CPU measures, because most interrupts go to the first. `core`: all CPUs of its core, if known."""
    if len(allowed) < 2:
        return Cpus(None)
    measuring = max(allowed)
    return Cpus(measuring, tuple(sorted(allowed - {measuring})), tuple(sorted(set(core) - {measuring})))


def claim_cpus() -> Cpus:
    """Move this process off the measuring core, if possible, and return the assignment. This includes threads that
    libraries started when they were loaded. Later threads inherit it."""
    allowed = os.sched_getaffinity(0)
    cpus = split_cpus(allowed, siblings_of(Tree(), max(allowed)) or ())
    if cpus.measuring is not None:
        for thread in Path("/proc/self/task").iterdir():
            with suppress(ProcessLookupError):
                os.sched_setaffinity(int(thread.name), cpus.runners)
    return cpus
