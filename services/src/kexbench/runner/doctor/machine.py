"""Facts from /sys and /proc about how steadily this machine runs. An unreadable fact is None."""

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from kexbench.runner.cpus import split_cpus
from kexbench.runner.tree import CPU, Tree, cpuinfo, governor_of, hypervisor_of, siblings_of, turbo_of

_CLOCK = "sys/devices/system/clocksource/clocksource0"
_ADDRESSES_NOT_RANDOM = 0x0040000
"""ADDR_NO_RANDOMIZE of personality(2)."""


@dataclass(frozen=True)
class Machine:
    """The facts behind the advice; sets hold CPU numbers."""

    measuring_cpu: int | None
    """The CPU that workers are pinned to; None if there is only one."""
    allowed: frozenset[int]
    """The CPUs that this process may use."""
    online: frozenset[int] = frozenset()
    quota_cpus: float | None = None
    """The limit of the control group, in CPUs."""
    isolated: frozenset[int] = frozenset()
    tickless: frozenset[int] | None = None
    """The CPUs without timer ticks; None if this kernel does not support it."""
    siblings: frozenset[int] | None = None
    """The online CPUs of the measuring CPU's core, including itself."""
    governor: str | None = None
    turbo: bool | None = None
    turbo_switch: str | None = None
    """The file that turns turbo on and off."""
    frequency_khz: int | None = None
    base_frequency_khz: int | None = None
    hypervisor: str | None = None
    """Its name, `hypervisor` if it has none, or `none` on bare metal."""
    stolen_since_boot: bool | None = None
    load_1m: float | None = None
    clock_source: str | None = None
    clock_sources: tuple[str, ...] = ()
    perf_event_paranoid: int | None = None
    address_randomisation: int | None = None
    """0 to 2, as in kernel.randomize_va_space."""
    fixed_addresses: bool = False
    """Whether this process and its children have fixed addresses, whatever the kernel's setting."""
    huge_pages: str | None = None


def read_machine(root: Path, allowed: set[int]) -> Machine:
    """`allowed`: the CPUs that this process may use."""
    tree = Tree(root)
    measuring = split_cpus(allowed).measuring
    own = f"{CPU}/cpu{max(allowed)}"
    fields = cpuinfo(tree, max(allowed))
    turbo, switch = turbo_of(tree)
    paths = _control_groups(tree)
    isolated = tree.cpus(f"{CPU}/isolated")
    if any(tree.text(f"{path}/cpuset.cpus.partition") == "isolated" for path in paths):
        isolated |= allowed
    steal = re.search(r"^cpu +(?:\d+ ){7}(\d+)", tree.text("proc/stat") or "")
    load = re.match(r"[\d.]+", tree.text("proc/loadavg") or "")
    personality = int(tree.text("proc/self/personality") or "0", 16)
    huge = re.search(r"\[(\w+)\]", tree.text("sys/kernel/mm/transparent_hugepage/enabled") or "")
    return Machine(
        measuring_cpu=measuring,
        allowed=frozenset(allowed),
        online=tree.cpus(f"{CPU}/online"),
        quota_cpus=min(filter(None, (_quota(tree, path) for path in paths)), default=None),
        isolated=isolated,
        tickless=None if tree.text(f"{CPU}/nohz_full") is None else tree.cpus(f"{CPU}/nohz_full"),
        siblings=siblings_of(tree, max(allowed)),
        governor=governor_of(tree, max(allowed)),
        turbo=turbo,
        turbo_switch=switch,
        frequency_khz=tree.number(f"{own}/cpufreq/scaling_cur_freq") or _khz(fields.get("cpu MHz"), 1e3),
        base_frequency_khz=_base_frequency_khz(tree, own, fields),
        hypervisor=hypervisor_of(tree, fields),
        stolen_since_boot=int(steal.group(1)) > 0 if steal else None,
        load_1m=float(load.group()) if load else None,
        clock_source=tree.text(f"{_CLOCK}/current_clocksource"),
        clock_sources=tuple((tree.text(f"{_CLOCK}/available_clocksource") or "").split()),
        perf_event_paranoid=tree.number("proc/sys/kernel/perf_event_paranoid"),
        address_randomisation=tree.number("proc/sys/kernel/randomize_va_space"),
        fixed_addresses=bool(personality & _ADDRESSES_NOT_RANDOM),
        huge_pages=huge.group(1) if huge else None,
    )


def _base_frequency_khz(tree: Tree, own: str, fields: dict[str, str]) -> int | None:
    """From the driver, from firmware (in MHz), or from the model's name (`@ 2.60GHz`)."""
    named = re.search(r"@ ([\d.]+)GHz", fields.get("model name", ""))
    return (
        tree.number(f"{own}/cpufreq/base_frequency")
        or _khz(tree.text(f"{own}/acpi_cppc/nominal_freq"), 1e3)
        or _khz(named.group(1) if named else None, 1e6)
    )


def _khz(text: str | None, factor: float) -> int | None:
    """None also for zero, which firmware writes for unknown values."""
    return (int(float(text) * factor) or None) if text and re.fullmatch(r"\d+(\.\d+)?", text) else None


def _control_groups(tree: Tree) -> list[str]:
    """The folders of this process's control groups and their parents, for both versions of control groups."""
    folders = []
    for line in (tree.text("proc/self/cgroup") or "").splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        own = PurePosixPath(path if ".." not in path else "/")
        mounts = [f"sys/fs/cgroup/{controllers}"] if controllers else ["sys/fs/cgroup", "sys/fs/cgroup/unified"]
        folders += [f"{mount}{folder}" for mount in mounts for folder in (own, *own.parents)]
    return folders


def _quota(tree: Tree, path: str) -> float | None:
    allowance, _, period = (tree.text(f"{path}/cpu.max") or "").partition(" ")
    if not allowance:
        allowance, period = (tree.text(f"{path}/cpu.cfs_{name}_us") or "" for name in ("quota", "period"))
    return int(allowance) / int(period) if allowance.isdigit() and period.isdigit() and int(period) else None
