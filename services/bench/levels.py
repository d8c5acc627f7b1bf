"""Compares levels with a loop of ten thousand handshakes that shares no code with the worker."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.machine import Machine, Scale, turns_ns
from bench.peers import PlainLoop, one_each
from kexbench.analysis.estimates import estimate_median
from kexbench.domain.cases import Case
from kexbench.domain.intervals import Estimate
from kexbench.domain.plans import WARM_UP_BATCHES
from kexbench.domain.samples import Metric
from kexbench.runner.invocation import samples_of
from kexbench.runner.participant import Participant


@dataclass(frozen=True)
class Level:
    """The cost of a handshake's turns, in nanoseconds of CPU time."""

    case: Case
    level_ns: float
    """The level as stored and shown: the median over invocations of the cost over all batches."""
    loop_ns: float
    """The loop's level: the median over invocations of total time divided by handshakes."""
    to_loop: Estimate
    """The ratio of the two in each invocation, so that changes of the machine between invocations cancel out."""
    median_to_loop: float
    """The same ratio for the medians of batches, which omit costs of few batches."""
    handshakes: int
    """Handshakes of the loop."""


def compare_levels(machine: Machine, program: Path, case: Case, handshakes: int, scale: Scale) -> Level:
    """Interleave worker and loop in turns of two milliseconds, in fresh processes for each invocation. Ends when the
    loop has made `handshakes` and there are as many invocations as `scale` has. The memory layout of a process affects
    its cost, so a single process is not enough. Rounds with a preemption are ignored."""
    subject = "openssl@system"
    setting = machine.setting(case, {subject: machine.kit(subject)}, scale.batches)
    levels: list[float] = []
    medians, loops = [], []
    handshakes_made = 0
    while handshakes_made < handshakes or len(levels) < scale.invocations:
        with PlainLoop(program, case, setting, chainless=True) as loop, Participant(setting, subject) as participant:
            rounds = range(WARM_UP_BATCHES + scale.batches)
            batches = [one_each(participant, loop, theirs_first=number % 2 == 1) for number in rounds]
        undisturbed = [(own, plain) for own, plain in batches[WARM_UP_BATCHES:] if not own.involuntary_switches]
        if not undisturbed:
            continue
        samples = samples_of(subject, [own for own, _ in undisturbed])
        levels += [sample.cost for sample in samples if sample.metric is Metric.CPU_NS]
        medians.append(np.median([turns_ns(own) for own, _ in undisturbed]))
        plain_handshakes = sum(plain.handshakes for _, plain in undisturbed)
        loops.append(sum(plain.turns_ns for _, plain in undisturbed) / plain_handshakes)
        handshakes_made += plain_handshakes
    level_ns, loop_ns = (float(np.median(costs)) for costs in (levels, loops))
    to_loop = estimate_median(np.divide(levels, loops).tolist())
    return Level(case, level_ns, loop_ns, to_loop, float(np.median(np.divide(medians, loops))), handshakes_made)
