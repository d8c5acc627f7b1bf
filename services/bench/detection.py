"""What change this machine can detect: workers that burn a known share, through the real path, resampled."""

import math
import statistics
from collections.abc import Iterator
from dataclasses import dataclass

from kexbench.domain.cases import Case
from kexbench.domain.hosts import HostLoad
from kexbench.domain.samples import Invocation, Metric
from kexbench.runner.invocation import WARM_UP_BATCHES, measure_invocation
from kexbench.runner.order import Turn

from bench.lab import BATCH_NS, Lab

BASELINE, SAME = "baseline", "same"
INJECTIONS_PPM = (2000, 3000, 5000, 10000)
BATCHES = 50
"""In each invocation here: so that 60 CPU-seconds are a hundred invocations of a pair."""
START_NS = 40_000_000
"""CPU time of starting and setting up one worker, counted into a pair's 60 seconds."""
CPU_BUDGET_S = 60


@dataclass(frozen=True)
class Pools:
    """Log ratios to the baseline, one an invocation, by injected share; 0 is the same kit once more."""

    case: Case
    log_ratios: dict[float, list[float]]
    group: int
    """How many invocations of a pair 60 CPU-seconds buy."""
    discarded_batches: int
    preempted_batches: int


def group_size(batches: int = BATCHES) -> int:
    """Invocations of two subjects in the budget, warm-up and starts included."""
    pair_ns = 2 * ((batches + WARM_UP_BATCHES) * BATCH_NS + START_NS)
    return int(CPU_BUDGET_S * 1e9 // pair_ns)


def measure_pools(lab: Lab, case: Case, source: str, invocations: int) -> Iterator[int | Pools]:
    """Yields the number of invocations done, then the pools. All kits interleave in every invocation."""
    plain = lab.kit(f"{source}+burn=0")
    kits = {BASELINE: plain, SAME: plain}
    kits |= {f"burn-{ppm}": lab.kit(f"{source}+burn={ppm}") for ppm in INJECTIONS_PPM}
    shares = {SAME: 0.0} | {f"burn-{ppm}": ppm / 1e6 for ppm in INJECTIONS_PPM}
    ticket = lab.ticket([case], kits, BATCHES)
    found: dict[float, list[float]] = {share: [] for share in shares.values()}
    discarded = preempted = 0
    for number in range(invocations):
        turn = Turn(case.case_id, tuple(kits), number)
        invocation = measure_invocation(ticket, turn, lab.cpus, lab.log, _no_load)
        costs = _medians(invocation)
        discarded += invocation.discarded_batches
        preempted += invocation.preempted_batches
        for reference, share in shares.items():
            found[share].append(_log_ratio(costs[reference], costs[BASELINE]))
        yield number + 1
    yield Pools(case, found, group_size(), discarded, preempted)


def _medians(invocation: Invocation) -> dict[str, float]:
    """Median CPU time by reference. Raises RuntimeError where a subject has none."""
    if invocation.outcomes:
        raise RuntimeError(f"{invocation.case_id}: {invocation.outcomes[0].reason}")
    return {
        sample.subject: statistics.median(sample.values)
        for sample in invocation.samples
        if sample.metric is Metric.CPU_NS
    }


def _log_ratio(first: float, second: float) -> float:
    return math.log(first) - math.log(second)


def _no_load() -> HostLoad:
    return HostLoad(load_average_1m=0.0)
