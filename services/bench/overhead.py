"""The overhead of measuring: compares batches with and without tick readings of the same live workers."""

import statistics
from dataclasses import dataclass

from bench.machine import BenchError, Machine, Scale, turns_ns
from kexbench.analysis.estimates import compare, estimate_median
from kexbench.domain.cases import Case
from kexbench.domain.intervals import Estimate, Ratio
from kexbench.domain.plans import BATCH_NS, WARM_UP_BATCHES
from kexbench.domain.samples import Timer
from kexbench.runner.job_input import JobInputKit
from kexbench.runner.order import rounds
from kexbench.runner.participant import Participant
from kexbench.runner.records import Batch

TURNS = 5
"""Turns of a TLS 1.2 handshake, the maximum here. The ticks are read once more than that."""


@dataclass(frozen=True)
class Overhead:
    """The overhead of one case and kit. Shares are of the CPU time of a handshake's turns: 0.003 is 0.3%."""

    case: Case
    subject: str
    cpu_ns: Estimate
    split: Ratio
    """Batches with tick readings divided by batches without, all CPU time of the thread."""
    timers_share: Estimate
    """The cost of the clocks, as the worker measures it at its start."""
    outside_share: Estimate
    """Creating, comparing and freeing of objects, which no metric includes."""
    invocations: int


def measure_overhead(machine: Machine, case: Case, subject: str, scale: Scale) -> Overhead:
    """Interleave split and unsplit batches in random order, in fresh processes for each invocation."""
    kit = machine.kit(subject)
    split: dict[str, list[float]] = {}
    unsplit: dict[str, list[float]] = {}
    costs, outside, timers = [], [], []
    for number in range(scale.invocations):
        batches = _invocation(machine, case, subject, kit, scale.batches, number)
        if batches is None:
            continue
        split[str(number)], unsplit[str(number)] = batches.split_ns, batches.unsplit_ns
        cpu_ns = statistics.median(batches.turns_ns)
        costs.append(cpu_ns)
        pairs = zip(batches.split_ns, batches.turns_ns, strict=True)
        outside.append(statistics.median(all_ns / turns_ns - 1 for all_ns, turns_ns in pairs))
        timers.append(timers_ns(batches.timer, cpu_ns) / cpu_ns)
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
class _Batches:
    """Costs per handshake of the batches in an invocation's undisturbed rounds."""

    split_ns: list[float]
    unsplit_ns: list[float]
    turns_ns: list[float]
    timer: Timer


def _invocation(
    machine: Machine, case: Case, subject: str, kit: JobInputKit, batches: int, number: int
) -> _Batches | None:
    """None if every round was disturbed."""
    undisturbed: list[dict[str, Batch]] = []
    with Participant(machine.setting(case, {subject: kit}, batches), subject) as participant:
        for row, order in enumerate(
            rounds(("split", "unsplit"), WARM_UP_BATCHES + batches, f"{case.case_id}/{number}")
        ):
            pair = {kind: participant.batch(BATCH_NS, split=kind == "split") for kind in order}
            if row >= WARM_UP_BATCHES and not any(batch.involuntary_switches for batch in pair.values()):
                undisturbed.append(pair)
        if not undisturbed:
            return None
        return _Batches(
            split_ns=[_thread_ns(pair["split"]) for pair in undisturbed],
            unsplit_ns=[_thread_ns(pair["unsplit"]) for pair in undisturbed],
            turns_ns=[turns_ns(pair["split"]) for pair in undisturbed],
            timer=participant.timer,
        )


def _thread_ns(batch: Batch) -> float:
    """All CPU time of the thread per handshake."""
    return batch.thread_cpu_ns / batch.handshakes


def timers_ns(timer: Timer, cpu_ns: float) -> float:
    """The cost of the clocks per handshake: tick readings around every turn, and two CPU clock readings in a batch."""
    handshakes = max(1.0, BATCH_NS / cpu_ns)
    return (TURNS + 1) * timer.tick_cost_ns + 2 * timer.thread_cpu_clock_cost_ns / handshakes
