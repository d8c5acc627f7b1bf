"""Reads what this machine is and how busy it is. A fact that cannot be read is None."""

import platform
import re
from pathlib import Path

import psutil

from kexbench.domain.hosts import HostFacts, HostLoad

_CPU = Path("/sys/devices/system/cpu")


def read_host_facts() -> HostFacts:
    fields = _cpuinfo()
    return HostFacts(
        cpu_model=fields.get("model name") or platform.processor() or platform.machine(),
        architecture=platform.machine(),
        cpu_family="/".join(filter(None, [fields.get("cpu family"), fields.get("model")])) or None,
        cpu_stepping=fields.get("stepping"),
        microcode=fields.get("microcode"),
        cpu_flags=tuple(sorted((fields.get("flags") or fields.get("Features") or "").split())),
        cpus=psutil.cpu_count() or 1,
        governor=_text(_CPU / "cpu0/cpufreq/scaling_governor"),
        turbo=_turbo(),
        smt={"1": True, "0": False}.get(_text(_CPU / "smt/active") or ""),
        virtualisation=_virtualisation(fields),
        kernel=platform.release(),
        memory_bytes=psutil.virtual_memory().total,
    )


class LoadMeter:
    """Shares of stolen and busy time since the meter was last read."""

    def __init__(self) -> None:
        self._last = psutil.cpu_times()

    def read(self) -> HostLoad:
        now, last = psutil.cpu_times(), self._last
        self._last = now
        total = sum(now[:8]) - sum(last[:8])
        # The first eight fields are disjoint; guest time, behind them, is part of user time.
        steal = getattr(now, "steal", 0.0) - getattr(last, "steal", 0.0)
        idle = now.idle + now.iowait - last.idle - last.iowait
        return HostLoad(
            load_average_1m=psutil.getloadavg()[0],
            steal_share=round(steal / total, 4) if total > 0 else None,
            busy_share=round(1 - idle / total, 4) if total > 0 else None,
        )


def memory_kills() -> int | None:
    """How many processes this machine's kernel has killed because memory ran out, of a control group or of all."""
    counters = dict(line.split() for line in (_text(Path("/proc/vmstat")) or "").splitlines())
    return int(counters["oom_kill"]) if "oom_kill" in counters else None


def _cpuinfo() -> dict[str, str]:
    """The first processor's fields of /proc/cpuinfo."""
    text = _text(Path("/proc/cpuinfo")) or ""
    pairs = (line.split(":", 1) for line in text.split("\n\n")[0].splitlines() if ":" in line)
    return {name.strip(): value.strip() for name, value in pairs}


def _turbo() -> bool | None:
    boost = _text(_CPU / "cpufreq/boost")
    if boost is not None:
        return boost == "1"
    no_turbo = _text(_CPU / "intel_pstate/no_turbo")
    return None if no_turbo is None else no_turbo == "0"


def _virtualisation(fields: dict[str, str]) -> str | None:
    """The hypervisor's name where the firmware tells it, `hypervisor` where only the CPU flag does."""
    if "hypervisor" not in fields.get("flags", "").split():
        return "none"
    vendor = _text(Path("/sys/class/dmi/id/sys_vendor")) or ""
    return re.sub(r"[^\w .-]", "", vendor) or "hypervisor"


def _text(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None
