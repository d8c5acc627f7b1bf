"""Whether the worker's threads are as fast together as those of an independent loop, with the libraries of kits."""

import os
import statistics
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Self

from bench.connection_loop import build_loop, loop_command
from bench.machine import BenchError, Machine, Scale
from kexbench.analysis.estimates import estimate_median
from kexbench.domain.cases import Case, KeyExchange, Protocol
from kexbench.domain.dimensions import ContextUse
from kexbench.domain.intervals import Estimate
from kexbench.domain.plans import THREADS_BATCH_NS, WARM_UP_BATCHES
from kexbench.domain.possible import POOL_THREADS
from kexbench.domain.samples import MIN_VARIED_BATCHES
from kexbench.runner.invocation import varied_samples
from kexbench.runner.job_input import JobInputKit
from kexbench.runner.participant import Participant, Setting
from kexbench.runner.records import Batch

PROGRAM = "plain_threads"
SUBJECTS = tuple(f"openssl@debian/{suite}" for suite in ("bullseye", "bookworm", "trixie"))
WITHOUT_LIBRARY_CONTEXTS = SUBJECTS[0]
TOLERANCE = 0.03
"""By so much the rates may differ."""
ROUNDS = 10
"""Of each invocation."""


def thread_counts(cpus: int) -> list[int]:
    """1, 2, 4 and so on, and as many as there are CPUs."""
    return sorted({1 << power for power in range(cpus.bit_length())} | {cpus})


def case_of(threads: int, context: ContextUse = ContextUse.SHARED) -> Case:
    return Case(
        protocol=Protocol.TLS_1_3,
        key_exchange=KeyExchange.ECDHE_ECDSA,
        curve="P-256",
        group="X25519",
        threads=threads,
        context=context,
    )


def cases_of(reference: str, cpus: int) -> list[Case]:
    """One context for each number of threads, then the other ways of sharing with as many threads as they need."""
    apart = [case_of(2, ContextUse.LIBRARY)] if reference != WITHOUT_LIBRARY_CONTEXTS else []
    return [*map(case_of, thread_counts(cpus)), case_of(POOL_THREADS, ContextUse.POOL), *apart]


@dataclass(frozen=True)
class Round:
    """A worker's batch and the loop's turn, one right after the other. Rates are handshakes a second of wall time."""

    batch: Batch
    loop_rate: float

    @property
    def worker_rate(self) -> float:
        return 1e9 * self.batch.handshakes / self.batch.elapsed_ns

    @property
    def efficiency(self) -> float | None:
        """The worker's, with its own base: one thread alone. None where other programs disturbed that one."""
        if self.batch.alone_handshakes is None or not self.batch.alone_elapsed_ns or self.batch.alone_disturbed:
            return None
        return self.worker_rate * self.batch.alone_elapsed_ns / (1e9 * self.batch.alone_handshakes)


@dataclass(frozen=True)
class Together:
    """A number of threads with a kit's library, measured by the worker and by the loop."""

    subject: str
    version: str
    case: Case
    worker_rate: float
    loop_rate: float
    """Medians of the rates of all threads together."""
    ratio: Estimate
    """The worker's by the loop's: the median over invocations of the median ratio of rounds."""
    worker_spread: float | None
    """How much its rate varies from round to round, as kexbench stores it: the median over invocations."""
    loop_spread: float | None
    """The standard deviation of the loop's rates of the same rounds, as a share: the median over invocations."""
    efficiency: float | None
    """Of the worker: the median of rounds, divided by the threads."""
    disturbed: int
    """Rounds left out, since other programs took CPU time from the worker."""
    rounds: int

    @property
    def agrees(self) -> bool:
        """An interval that reaches into the tolerance is not a disagreement."""
        low, high = self.ratio.low, self.ratio.high
        if low is None or high is None:
            low = high = self.ratio.value
        return low - 1 <= TOLERANCE and 1 - high <= TOLERANCE


class ThreadsLoop:
    """The loop as a live process, on the worker's CPUs. Leaving the context manager ends it."""

    def __init__(self, program: Path, kit: JobInputKit, setting: Setting) -> None:
        threads, folder, files = setting.case.threads, setting.job_input.material_folder, setting.files
        launch = kit.manifest.launch(kit.folder, folder)
        cpus = [cpu for option in setting.cpus.pin(threads)[1:] for cpu in option.split(",")]
        words = [str(folder / files.certificate), str(folder / files.key), str(threads), setting.case.context]
        words += cpus if len(cpus) == threads else []
        self._process = subprocess.Popen(
            loop_command(kit.manifest, kit.folder, program, words),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=launch.environment,
            cwd=launch.folder,
        )
        if cpus and len(cpus) < threads:
            for thread in Path(f"/proc/{self._process.pid}/task").iterdir():
                os.sched_setaffinity(int(thread.name), map(int, cpus))

    def rate(self, min_ns: int) -> float:
        """Handshakes a second of all threads together. Raises BenchError if the loop has ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(f"{min_ns}\n")
            self._process.stdin.flush()
            return float(self._process.stdout.readline().split()[1])
        except (BrokenPipeError, IndexError, ValueError):
            raise BenchError(f"{PROGRAM} ended: its standard error says why") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()


def compare_threads(machine: Machine, scale: Scale) -> Iterator[str | Together]:
    """Yields each step, and the results. Raises BenchError and KitError."""
    workshop, source = machine.installation.workshop(), machine.installation.settings.workers
    cpus = len(os.sched_getaffinity(0) | ({machine.cpus.measuring} if machine.cpus.measuring is not None else set()))
    with TemporaryDirectory(prefix="kexbench-bench-") as folder:
        for number, reference in enumerate(SUBJECTS):
            kit = machine.kit(reference)
            program = build_loop(workshop, reference, source, Path(folder) / str(number), PROGRAM)
            for case in cases_of(reference, cpus):
                yield f"{reference}, {case.threads} threads, {case.context}"
                setting = machine.setting(case, {reference: kit}, ROUNDS)
                invocations = [
                    _invocation(program, reference, kit, setting, loop_starts=bool(invocation % 2))
                    for invocation in range(scale.invocations)
                ]
                yield together(reference, kit.manifest.version, case, invocations)


def together(subject: str, version: str, case: Case, invocations: Sequence[Sequence[Round]]) -> Together:
    """Rounds in which other programs took CPU time from the worker are left out. Raises BenchError if all are."""
    undisturbed = [
        rounds for tried in invocations if (rounds := [result for result in tried if not result.batch.disturbed])
    ]
    if not undisturbed:
        raise BenchError(f"{subject}, {case.label}: other programs ran in every round; this machine is too busy")
    every = [result for rounds in undisturbed for result in rounds]
    efficiencies = [result.efficiency / case.threads for result in every if result.efficiency is not None]
    return Together(
        subject=subject,
        version=version,
        case=case,
        worker_rate=statistics.median(result.worker_rate for result in every),
        loop_rate=statistics.median(result.loop_rate for result in every),
        ratio=estimate_median(
            [statistics.median(result.worker_rate / result.loop_rate for result in rounds) for rounds in undisturbed]
        ),
        worker_spread=_median([spread for rounds in undisturbed for spread in _stored_spreads(subject, rounds)]),
        loop_spread=_median([_loop_spread(rounds) for rounds in undisturbed if len(rounds) >= MIN_VARIED_BATCHES]),
        efficiency=_median(efficiencies),
        disturbed=sum(map(len, invocations)) - len(every),
        rounds=len(every),
    )


def _stored_spreads(subject: str, rounds: Sequence[Round]) -> list[float]:
    """What kexbench stores of an invocation, as a share; nothing of too few rounds."""
    return [sample.cost / 1e6 for sample in varied_samples(subject, [result.batch for result in rounds])]


def _loop_spread(rounds: Sequence[Round]) -> float:
    """By another formula than kexbench's. The two estimate the same of normal noise."""
    rates = [result.loop_rate for result in rounds]
    return statistics.stdev(rates) / statistics.fmean(rates)


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None


def _invocation(program: Path, reference: str, kit: JobInputKit, setting: Setting, *, loop_starts: bool) -> list[Round]:
    """Rounds of fresh processes, after some that warm up."""
    rounds: list[Round] = []
    with ThreadsLoop(program, kit, setting) as loop, Participant(setting, reference) as participant:
        for number in range(WARM_UP_BATCHES + ROUNDS):
            if bool(number % 2) != loop_starts:
                rate = loop.rate(THREADS_BATCH_NS)
                measured = Round(participant.batch(THREADS_BATCH_NS), rate)
            else:
                batch = participant.batch(THREADS_BATCH_NS)
                measured = Round(batch, loop.rate(THREADS_BATCH_NS))
            if number >= WARM_UP_BATCHES:
                rounds.append(measured)
    return rounds
