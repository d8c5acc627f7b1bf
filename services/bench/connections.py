"""Whether the worker's parts of a connection cost what an independent loop measures, with the libraries of kits."""

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.connection_loop import ConnectionLoop, LoopTurn, Part, build_loop, worker_part_ns
from bench.machine import BenchError, Machine, Scale
from kexbench.analysis.estimates import estimate_median
from kexbench.domain.cases import Case, KeyExchange, Protocol
from kexbench.domain.dimensions import ContextUse, Tickets
from kexbench.domain.intervals import Estimate
from kexbench.domain.plans import WARM_UP_BATCHES
from kexbench.runner.job_input import JobInputKit
from kexbench.runner.participant import Participant, Setting
from kexbench.runner.records import Batch

SUBJECTS = tuple(f"openssl@debian/{suite}" for suite in ("bullseye", "bookworm", "trixie", "experimental"))
TOLERANCE = 0.02
"""By so much a part may cost more or less."""
CALL_NS = 100.0
"""So much of the worker's own may count for each call that is timed: reading the clock, the way to the library and
back, and caches that are cold after the proof. A short part differs by more than TOLERANCE for it."""
SHORT_NS = 20_000.0
"""Parts that cost less are short."""
ROUNDS = 12
"""Of each invocation."""
TURN_NS = 2_000_000
TRIES = 10
"""Rounds that are tried at most, for each one that is wanted: a round in which either was preempted does not count."""


def _case(**fields: object) -> Case:
    usual = {"protocol": Protocol.TLS_1_3, "key_exchange": KeyExchange.ECDHE_ECDSA, "curve": "P-256", "group": "X25519"}
    return Case.model_validate({**usual, **fields})


COMPARED: tuple[tuple[Case, tuple[Part, ...]], ...] = (
    (_case(), (Part.HANDSHAKE, Part.OBJECTS)),
    (_case(tickets=Tickets.DEFAULT), (Part.HANDSHAKE,)),
    (_case(chain_length=2), (Part.HANDSHAKE,)),
    (_case(chain_length=2, verification=True), (Part.HANDSHAKE,)),
    (_case(transfer_bytes=16_384), (Part.TRANSFER, Part.FINISH)),
    (_case(transfer_bytes=2**20), (Part.TRANSFER,)),
    (_case(context=ContextUse.CONNECTION), (Part.OBJECTS,)),
    (_case(chain_length=2, verification=True, context=ContextUse.CONNECTION), (Part.OBJECTS,)),
    (_case(reload_every=10), (Part.HANDSHAKE, Part.OBJECTS)),
    (_case(server_names=100), (Part.HANDSHAKE, Part.OBJECTS)),
    (
        _case(chain_length=2, verification=True, tickets=Tickets.DEFAULT, transfer_bytes=4096),
        (Part.CONNECTION,),
    ),
)
"""Cases with the parts that are compared in each."""
FLIGHT_BYTES = 65_536
"""What the server writes before the client reads."""


def timed_calls(case: Case, part: Part) -> int:
    """How often the clock is read around a call in a part: at least, where a handshake takes more turns."""
    transfer = 2 * -(-case.transfer_bytes // FLIGHT_BYTES)
    calls = {
        Part.OBJECTS: 4,
        Part.HANDSHAKE: 4 + (case.tickets is Tickets.DEFAULT),
        Part.TRANSFER: transfer,
        Part.FINISH: 3 if transfer else 0,
    }
    return sum(calls.values()) if part is Part.CONNECTION else calls[part]


@dataclass(frozen=True)
class Round:
    """A worker's batch and the loop's turn, which ran milliseconds apart."""

    batch: Batch
    turn: LoopTurn

    @property
    def is_clean(self) -> bool:
        """A preempted turn counts the time of other programs to its parts."""
        return not self.batch.involuntary_switches and not self.turn.preemptions

    def ratio(self, part: Part) -> float:
        return worker_part_ns(self.batch, part) / self.turn.part_ns(part)


@dataclass(frozen=True)
class Agreement:
    """One part of a case with a kit's library, measured by the worker and by the loop."""

    subject: str
    version: str
    case: Case
    part: Part
    worker_ns: float
    loop_ns: float
    """Medians of one connection's CPU time."""
    ratio: Estimate
    """The worker's by the loop's: the median over invocations of the median ratio of rounds."""
    rounds: int

    @property
    def is_alike(self) -> bool:
        return abs(self.ratio.value - 1) <= TOLERANCE

    @property
    def own_ns(self) -> float:
        """The most that the worker's own calls may add."""
        return CALL_NS * timed_calls(self.case, self.part)

    @property
    def may_be_alike(self) -> bool:
        """Whether the interval of a part that is not alike reaches into the tolerance."""
        if self.is_alike or self.ratio.low is None or self.ratio.high is None:
            return False
        return self.ratio.low - 1 <= TOLERANCE and 1 - self.ratio.high <= TOLERANCE

    @property
    def agrees(self) -> bool:
        """A short part may cost more by the worker's own calls, but no less than the loop's."""
        more_ns = (self.ratio.value - 1) * self.loop_ns
        own_calls = self.loop_ns < SHORT_NS and 0 < more_ns <= self.own_ns
        return self.is_alike or own_calls or self.may_be_alike


class Disagreement(BenchError):
    """Parts that the worker and the loop measure differently. The text has the table of all."""


def compare_connections(machine: Machine, scale: Scale) -> Iterator[str | Agreement]:
    """Yields each step, and the results. Raises BenchError and KitError."""
    workshop, source = machine.installation.workshop(), machine.installation.settings.workers
    with TemporaryDirectory(prefix="kexbench-bench-") as folder:
        for number, reference in enumerate(SUBJECTS):
            kit = machine.kit(reference)
            program = build_loop(workshop, reference, source, Path(folder) / str(number))
            for case, parts in COMPARED:
                yield f"{reference}, {case.label}"
                setting = machine.setting(case, {reference: kit}, ROUNDS)
                invocations = [
                    interleaved(program, reference, kit, setting, loop_starts=bool(invocation % 2))
                    for invocation in range(scale.invocations)
                ]
                for part in parts:
                    yield agreement(reference, kit.manifest.version, case, part, invocations)


def agreement(subject: str, version: str, case: Case, part: Part, invocations: Sequence[Sequence[Round]]) -> Agreement:
    """The clean rounds of each invocation are one value: those of one process share its luck with addresses."""
    clean = [rounds for tried in invocations if (rounds := [result for result in tried if result.is_clean])]
    if not clean:
        raise BenchError(f"{subject}, {case.label}: preempted in every round; this machine is too busy")
    all_rounds = [result for rounds in clean for result in rounds]
    return Agreement(
        subject=subject,
        version=version,
        case=case,
        part=part,
        worker_ns=statistics.median(worker_part_ns(result.batch, part) for result in all_rounds),
        loop_ns=statistics.median(result.turn.part_ns(part) for result in all_rounds),
        ratio=estimate_median([statistics.median(result.ratio(part) for result in rounds) for rounds in clean]),
        rounds=len(all_rounds),
    )


def interleaved(program: Path, reference: str, kit: JobInputKit, setting: Setting, *, loop_starts: bool) -> list[Round]:
    """Rounds of fresh processes, after some that warm up; who is second in a round finds the caches used."""
    rounds: list[Round] = []
    with ConnectionLoop(program, kit, setting) as loop, Participant(setting, reference) as participant:
        for number in range(TRIES * (WARM_UP_BATCHES + ROUNDS)):
            if bool(number % 2) != loop_starts:
                turn = loop.turn(TURN_NS)
                measured = Round(participant.batch(TURN_NS), turn)
            else:
                batch = participant.batch(TURN_NS)
                measured = Round(batch, loop.turn(TURN_NS))
            if number >= WARM_UP_BATCHES:
                rounds.append(measured)
            if sum(result.is_clean for result in rounds) >= ROUNDS:
                break
    return rounds
