"""The changes that this machine can detect, from workers that burn a known extra share, measured as in a run."""

from collections.abc import Iterator
from dataclasses import dataclass

from bench.machine import BenchError, Machine, children_cpu_s
from kexbench.analysis.pairs import batches_of
from kexbench.analysis.rounds import Vector, log_ratios
from kexbench.domain.cases import Case
from kexbench.domain.hosts import HostLoad
from kexbench.domain.plans import BATCHES
from kexbench.domain.samples import Invocation, Metric
from kexbench.runner.invocation import measure_invocation
from kexbench.runner.job_input import JobInputKit
from kexbench.runner.order import Turn

BASELINE, SAME, COPY = "baseline", "same", "copy"
INJECTIONS_PPM = (2000, 3000, 5000, 10000)
SAME_POOLS = 3
"""Relative size of the pool without a change. False alarms are rare, so their rate needs more invocations."""
CPU_BUDGET_S = 60


@dataclass(frozen=True)
class Pools:
    """Log ratios to the baseline, one for each invocation, by injected share. Share 0 is the same kit again."""

    case: Case
    log_ratios: dict[float, Vector]
    copy: Vector
    """Log ratios of a kit with the same content in other files."""
    pair_cpu_s: float
    """CPU time of one invocation of two subjects, including start, setup, warm-up and repeated batches."""
    discarded_batches: int
    preempted_batches: int

    @property
    def group(self) -> int:
        """The number of invocations of a pair within the budget, at most half of the pool."""
        smallest = min(len(ratios) for ratios in self.log_ratios.values())
        return min(int(CPU_BUDGET_S / self.pair_cpu_s), smallest // 2)


def measure_pools(machine: Machine, case: Case, source: str, invocations: int) -> Iterator[int | Pools]:
    """Yields the number of finished invocations of each pair, then the pools. Each pair has separate invocations, like
    the two sides of a comparison. The pairs alternate."""
    plain = machine.kit(f"{source}+burn=0")
    copy = JobInputKit(folder=machine.kit(f"{source}+burn={INJECTIONS_PPM[0]}").folder, manifest=plain.manifest)
    # All use the same files: other files are in other pages of memory, and that alone changes the cost.
    kits = {SAME: plain, COPY: copy}
    kits |= {f"burn-{ppm}": _burning(machine, f"{source}+burn={ppm}", plain) for ppm in INJECTIONS_PPM}
    job_inputs = {name: machine.job_input([case], {BASELINE: plain, name: kit}, BATCHES) for name, kit in kits.items()}
    invocations_of: dict[str, list[Invocation]] = {name: [] for name in job_inputs}
    began_s = children_cpu_s()
    for number in range(invocations):
        for name in (*job_inputs, *[SAME] * (SAME_POOLS - 1)):
            turn = Turn(case.case_id, (BASELINE, name), len(invocations_of[name]))
            invocations_of[name].append(
                whole(measure_invocation(job_inputs[name], turn, machine.cpus, machine.log, no_load))
            )
        yield number + 1
    invocations_done = [invocation for of_pair in invocations_of.values() for invocation in of_pair]
    pair_cpu_s = (children_cpu_s() - began_s) / len(invocations_done)
    shares = {SAME: 0.0} | {f"burn-{ppm}": ppm / 1e6 for ppm in INJECTIONS_PPM}
    yield Pools(
        case,
        {share: _against_baseline(invocations_of[name], case, name) for name, share in shares.items()},
        copy=_against_baseline(invocations_of[COPY], case, COPY),
        pair_cpu_s=pair_cpu_s,
        discarded_batches=sum(invocation.discarded_batches for invocation in invocations_done),
        preempted_batches=sum(invocation.preempted_batches for invocation in invocations_done),
    )


def _against_baseline(done: list[Invocation], case: Case, name: str) -> Vector:
    ours, baseline = (batches_of(done, case.case_id, reference, Metric.CPU_NS) for reference in (name, BASELINE))
    return log_ratios(ours, baseline)


def _burning(machine: Machine, reference: str, plain: JobInputKit) -> JobInputKit:
    return JobInputKit(folder=plain.folder, manifest=machine.kit(reference).manifest)


def whole(invocation: Invocation) -> Invocation:
    """The invocation. Raises BenchError if a subject has no numbers."""
    if invocation.outcomes:
        raise BenchError(f"{invocation.case_id}: {invocation.outcomes[0].reason}")
    return invocation


def no_load() -> HostLoad:
    """A load that is not read, because no benchmark uses it."""
    return HostLoad(load_average_1m=0.0)
