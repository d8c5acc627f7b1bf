"""What change this machine can detect: workers that burn a known share, through the real path, resampled."""

from collections.abc import Iterator
from dataclasses import dataclass

from bench.lab import BenchError, Lab, children_cpu_s
from kexbench.analysis.pairs import batches_of
from kexbench.analysis.rounds import Vector, log_ratios
from kexbench.domain.cases import Case
from kexbench.domain.hosts import HostLoad
from kexbench.domain.plans import BATCHES
from kexbench.domain.samples import Invocation, Metric
from kexbench.runner.invocation import measure_invocation
from kexbench.runner.order import Turn
from kexbench.runner.ticket import TicketKit

BASELINE, SAME, COPY = "baseline", "same", "copy"
INJECTIONS_PPM = (2000, 3000, 5000, 10000)
SAME_POOLS = 3
"""How many times as large the pool without a change is: false alarms are rare, and it alone tells how rare."""
CPU_BUDGET_S = 60


@dataclass(frozen=True)
class Pools:
    """Log ratios to the baseline, one an invocation, by injected share; 0 is the same kit once more."""

    case: Case
    log_ratios: dict[float, Vector]
    copy: Vector
    """Log ratios of a kit with the same content in files of its own."""
    pair_cpu_s: float
    """CPU time of one invocation of two subjects, with all that belongs to it: starts, set-up, warm-up, repetitions."""
    discarded_batches: int
    preempted_batches: int

    @property
    def group(self) -> int:
        """How many invocations of a pair the budget buys, or half of the pool where that is smaller."""
        smallest = min(len(ratios) for ratios in self.log_ratios.values())
        return min(int(CPU_BUDGET_S / self.pair_cpu_s), smallest // 2)


def measure_pools(lab: Lab, case: Case, source: str, invocations: int) -> Iterator[int | Pools]:
    """Yields the number of invocations done of each pair, then the pools. A pair has invocations of its own, as the two
    sides of a comparison have; all pairs take turns."""
    plain = lab.kit(f"{source}+burn=0")
    copy = TicketKit(folder=lab.kit(f"{source}+burn={INJECTIONS_PPM[0]}").folder, manifest=plain.manifest)
    # All from the same files: others lie in other pages of memory, which alone makes a difference.
    others = {SAME: plain, COPY: copy}
    others |= {f"burn-{ppm}": _burning(lab, f"{source}+burn={ppm}", plain) for ppm in INJECTIONS_PPM}
    tickets = {name: lab.ticket([case], {BASELINE: plain, name: kit}, BATCHES) for name, kit in others.items()}
    done: dict[str, list[Invocation]] = {name: [] for name in tickets}
    began_s = children_cpu_s()
    for number in range(invocations):
        for name in (*tickets, *[SAME] * (SAME_POOLS - 1)):
            turn = Turn(case.case_id, (BASELINE, name), len(done[name]))
            done[name].append(whole(measure_invocation(tickets[name], turn, lab.cpus, lab.log, no_load)))
        yield number + 1
    every = [invocation for of_pair in done.values() for invocation in of_pair]
    pair_cpu_s = (children_cpu_s() - began_s) / len(every)
    shares = {SAME: 0.0} | {f"burn-{ppm}": ppm / 1e6 for ppm in INJECTIONS_PPM}
    yield Pools(
        case,
        {share: _against_baseline(done[name], case, name) for name, share in shares.items()},
        copy=_against_baseline(done[COPY], case, COPY),
        pair_cpu_s=pair_cpu_s,
        discarded_batches=sum(one.discarded_batches for one in every),
        preempted_batches=sum(one.preempted_batches for one in every),
    )


def _against_baseline(done: list[Invocation], case: Case, name: str) -> Vector:
    ours, baseline = (batches_of(done, case.case_id, reference, Metric.CPU_NS) for reference in (name, BASELINE))
    return log_ratios(ours, baseline)


def _burning(lab: Lab, reference: str, plain: TicketKit) -> TicketKit:
    return TicketKit(folder=plain.folder, manifest=lab.kit(reference).manifest)


def whole(invocation: Invocation) -> Invocation:
    """Raises BenchError where a subject has no numbers."""
    if invocation.outcomes:
        raise BenchError(f"{invocation.case_id}: {invocation.outcomes[0].reason}")
    return invocation


def no_load() -> HostLoad:
    """A machine whose load nobody asked for."""
    return HostLoad(load_average_1m=0.0)
