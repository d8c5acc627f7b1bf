"""Reads what this machine is and how busy it is. A fact that cannot be read is None."""

import os
import platform
from collections.abc import Collection

import psutil

from kexbench.domain.hosts import HostFacts, HostLoad
from kexbench.runner.arm import arm_core
from kexbench.runner.cpus import split_cpus
from kexbench.runner.tree import CPU, Tree, cpuinfo, governor_of, hypervisor_of, ticks_of, turbo_of


def read_host_facts(tree: Tree | None = None) -> HostFacts:
    """Of the CPU that measures, where they differ."""
    tree = tree or Tree()
    cpu = split_cpus(os.sched_getaffinity(0)).measuring or 0
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
"""The place of stolen time among the fields of a CPU in /proc/stat."""


class LoadMeter:
    """Shares of time since the meter was last read: busy of all CPUs, busy of the measuring core's other threads
    (`siblings`), and stolen of the CPU that measures: among many others it would not show what was stolen from it."""

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
        # The first eight fields are disjoint; guest time, behind them, is part of user time.
        idle = now.idle + now.iowait - last.idle - last.iowait
        return HostLoad(
            load_average_1m=psutil.getloadavg()[0],
            steal_share=self._steal_share(),
            busy_share=round(1 - idle / total, 4) if total > 0 else None,
            sibling_busy_share=self._sibling_busy_share(),
        )

    def _measuring_ticks(self) -> list[int]:
        """Empty where the kernel does not tell what was stolen."""
        found = ticks_of(self._tree.text("proc/stat") or "").get(self._measuring, [])
        return found if len(found) == _STEAL + 1 else []

    def _steal_share(self) -> float | None:
        ticks, last = self._measuring_ticks(), self._last_measuring
        self._last_measuring = ticks
        passed = [now - before for now, before in zip(ticks, last, strict=False)]
        return round(passed[_STEAL] / sum(passed), 4) if passed and sum(passed) > 0 else None

    def _ticks(self) -> list[list[int]]:
        """Of each sibling that is shown."""
        found = ticks_of(self._tree.text("proc/stat") or "") if self._siblings else {}
        return [found[name] for cpu in self._siblings if (name := f"cpu{cpu}") in found]

    def _sibling_busy_share(self) -> float | None:
        ticks, last = self._ticks(), self._last_ticks
        self._last_ticks = ticks
        if len(ticks) != len(last):
            return None
        passed = [now - before for two in zip(ticks, last, strict=True) for now, before in zip(*two, strict=True)]
        total, idle = sum(passed), sum(passed[3::8]) + sum(passed[4::8])
        return round(1 - idle / total, 4) if total > 0 else None


def memory_kills() -> int | None:
    """How many processes this machine's kernel has killed because memory ran out, of a control group or of all."""
    counters = dict(line.split() for line in (Tree().text("proc/vmstat") or "").splitlines())
    return int(counters["oom_kill"]) if "oom_kill" in counters else None
