"""Reads the machine's facts, observes it for a second, and checks both."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from kexbench.runner.cpus import split_cpus
from kexbench.runner.doctor import processor, system
from kexbench.runner.doctor.check import Check, Verdict
from kexbench.runner.doctor.machine import Machine, read_machine
from kexbench.runner.doctor.watching import Watched, watch
from kexbench.runner.path_proof import PathProof


@dataclass(frozen=True)
class Examination:
    measuring_cpu: int | None
    checks: tuple[Check, ...]

    def count(self, verdict: Verdict) -> int:
        return sum(check.verdict == verdict for check in self.checks)


def examine(
    root: Path = Path("/"),
    observe: Callable[[int | None], Watched] = watch,
    prove: Callable[[], PathProof | None] = lambda: None,
) -> Examination:
    """Takes a little more than two seconds, and `prove` with a kit a few more. `root`: the folder under which /sys and
    /proc stand."""
    allowed = os.sched_getaffinity(0)
    watched = observe(split_cpus(allowed).measuring)
    if watched.path.refused is None:
        watched = replace(watched, proof=watched.proof or prove())
    machine = read_machine(root, allowed)  # read last, while the frequency is still that of a busy CPU
    return Examination(machine.measuring_cpu, judge(machine, watched))


def judge(machine: Machine, watched: Watched) -> tuple[Check, ...]:
    return (
        processor.cpus(machine),
        processor.isolation(machine),
        processor.smt(machine),
        processor.governor(machine),
        processor.turbo(machine),
        processor.frequency(machine),
        processor.virtual_machine(machine),
        system.stolen(machine, watched),
        system.others(machine, watched),
        system.interruptions(machine, watched),
        system.clock_source(machine),
        system.cpu_clock(watched),
        system.counters(machine, watched),
        system.addresses(machine),
        system.huge_pages(machine),
        system.paths(watched),
        system.emulator(watched),
    )
