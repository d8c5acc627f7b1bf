"""Reads the facts and the load of this machine. A fact that cannot be read is None."""

import os
import platform
from collections.abc import Collection

import psutil

from kexbench.domain.hosts import HostFacts, HostLoad
from kexbench.runner.arm import arm_core
from kexbench.runner.tree import CPU, Tree, cpuinfo, governor_of, hypervisor_of, ticks_of, turbo_of


def read_host_facts(tree: Tree | None = None) -> HostFacts:
    """The facts of this machine. If its CPUs differ, they describe the measuring one."""
    tree = tree or Tree()
    cpu = max(os.sched_getaffinity(0))  # the measuring one, or the only one
    fields = cpuinfo(tree, cpu)
    core = arm_core(fields)
    family = "/".join(filter(None, [fields.get("cpu family"), fields.get("model")]))
    return HostFacts(
        cpu_model=core.model if core else fields.get("model name") or platform.processor() or platform.machine(),
        architecture=platform.machine(),
        cpu_family=core.family if core else family or None,
        cpu_stepping=core.stepping if core else fields.get("stepping"),
        microcode=fields.get("microcode"),
        cpu_flags=tuple(sorted((fields.get("flags") or fields.get("Features") or "").split())),
        cpus=psutil.cpu_count() or 1,
        governor=governor_of(tree, cpu),
        turbo=turbo_of(tree)[0],
        smt={"1": True, "0": False}.get(tree.text(f"{CPU}/smt/active") or ""),
        virtualisation=hypervisor_of(tree, fields),
        kernel=platform.release(),
        memory_bytes=psutil.virtual_memory().total,
    )


_STEAL = 7
"""Index of stolen time among a CPU's fields in /proc/stat."""


class LoadMeter:
    """Shares of time since the last reading: busy time of all CPUs, busy time of the measuring core's other threads
    (`siblings`), and stolen time of the measuring CPU. An average over all CPUs would hide the stolen time."""

    def __init__(
        self, siblings: Collection[int] = (), tree: Tree | None = None, *, measuring: int | None = None
    ) -> None:
        self._tree = tree or Tree()
        self._siblings = siblings
        self._measuring = "cpu" if measuring is None else f"cpu{measuring}"
        self._last = psutil.cpu_times()
        self._last_ticks = self._ticks()
        self._last_measuring = self._measuring_ticks()

    def read(self) -> HostLoad:
        now, last = psutil.cpu_times(), self._last
        self._last = now
        total = sum(now[:8]) - sum(last[:8])
        # The first eight fields are disjoint. Guest time, which follows, is part of user time.
        idle = now.idle + now.iowait - last.idle - last.iowait
        return HostLoad(
            load_average_1m=psutil.getloadavg()[0],
            steal_share=self._steal_share(),
            busy_share=round(1 - idle / total, 4) if total > 0 else None,
            sibling_busy_share=self._sibling_busy_share(),
        )

    def _measuring_ticks(self) -> list[int]:
        """Empty if the kernel does not report stolen time."""
        ticks = ticks_of(self._tree.text("proc/stat") or "").get(self._measuring, [])
        return ticks if len(ticks) == _STEAL + 1 else []

    def _steal_share(self) -> float | None:
        ticks, last = self._measuring_ticks(), self._last_measuring
        self._last_measuring = ticks
        passed = [now - before for now, before in zip(ticks, last, strict=False)]
        return round(passed[_STEAL] / sum(passed), 4) if passed and sum(passed) > 0 else None

    def _ticks(self) -> list[list[int]]:
        """The ticks of each visible sibling."""
        ticks = ticks_of(self._tree.text("proc/stat") or "") if self._siblings else {}
        return [ticks[name] for cpu in self._siblings if (name := f"cpu{cpu}") in ticks]

    def _sibling_busy_share(self) -> float | None:
        ticks, last = self._ticks(), self._last_ticks
        self._last_ticks = ticks
        if len(ticks) != len(last):
            return None
        passed = [now - before for pair in zip(ticks, last, strict=True) for now, before in zip(*pair, strict=True)]
        total, idle = sum(passed), sum(passed[3::8]) + sum(passed[4::8])
        return round(1 - idle / total, 4) if total > 0 else None


def memory_kills() -> int | None:
    """The number of processes that the kernel has killed for lack of memory, including those in control groups."""
    counters = dict(line.split() for line in (Tree().text("proc/vmstat") or "").splitlines())
    return int(counters["oom_kill"]) if "oom_kill" in counters else None
