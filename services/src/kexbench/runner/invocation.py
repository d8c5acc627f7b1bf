"""One invocation of one case: a set of fresh workers, warmed up, then measured in interleaved batches."""

import signal
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from kexbench.domain.cases import Case
from kexbench.domain.hosts import HostLoad
from kexbench.domain.metrics import EXAMINED, TIMED, VARIED, Metric
from kexbench.domain.plans import WARM_UP_BATCHES
from kexbench.domain.samples import (
    ABSENT,
    MIN_CLEAN_BATCHES,
    MIN_VARIED_BATCHES,
    SIGNALS_FROM_OUTSIDE,
    Invocation,
    Negotiated,
    Outcome,
    OutcomeKind,
    Sample,
    Timer,
)
from kexbench.domain.spreads import spread_of
from kexbench.runner.age import age_of
from kexbench.runner.cpus import Cpus
from kexbench.runner.host import memory_kills
from kexbench.runner.job_input import JobInput
from kexbench.runner.order import Turn, rounds
from kexbench.runner.participant import Dropped, Participant, Setting
from kexbench.runner.path import connect_over_path
from kexbench.runner.records import Batch, Examination
from kexbench.runner.serving import Served, ServedParticipant, served_samples
from kexbench.runner.start import start_processes


class CutShort(Exception):
    """A worker was ended from outside, for example because its pod was deleted or the machine shuts down. This says
    nothing about the library, so the invocation is discarded."""


def measure_invocation(
    job_input: JobInput, turn: Turn, cpus: Cpus, log: Path, load: Callable[[], HostLoad]
) -> Invocation:
    """Measure one invocation. Each subject gets numbers or an outcome, whatever its workers do.
    `load` returns how busy the machine was since the previous call. Raises CutShort."""
    case = next(case for case in job_input.cases if case.case_id == turn.case_id)
    started_at = datetime.now(UTC)
    with ExitStack() as stack:
        participants = _Participants(Setting(job_input, case, cpus, log), len(turn.block), stack)
        seed = turn.seed(job_input.seed)
        orders = list(rounds(turn.block, WARM_UP_BATCHES + job_input.measure.batches, seed))
        for reference in orders[0]:  # in a random order, because the first one started may have an advantage
            participants.start(reference)
        for number, order in enumerate(orders):
            for reference in order:
                if reference in participants.live:
                    participants.run_batch(reference, keep=number >= WARM_UP_BATCHES)
        if turn.examines:
            participants.examine()
        if case.network_path:
            participants.connect(orders[-1], seed)
        if job_input.measure.starts_processes(case):
            participants.begin_processes(orders[-1])
        if job_input.measure.age and case.ages:
            participants.age(orders[-1])
    return Invocation(
        run_id=job_input.run_id,
        job_id=job_input.job.job_id,
        attempt=job_input.attempt,
        case_id=case.case_id,
        invocation=turn.invocation,
        host_id=job_input.host_id,
        host_load=load(),
        started_at=started_at.isoformat(timespec="milliseconds"),
        discarded_batches=participants.discarded,
        preempted_batches=participants.preempted,
        negotiated=participants.negotiated,
        timers=participants.timers,
        samples=participants.samples(),
        outcomes=tuple(participants.outcomes.values()),
    )


def samples_of(reference: str, batches: list[Batch], *, whole_connection: bool = False) -> list[Sample]:
    """The totals of batches per handshake, rounded to the clocks' resolution. A metric without values has no sample.
    With `whole_connection`, CPU time is that of everything from making the objects to freeing them.

    Of a disturbed batch, only the CPU time is valid: its ticks and its wall clock include the time of other programs.
    With fewer than MIN_CLEAN_BATCHES clean batches, those metrics have no sample. The parts of a disturbed batch get
    the same share of its CPU time as in clean batches. The turn of one thread alone counts where it was undisturbed."""
    values: dict[Metric, list[float]] = defaultdict(list)
    costs: dict[Metric, _Cost] = defaultdict(_Cost)
    undisturbed = [batch for batch in batches if not batch.disturbed]
    for batch in batches:
        for metric, timed in TIMED.items():
            total_name = (whole_connection and timed.whole) or timed.total or metric
            shared = timed.disturbed == "shared" and batch.disturbed
            total = _shared_ns(batch, undisturbed, total_name) if shared else batch.total(total_name)
            if total is None:
                continue
            per = getattr(batch, timed.per) if timed.per else 1
            disturbed = batch.alone_disturbed if timed.per == "alone_handshakes" else batch.disturbed
            absent = disturbed and timed.disturbed == "absent"
            values[metric].append(ABSENT if absent else round(total / per))
            if has_level(metric) and not absent:
                costs[metric].add(total, per)
    return [
        Sample(
            subject=reference,
            metric=metric,
            values=tuple(batch_values),
            level=costs[metric].per_handshake if metric in costs else None,
        )
        for metric, batch_values in values.items()
        if len(batch_values) - batch_values.count(ABSENT) >= min(MIN_CLEAN_BATCHES, len(batches))
    ]


def _shared_ns(batch: Batch, undisturbed: Sequence[Batch], part: str) -> int | None:
    """CPU time of a part of a disturbed batch, both sides. The batch's own ticks include the time of other programs. So
    its part gets the share of the CPU time that the part has in undisturbed batches."""
    split = [(clean_ns, clean.thread_cpu_ns) for clean in undisturbed if (clean_ns := clean.total(part)) is not None]
    thread_cpu_ns = sum(of_thread for _, of_thread in split)
    part_ns = batch.total(part)
    if part_ns is None or not thread_cpu_ns:
        return part_ns
    return round(batch.thread_cpu_ns * sum(ns for ns, _ in split) / thread_cpu_ns)


def varied_samples(reference: str, batches: Sequence[Batch]) -> list[Sample]:
    """How much the undisturbed batches of several threads vary, as one value for each metric. None of too few."""
    undisturbed = [batch for batch in batches if not batch.disturbed]
    if len(undisturbed) < MIN_VARIED_BATCHES:
        return []
    costs = {
        metric: [(batch.total(varied.total) or 0) / batch.handshakes for batch in undisturbed]
        for metric, varied in VARIED.items()
    }
    return [
        Sample(subject=reference, metric=metric, values=(1e6 * spread_of(values),))
        for metric, values in costs.items()
        if min(values) > 0
    ]


def has_level(metric: Metric) -> bool:
    """Whether it includes costs of few handshakes. OpenSSL, for example, makes new RSA blinding every 32 operations. A
    median of batches would omit such costs."""
    return metric.unit == "ns" and metric is not Metric.FIRST_NS


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


def examined_samples(reference: str, examination: Examination) -> list[Sample]:
    """The untimed pass as one value of each metric, per handshake or per open connection."""
    amounts = {metric: examination.amount(metric) for metric in EXAMINED}
    return [
        Sample(subject=reference, metric=metric, values=(amount,))
        for metric, amount in amounts.items()
        if amount is not None
    ]


def _samples(reference: str, batches: Sequence[Batch | Served], case: Case) -> list[Sample]:
    if case.has_server:
        return served_samples(reference, [batch for batch in batches if isinstance(batch, Served)])
    in_memory = [batch for batch in batches if isinstance(batch, Batch)]
    varied = varied_samples(reference, in_memory) if case.threads > 1 else []
    return [*samples_of(reference, in_memory, whole_connection=case.is_whole_connection), *varied]


def _participant(setting: Setting, reference: str) -> Participant | ServedParticipant:
    """Raises Dropped."""
    return ServedParticipant(setting, reference) if setting.case.has_server else Participant(setting, reference)


class _Participants:
    """The subjects of one invocation. A subject that fails leaves `live`, loses its batches and gets an outcome."""

    def __init__(self, setting: Setting, subjects: int, stack: ExitStack) -> None:
        self._setting = setting
        self._stack = stack
        self._retries = setting.job_input.measure.batches * subjects // 2
        self._kept: dict[str, list[Batch | Served]] = defaultdict(list)
        self._examined: dict[str, list[Sample]] = {}
        self._further: dict[str, list[Sample]] = defaultdict(list)
        self.live: dict[str, Participant | ServedParticipant] = {}
        self.negotiated: dict[str, Negotiated] = {}
        self.timers: dict[str, Timer] = {}
        self.outcomes: dict[str, Outcome] = {}
        self.discarded = 0
        self.preempted = 0
        self._memory_kills = memory_kills()

    def start(self, reference: str) -> None:
        """Start a subject's workers and set up the case. A refusal becomes its outcome."""
        try:
            participant = _participant(self._setting, reference)
        except Dropped as fault:
            self._drop(reference, fault)
        else:
            self._stack.enter_context(participant)
            self.live[reference] = participant
            self.negotiated[reference] = participant.negotiated
            self.timers[reference] = participant.timer

    def run_batch(self, reference: str, *, keep: bool) -> None:
        """Run one batch. Repeat it if it was disturbed and this invocation has retries left. Without retries the batch
        is kept and counted, because a busy machine must not stop a run."""
        measure = self._setting.job_input.measure
        # Some ten connections warm a web server up, so that warming up needs no batch of a tenth of a second.
        min_ns = measure.batch_ns_of(self._setting.case) if keep else measure.batch_ns
        batch = self._batch(reference, min_ns)
        while keep and batch and batch.disturbed and self._retries:
            self._retries -= 1
            self.discarded += 1
            batch = self._batch(reference, min_ns)
        if keep and batch:
            self.preempted += batch.disturbed
            self._kept[reference].append(batch)

    def examine(self) -> None:
        """Make the untimed pass of each live subject, after all timed batches."""
        for reference, participant in tuple(self.live.items()):
            try:
                examined = participant.examine()
            except Dropped as fault:
                self._drop(reference, fault)
            else:
                self._examined[reference] = examined_samples(reference, examined) if examined else []

    def connect(self, order: Sequence[str], seed: str) -> None:
        """Have the live subjects connect over the case's path, one after the other. All lose packets by the same
        seed."""
        for reference in order:
            if isinstance(participant := self.live.get(reference), Participant):
                try:
                    self._further[reference] += connect_over_path(
                        self._setting, reference, participant.last_batch, seed
                    )
                except Dropped as fault:
                    self._drop(reference, fault)

    def begin_processes(self, order: Sequence[str]) -> None:
        """Have the live subjects start fresh processes, one subject after the other."""
        for reference in order:
            if reference in self.live:
                try:
                    self._further[reference] += start_processes(self._setting, reference)
                except Dropped as fault:
                    self._note(reference, fault)

    def age(self, order: Sequence[str]) -> None:
        """Age a context of each live subject, one after the other."""
        for reference in order:
            if isinstance(participant := self.live.get(reference), Participant):
                try:
                    self._further[reference] += age_of(self._setting, reference, participant.last_batch)
                except Dropped as fault:
                    self._note(reference, fault)

    def samples(self) -> tuple[Sample, ...]:
        """The samples of all subjects that are still live."""
        return tuple(
            sample
            for reference in self.live
            for sample in [
                *_samples(reference, self._kept[reference], self._setting.case),
                *self._examined.get(reference, []),
                *self._further[reference],
            ]
        )

    def _batch(self, reference: str, min_ns: int) -> Batch | Served | None:
        try:
            return self.live[reference].batch(min_ns)
        except Dropped as fault:
            self._drop(reference, fault)
            return None

    def _drop(self, reference: str, fault: Dropped) -> None:
        """Without any number."""
        self._note(reference, fault)
        self.live.pop(reference, None)
        self.negotiated.pop(reference, None)
        self.timers.pop(reference, None)

    def _note(self, reference: str, fault: Dropped) -> None:
        """Beside the numbers that were measured before."""
        if fault.signal in SIGNALS_FROM_OUTSIDE:
            if fault.signal != signal.SIGKILL or memory_kills() == self._memory_kills:
                raise CutShort(f"{reference}: {fault.reason}") from None
            fault = Dropped(OutcomeKind.ERROR, "the kernel killed the worker because memory ran out")
        self.outcomes[reference] = fault.outcome(reference)
