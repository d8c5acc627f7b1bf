"""What measuring adds to what is measured: batches with and without tick readings, from the same live workers."""

import statistics
from dataclasses import dataclass

from bench.lab import BenchError, Lab, Scale, turns_ns
from kexbench.analysis.estimates import MedianEstimate, RatioEstimate, compare, estimate_median
from kexbench.domain.cases import Case
from kexbench.domain.plans import BATCH_NS
from kexbench.domain.samples import Timer
from kexbench.runner.invocation import WARM_UP_BATCHES
from kexbench.runner.order import rounds
from kexbench.runner.party import Party
from kexbench.runner.records import Batch
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
    split: dict[str, list[float]] = {}
    unsplit: dict[str, list[float]] = {}
    costs, outside, timers = [], [], []
    for number in range(scale.invocations):
        found = _invocation(lab, case, subject, kit, scale.batches, number)
        if found is None:
            continue
        split[str(number)], unsplit[str(number)] = found.split_ns, found.unsplit_ns
        cpu_ns = statistics.median(found.turns_ns)
        costs.append(cpu_ns)
        both = zip(found.split_ns, found.turns_ns, strict=True)
        outside.append(statistics.median(all_ns / turns_ns - 1 for all_ns, turns_ns in both))
        timers.append(timers_ns(found.timer, cpu_ns) / cpu_ns)
    ratio = compare(split, unsplit)
    if ratio is None:
        raise BenchError(f"{case.case_id}: too few undisturbed batches on this machine")
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
    """The batches of one invocation's undisturbed rounds, per handshake."""

    split_ns: list[float]
    unsplit_ns: list[float]
    turns_ns: list[float]
    timer: Timer


def _invocation(lab: Lab, case: Case, subject: str, kit: TicketKit, batches: int, number: int) -> _Found | None:
    """None where every round was disturbed."""
    undisturbed: list[dict[str, Batch]] = []
    with Party(lab.setting(case, {subject: kit}, batches), subject) as party:
        for row, order in enumerate(
            rounds(("split", "unsplit"), WARM_UP_BATCHES + batches, f"{case.case_id}/{number}")
        ):
            found = {kind: party.batch(BATCH_NS, split=kind == "split") for kind in order}
            if row >= WARM_UP_BATCHES and not any(batch.involuntary_switches for batch in found.values()):
                undisturbed.append(found)
        if not undisturbed:
            return None
        return _Found(
            split_ns=[_thread_ns(found["split"]) for found in undisturbed],
            unsplit_ns=[_thread_ns(found["unsplit"]) for found in undisturbed],
            turns_ns=[turns_ns(found["split"]) for found in undisturbed],
            timer=party.timer,
        )


def _thread_ns(batch: Batch) -> float:
    """All CPU time of the thread a handshake."""
    return batch.thread_cpu_ns / batch.handshakes


def timers_ns(timer: Timer, cpu_ns: float) -> float:
    """The clocks' cost per handshake: ticks around every turn, and the CPU clock twice a batch."""
    batch = max(1.0, BATCH_NS / cpu_ns)
    return (TURNS + 1) * timer.tick_cost_ns + 2 * timer.thread_cpu_clock_cost_ns / batch
