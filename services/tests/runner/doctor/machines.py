"""A made-up machine, and ways to change and to judge it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from kexbench.runner.doctor.check import Check
from kexbench.runner.doctor.examine import judge
from kexbench.runner.doctor.machine import Machine
from kexbench.runner.doctor.path_probe import PathProbe
from kexbench.runner.doctor.watching import Busyness, Spin, Watched
from kexbench.runner.path_proof import PathProof
from kexbench.runner.records import PathConnections
from tests.runner.test_path import a_record

CPU = "sys/devices/system/cpu"


def a_proof(**changes: Any) -> PathConnections:
    """Connections over the path of the proof, which does what is asked."""
    usual = {
        "delay_p50_ns": 10_020_000,
        "carried_bit_s": 9_990_000,
        "client_lost_packets": 6,
        "server_lost_packets": 16,
    }
    return a_record(100, **{**usual, **changes})


QUIET = Watched(
    Busyness(0.01, 0.0, 0.0), Spin(1, 0.999, 250), 250.0, "yes", PathProbe(None, None, 60_000), PathProof(a_proof())
)
BARE_METAL = {
    f"{CPU}/online": "0-3\n",
    f"{CPU}/isolated": "3\n",
    f"{CPU}/nohz_full": "3\n",
    f"{CPU}/cpu3/topology/thread_siblings_list": "3\n",
    f"{CPU}/cpu3/cpufreq/scaling_governor": "performance\n",
    f"{CPU}/cpu3/cpufreq/scaling_cur_freq": "2600100\n",
    f"{CPU}/cpu3/cpufreq/base_frequency": "2600000\n",
    f"{CPU}/intel_pstate/no_turbo": "1\n",
    "sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
    "sys/devices/system/clocksource/clocksource0/available_clocksource": "tsc hpet acpi_pm \n",
    "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
    "proc/cpuinfo": "processor\t: 0\nflags\t\t: fpu tsc\ncpu MHz\t\t: 800.0\n\nprocessor\t: 3\nflags\t\t: fpu tsc\n",
    "proc/stat": "cpu  10 0 10 900 0 0 0 0 0 0\n",
    "proc/loadavg": "0.05 0.03 0.01 1/200 4000\n",
    "proc/self/cgroup": "0::/user.slice\n",
    "proc/self/personality": "00000000\n",
    "proc/sys/kernel/randomize_va_space": "2\n",
    "proc/sys/kernel/perf_event_paranoid": "2\n",
}
"""A machine set apart for measuring; CPU 3 measures."""
ALLOWED = {0, 1, 2, 3}

MakeTree = Callable[..., Path]


def check(name: str, machine: Machine, watched: Watched = QUIET) -> Check:
    return next(check for check in judge(machine, watched) if check.name == name)


def a_machine(**facts: object) -> Machine:
    known = Machine(measuring_cpu=3, allowed=frozenset(ALLOWED), online=frozenset(ALLOWED), hypervisor="none")
    return replace(known, **facts)  # type: ignore[arg-type] # facts are named as the fields are
