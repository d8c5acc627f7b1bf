"""What measuring adds to what is measured: batches with and without tick readings, from the same live workers."""

import statistics
from dataclasses import dataclass

from bench.lab import BATCH_NS, Lab, Scale, turns_ns
from kexbench.analysis.estimates import MedianEstimate, RatioEstimate, compare, estimate_median
from kexbench.domain.cases import Case
from kexbench.domain.samples import Timer
from kexbench.runner.invocation import WARM_UP_BATCHES
from kexbench.runner.order import rounds
from kexbench.runner.party import Party
from kexbench.runner.ticket import TicketKit

TURNS = 5
"""Of a TLS 1.2 handshake, the most of what is measured here; the ticks are read once more than there are turns."""


@dataclass(frozen=True)
class Overhead:
    """Of one case and kit. Shares are of the CPU time of a handshake's turns, 0.003 being 0.3%."""

    case: Case
    subject: str
    cpu_ns: MedianEstimate
    split: RatioEstimate
    """Batches with tick readings against batches without, all CPU time of the thread."""
    timers_share: MedianEstimate
    """What the clocks cost by the worker's own measurement at its start."""
    outside_share: MedianEstimate
    """Making, comparing and freeing of objects, which is left out of the numbers."""
    invocations: int


def measure_overhead(lab: Lab, case: Case, subject: str, scale: Scale) -> Overhead:
    """Split and unsplit batches take turns in random order, in fresh processes each invocation."""
    kit = lab.kit(subject)
    split: dict[str, float] = {}
    unsplit: dict[str, float] = {}
    costs, outside, timers = [], [], []
    for number in range(scale.invocations):
        found = _invocation(lab, case, subject, kit, scale.batches, number)
        if found is None:
            continue
        split[str(number)], unsplit[str(number)] = found.split_ns, found.unsplit_ns
        costs.append(found.turns_ns)
        outside.append(found.split_ns / found.turns_ns - 1)
        timers.append(timers_ns(found.timer, found.turns_ns) / found.turns_ns)
    ratio = compare(split, unsplit)
    if ratio is None:
        raise RuntimeError(f"{case.case_id}: too few undisturbed batches on this machine")
    return Overhead(
        case=case,
        subject=subject,
        cpu_ns=estimate_median(costs),
        split=ratio,
        timers_share=estimate_median(timers),
        outside_share=estimate_median(outside),
        invocations=len(split),
    )


@dataclass(frozen=True)
class _Found:
    """Medians over the undisturbed batches of one invocation, per handshake."""

    split_ns: float
    unsplit_ns: float
    turns_ns: float
    timer: Timer


def _invocation(lab: Lab, case: Case, subject: str, kit: TicketKit, batches: int, number: int) -> _Found | None:
    """None where every batch of a kind was disturbed."""
    values: dict[str, list[float]] = {"split": [], "unsplit": []}
    turns: list[float] = []
    with Party(lab.setting(case, {subject: kit}, batches), subject) as party:
        for row, order in enumerate(rounds(tuple(values), WARM_UP_BATCHES + batches, f"{case.case_id}/{number}")):
            for kind in order:
                batch = party.batch(BATCH_NS, split=kind == "split")
                if row < WARM_UP_BATCHES or batch.involuntary_switches:
                    continue
                values[kind].append(batch.thread_cpu_ns / batch.handshakes)
                if kind == "split":
                    turns.append(turns_ns(batch))
        if not all(values.values()):
            return None
        medians = {kind: statistics.median(found) for kind, found in values.items()}
        return _Found(medians["split"], medians["unsplit"], statistics.median(turns), party.timer)


def timers_ns(timer: Timer, cpu_ns: float) -> float:
    """The clocks' cost per handshake: ticks around every turn, and the CPU clock twice a batch."""
    batch = max(1.0, BATCH_NS / cpu_ns)
    return (TURNS + 1) * timer.tick_cost_ns + 2 * timer.thread_cpu_clock_cost_ns / batch
