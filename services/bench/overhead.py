"""What measuring adds to what is measured: batches with and without tick readings, from the same live workers."""

import statistics
from dataclasses import dataclass

from kexbench.analysis.estimates import RatioEstimate, compare
from kexbench.domain.cases import Case
from kexbench.domain.samples import Timer
from kexbench.runner.order import rounds
from kexbench.runner.party import Party

from bench.lab import BATCH_NS, Lab, Scale

TURNS = 5
"""Of a TLS 1.2 handshake, the most of what is measured here; the ticks are read once more than there are turns."""


@dataclass(frozen=True)
class Overhead:
    """Of one case and kit. Shares are of the CPU time of a handshake's turns, 0.003 being 0.3%."""

    case: Case
    subject: str
    cpu_ns: float
    split: RatioEstimate
    """Batches with tick readings against batches without, all CPU time of the thread."""
    timers_share: float
    """What the clocks cost by the worker's own measurement at its start."""
    outside_share: float
    """Making, comparing and freeing of objects, which is left out of the numbers."""
    invocations: int


def measure_overhead(lab: Lab, case: Case, subject: str, scale: Scale) -> Overhead:
    """Split and unsplit batches take turns in random order, in fresh processes each invocation."""
    kit = lab.kit(subject)
    split: dict[str, float] = {}
    unsplit: dict[str, float] = {}
    costs, outside = [], []
    timer = None
    for invocation in range(scale.invocations):
        with Party(lab.setting(case, {subject: kit}, scale.batches), subject) as party:
            timer = party.timer
            values: dict[str, list[float]] = {"split": [], "unsplit": []}
            for number, order in enumerate(rounds(tuple(values), 2 + scale.batches, f"{case.case_id}/{invocation}")):
                for kind in order:
                    batch = party.batch(BATCH_NS, split=kind == "split")
                    if number < 2 or batch.involuntary_switches:
                        continue
                    values[kind].append(batch.thread_cpu_ns / batch.handshakes)
                    if batch.client_cpu_ns is not None and batch.server_cpu_ns is not None:
                        turns_ns = batch.client_cpu_ns + batch.server_cpu_ns
                        costs.append(turns_ns / batch.handshakes)
                        outside.append((batch.thread_cpu_ns - turns_ns) / turns_ns)
        if all(values.values()):
            split[str(invocation)] = statistics.median(values["split"])
            unsplit[str(invocation)] = statistics.median(values["unsplit"])
    ratio = compare(split, unsplit)
    if ratio is None or timer is None:
        raise RuntimeError(f"{case.case_id}: too few undisturbed batches on this machine")
    cpu_ns = statistics.median(costs)
    return Overhead(
        case=case,
        subject=subject,
        cpu_ns=cpu_ns,
        split=ratio,
        timers_share=timers_ns(timer, cpu_ns) / cpu_ns,
        outside_share=statistics.median(outside),
        invocations=len(split),
    )


def timers_ns(timer: Timer, cpu_ns: float) -> float:
    """The clocks' cost per handshake: ticks around every turn, and the CPU clock twice a batch."""
    batch = max(1.0, BATCH_NS / cpu_ns)
    return (TURNS + 1) * timer.tick_cost_ns + 2 * timer.thread_cpu_clock_cost_ns / batch
