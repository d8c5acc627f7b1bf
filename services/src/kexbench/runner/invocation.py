"""One invocation of one case: a set of fresh workers, warmed up, then measured in interleaved batches."""

import signal
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from kexbench.domain.hosts import HostLoad
from kexbench.domain.samples import (
    ABSENT,
    MIN_CLEAN_BATCHES,
    SIGNALS_FROM_OUTSIDE,
    SPOILT_BY_PREEMPTION,
    Invocation,
    Metric,
    Negotiated,
    Outcome,
    OutcomeKind,
    Sample,
    Timer,
)
from kexbench.runner.cpus import Cpus
from kexbench.runner.host import memory_kills
from kexbench.runner.order import Turn, rounds
from kexbench.runner.party import Dropped, Party, Setting
from kexbench.runner.records import Batch, Examined
from kexbench.runner.ticket import Ticket

WARM_UP_BATCHES = 2


class CutShort(Exception):
    """Somebody outside ended a worker, as happens when a pod is deleted or a machine shuts down. The invocation says
    nothing about the library, so nothing of it is kept."""


def measure_invocation(ticket: Ticket, turn: Turn, cpus: Cpus, log: Path, load: Callable[[], HostLoad]) -> Invocation:
    """Measure one turn. Whatever a worker does, the invocation is whole: numbers or an outcome for
    each subject. `load` tells how busy the machine was since it was last asked. Raises CutShort."""
    case = next(case for case in ticket.cases if case.case_id == turn.case_id)
    started_at = datetime.now(UTC)
    with ExitStack() as stack:
        parties = _Parties(Setting(ticket, case, cpus, log), len(turn.block), stack)
        seed = f"{ticket.seed}/{turn.case_id}/{turn.invocation}"
        orders = list(rounds(turn.block, WARM_UP_BATCHES + ticket.measure.batches, seed))
        for reference in orders[0]:  # who is always started first could have it better always
            parties.start(reference)
        for number, order in enumerate(orders):
            for reference in order:
                if reference in parties.live:
                    parties.run_batch(reference, keep=number >= WARM_UP_BATCHES)
        if turn.examines:
            parties.examine()
    return Invocation(
        run_id=ticket.run_id,
        job_id=ticket.job.job_id,
        attempt=ticket.attempt,
        case_id=case.case_id,
        invocation=turn.invocation,
        host_id=ticket.host_id,
        host_load=load(),
        started_at=started_at.isoformat(timespec="milliseconds"),
        discarded_batches=parties.discarded,
        preempted_batches=parties.preempted,
        negotiated=parties.negotiated,
        timers=parties.timers,
        samples=parties.samples(),
        outcomes=tuple(parties.outcomes.values()),
    )


def samples_of(reference: str, batches: list[Batch]) -> list[Sample]:
    """A batch's totals as values per handshake, rounded to what the clocks can tell. What no batch knows has no sample.

    A batch whose thread was preempted knows its CPU time alone: what the ticks split between the sides, and the wall
    clock, hold the time of others. With fewer than MIN_CLEAN_BATCHES clean batches there is no sample of those metrics.
    A preempted batch's turns are given the share of its CPU time that they have in clean batches.
    """
    values: dict[Metric, list[float]] = defaultdict(list)
    costs: dict[Metric, _Cost] = defaultdict(_Cost)
    clean = sum(not batch.involuntary_switches for batch in batches)
    share = _share_of_turns([batch for batch in batches if not batch.involuntary_switches])
    for batch in batches:
        totals = {
            Metric.CPU_NS: _turns_ns(batch, share),
            Metric.CLIENT_CPU_NS: batch.client_cpu_ns,
            Metric.SERVER_CPU_NS: batch.server_cpu_ns,
            Metric.WALL_NS: batch.wall_ns,
            Metric.ELAPSED_NS: batch.elapsed_ns,
            Metric.CLIENT_BYTES: batch.client_bytes,
            Metric.SERVER_BYTES: batch.server_bytes,
        }
        spoilt = SPOILT_BY_PREEMPTION if batch.involuntary_switches else frozenset()
        for metric, total in totals.items():
            if total is None:
                continue
            values[metric].append(ABSENT if metric in spoilt else round(total / batch.handshakes))
            if metric in LEVELS and metric not in spoilt:
                costs[metric].add(total, batch.handshakes)
        if batch.first_ns is not None:
            values[Metric.FIRST_NS].append(ABSENT if Metric.FIRST_NS in spoilt else batch.first_ns)
    return [
        Sample(
            subject=reference,
            metric=metric,
            values=tuple(of_batches),
            level=costs[metric].per_handshake if metric in costs else None,
        )
        for metric, of_batches in values.items()
        if metric not in SPOILT_BY_PREEMPTION or clean >= min(MIN_CLEAN_BATCHES, len(batches))
    ]


def _share_of_turns(clean: Sequence[Batch]) -> float | None:
    """Of the CPU time of batches that were not preempted; None where there is none."""
    split = [(batch.cpu_ns, batch.thread_cpu_ns) for batch in clean if batch.cpu_ns is not None]
    thread_cpu_ns = sum(of_thread for _, of_thread in split)
    return sum(of_turns for of_turns, _ in split) / thread_cpu_ns if thread_cpu_ns else None


def _turns_ns(batch: Batch, share: float | None) -> int | None:
    """CPU time of both sides' turns. A preempted batch's own ticks would give the turns too much of it, since the time
    of others counts as a turn's; `share` is that of batches that were not preempted."""
    if not batch.involuntary_switches or batch.cpu_ns is None or share is None:
        return batch.cpu_ns
    return round(batch.thread_cpu_ns * share)


LEVELS = frozenset({Metric.CPU_NS, Metric.CLIENT_CPU_NS, Metric.SERVER_CPU_NS, Metric.WALL_NS, Metric.ELAPSED_NS})
"""What libraries pay for some handshakes only is in these, and in few batches: OpenSSL makes new RSA blinding every 32
operations. A median of batches would leave it out."""


@dataclass
class _Cost:
    total: int = 0
    handshakes: int = 0

    def add(self, total: int, handshakes: int) -> None:
        self.total += total
        self.handshakes += handshakes

    @property
    def per_handshake(self) -> float:
        return self.total / self.handshakes


_EXAMINED = tuple(metric for metric in Metric if metric in Examined.model_fields and metric not in Batch.model_fields)


def examined_samples(reference: str, examined: Examined) -> list[Sample]:
    """The untimed pass as one value per handshake, or per connection held, and metric."""
    samples = []
    for metric in _EXAMINED:
        total: int | None = getattr(examined, metric)
        if total is None:
            continue
        shared = examined.handshakes
        if metric in (Metric.CLIENT_HELD_BYTES, Metric.SERVER_HELD_BYTES):
            shared = examined.held_connections
        elif metric is Metric.HEAP_PEAK_BYTES:
            shared = 1
        samples.append(Sample(subject=reference, metric=metric, values=(total / shared,)))
    return samples


class _Parties:
    """The subjects of one invocation. One that fails leaves `live`, its batches with it, and has an outcome."""

    def __init__(self, setting: Setting, subjects: int, stack: ExitStack) -> None:
        self._setting = setting
        self._stack = stack
        self._retries = setting.ticket.measure.batches * subjects // 2
        self._kept: dict[str, list[Batch]] = defaultdict(list)
        self._examined: dict[str, list[Sample]] = {}
        self.live: dict[str, Party] = {}
        self.negotiated: dict[str, Negotiated] = {}
        self.timers: dict[str, Timer] = {}
        self.outcomes: dict[str, Outcome] = {}
        self.discarded = 0
        self.preempted = 0
        self._memory_kills = memory_kills()

    def start(self, reference: str) -> None:
        """Start a subject's workers and set up the case; a refusal is an outcome."""
        try:
            party = self._stack.enter_context(Party(self._setting, reference))
        except Dropped as fault:
            self._drop(reference, fault)
        else:
            self.live[reference] = party
            self.negotiated[reference] = party.negotiated
            self.timers[reference] = party.timer

    def run_batch(self, reference: str, *, keep: bool) -> None:
        """One batch. One in which the thread was preempted is repeated, as long as there are retries left
        in this invocation; after that it is kept and counted, since a busy machine must not stop a run."""
        batch = self._batch(reference)
        while keep and batch and batch.involuntary_switches and self._retries:
            self._retries -= 1
            self.discarded += 1
            batch = self._batch(reference)
        if keep and batch:
            self.preempted += bool(batch.involuntary_switches)
            self._kept[reference].append(batch)

    def examine(self) -> None:
        """The untimed pass of everybody who came through; it is behind all that is timed."""
        for reference, party in tuple(self.live.items()):
            try:
                examined = party.examine()
            except Dropped as fault:
                self._drop(reference, fault)
            else:
                self._examined[reference] = examined_samples(reference, examined) if examined else []

    def samples(self) -> tuple[Sample, ...]:
        """Of every subject that came through."""
        return tuple(
            sample
            for reference in self.live
            for sample in [*samples_of(reference, self._kept[reference]), *self._examined.get(reference, [])]
        )

    def _batch(self, reference: str) -> Batch | None:
        try:
            return self.live[reference].batch(self._setting.ticket.measure.batch_ns)
        except Dropped as fault:
            self._drop(reference, fault)
            return None

    def _drop(self, reference: str, fault: Dropped) -> None:
        if fault.signal in SIGNALS_FROM_OUTSIDE:
            if fault.signal != signal.SIGKILL or memory_kills() == self._memory_kills:
                raise CutShort(f"{reference}: {fault.reason}") from None
            fault = Dropped(OutcomeKind.ERROR, "the kernel ended the worker because the memory ran out")
        self.live.pop(reference, None)
        self.negotiated.pop(reference, None)
        self.timers.pop(reference, None)
        self.outcomes[reference] = fault.outcome(reference)
