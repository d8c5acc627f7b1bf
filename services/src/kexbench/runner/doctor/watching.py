"""A short test of the running machine: other load, interruptions, and the cost of the clocks."""

import ctypes
import errno
import os
import platform
import resource
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kexbench.runner.doctor.path_probe import PathProbe, probe
from kexbench.runner.path_proof import PathProof
from kexbench.runner.tree import ticks_of

WATCHED_S = 1.0
SPIN_NS = 200_000_000
CLOCK_TRIES, CLOCK_READINGS = 100, 100
_PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241, "riscv64": 241, "ppc64le": 319, "s390x": 331}
"""Numbers of the system call, for which the C library has no function."""
_HARDWARE, _INSTRUCTIONS, _WITHOUT_KERNEL = 0, 1, 1 << 5 | 1 << 6


@dataclass(frozen=True)
class Busyness:
    """Shares of CPU time between two readings of /proc/stat, from 0 to 1, without this process's own."""

    of_all: float
    of_measuring: float
    stolen: float


@dataclass(frozen=True)
class Spin:
    """The result of a busy loop."""

    switches: int
    """How often the kernel interrupted it."""
    cpu_share: float
    """The share of its wall time in which it ran."""
    clock_step_ns: int
    """The smallest step of the thread's CPU clock."""


@dataclass(frozen=True)
class Watched:
    busyness: Busyness | None
    spin: Spin
    cpu_clock_cost_ns: float
    counters: str
    """`yes`, `silent` if they open but count nothing, or the name of the error, such as `ENOENT`."""
    path: PathProbe
    proof: PathProof | None = None
    """None where no kit could carry a path."""


def watch(measuring_cpu: int | None) -> Watched:
    """Takes a little more than a second. `measuring_cpu`: None leaves the busy loop where it is."""
    before, own = _proc_stat(), time.process_time()
    time.sleep(WATCHED_S)
    busyness = busy_between(before, _proc_stat(), time.process_time() - own, measuring_cpu)
    cost, counters, path = cpu_clock_cost_ns(), try_counters(), probe()
    return Watched(
        busyness, spin(measuring_cpu), cost, counters, path
    )  # spinning comes last: frequencies are read after it


def busy_between(before: str, after: str, own_s: float, cpu: int | None) -> Busyness | None:
    """From two texts of /proc/stat. None if they cannot be read or no time has passed."""
    first, second = ticks_of(before), ticks_of(after)
    lines = ["cpu", "cpu" if cpu is None else f"cpu{cpu}"]
    if any(name not in ticks for name in lines for ticks in (first, second)):
        return None
    shares = []
    for name in lines:
        passed = [end - start for start, end in zip(first[name], second[name], strict=True)]
        total = sum(passed)
        if total <= 0:
            return None
        shares.append(((total - passed[3] - passed[4] - passed[7]) / total, passed[7] / total, total))
    own = own_s * os.sysconf("SC_CLK_TCK") / shares[0][2]
    return Busyness(max(0.0, shares[0][0] - own), shares[1][0], shares[0][1])


def _proc_stat() -> str:
    try:
        return Path("/proc/stat").read_text()
    except OSError:
        return ""


def spin(cpu: int | None) -> Spin:
    """Keep a CPU busy for a fifth of a second of wall time."""
    allowed = os.sched_getaffinity(0)
    if cpu is not None:
        os.sched_setaffinity(0, {cpu})
    try:
        switches = resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw
        start, cpu_start, step = time.monotonic_ns(), time.thread_time_ns(), SPIN_NS
        last = cpu_start
        while time.monotonic_ns() - start < SPIN_NS:
            now = time.thread_time_ns()
            if 0 < now - last < step:
                step = now - last
            last = now
        share = (time.thread_time_ns() - cpu_start) / (time.monotonic_ns() - start)
        return Spin(resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw - switches, min(1.0, share), step)
    finally:
        os.sched_setaffinity(0, allowed)


def cpu_clock_cost_ns() -> float:
    """The cost of reading the thread's CPU clock, beyond that of the wall clock, which needs no system call. The
    quickest of many short attempts each."""
    return max(0.0, _quickest_ns(time.thread_time_ns) - _quickest_ns(time.monotonic_ns))


def _quickest_ns(read: Callable[[], int]) -> float:
    quickest = float("inf")
    for _ in range(CLOCK_TRIES):
        start = time.perf_counter_ns()
        for _ in range(CLOCK_READINGS):
            read()
        quickest = min(quickest, (time.perf_counter_ns() - start) / CLOCK_READINGS)
    return quickest


def try_counters() -> str:
    """Try to count this thread's instructions outside the kernel (perf_event_open(2))."""
    number = _PERF_EVENT_OPEN.get(platform.machine())
    if number is None:
        return "ENOSYS"
    # The first published layout of perf_event_attr: type, size, config, three unused fields, flags, unused.
    attributes = struct.pack("=IIQQQQQ16x", _HARDWARE, 64, _INSTRUCTIONS, 0, 0, 0, _WITHOUT_KERNEL)
    libc = ctypes.CDLL(None, use_errno=True)
    counter = libc.syscall(ctypes.c_long(number), attributes, 0, -1, ctypes.c_int(-1), ctypes.c_ulong(0))
    if counter < 0:
        return errno.errorcode.get(ctypes.get_errno(), str(ctypes.get_errno()))
    try:
        return "yes" if any(os.read(counter, 8)) else "silent"
    finally:
        os.close(counter)
