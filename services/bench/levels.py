"""Whether a level is what a handshake costs: beside a loop of ten thousand handshakes that shares no code with it."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.lab import Lab, Scale, turns_ns
from bench.peers import PlainLoop, one_each
from kexbench.analysis.estimates import MedianEstimate, estimate_median
from kexbench.domain.cases import Case
from kexbench.domain.samples import Metric
from kexbench.runner.invocation import WARM_UP_BATCHES, samples_of
from kexbench.runner.party import Party


@dataclass(frozen=True)
class Level:
    """What a handshake's turns cost, in nanoseconds of CPU time."""

    case: Case
    level_ns: float
    """As it is stored and shown: the median over invocations of what each cost over all of its batches."""
    loop_ns: float
    """The loop's, in the same way: of each invocation all handshakes by their number."""
    to_loop: MedianEstimate
    """The level by the loop's, of each invocation: what happens to the machine between invocations happens to both."""
    median_to_loop: float
    """The same of the medians of batches, which leave out what only some batches pay."""
    handshakes: int
    """Of the loop."""


def compare_levels(lab: Lab, program: Path, case: Case, handshakes: int, scale: Scale) -> Level:
    """Worker and loop take turns of two milliseconds, in fresh processes each invocation, until the loop has made
    `handshakes` and both have been started as often as the scale says: a process keeps what its addresses cost it,
    so a case of which one process makes thousands would be compared by two processes' luck. Rounds in which either
    was preempted count for neither."""
    subject = "openssl@system"
    setting = lab.setting(case, {subject: lab.kit(subject)}, scale.batches)
    levels: list[float] = []
    medians, loops = [], []
    made = 0
    while made < handshakes or len(levels) < scale.invocations:
        with PlainLoop(program, case, setting, chainless=True) as loop, Party(setting, subject) as party:
            rounds = range(WARM_UP_BATCHES + scale.batches)
            found = [one_each(party, loop, theirs_first=number % 2 == 1) for number in rounds]
        calm = [(own, plain) for own, plain in found[WARM_UP_BATCHES:] if not own.involuntary_switches]
        if not calm:
            continue
        samples = samples_of(subject, [own for own, _ in calm])
        levels += [sample.cost for sample in samples if sample.metric is Metric.CPU_NS]
        medians.append(np.median([turns_ns(own) for own, _ in calm]))
        loops.append(sum(plain.turns_ns for _, plain in calm) / sum(plain.handshakes for _, plain in calm))
        made += sum(plain.handshakes for _, plain in calm)
    level_ns, loop_ns = (float(np.median(each)) for each in (levels, loops))
    to_loop = estimate_median(np.divide(levels, loops).tolist())
    return Level(case, level_ns, loop_ns, to_loop, float(np.median(np.divide(medians, loops))), made)
