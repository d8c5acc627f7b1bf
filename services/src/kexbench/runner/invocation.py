"""One invocation of one case: a set of fresh workers, warmed up, then measured in interleaved batches."""

from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from kexbench.domain.cases import Case
from kexbench.domain.hosts import HostLoad
from kexbench.domain.material import MaterialFiles
from kexbench.domain.samples import Invocation, Metric, Negotiated, Outcome, OutcomeKind, Sample
from kexbench.runner.order import Turn, rounds
from kexbench.runner.records import Batch, Failed, Ready, Record, Refused
from kexbench.runner.ticket import Ticket
from kexbench.runner.worker import Worker, WorkerCrashed, WorkerHung

SETUP_TIMEOUT_S = 30.0
BATCH_TIMEOUT_S = 30.0
WARM_UP_BATCHES = 2
MIN_HANDSHAKES = 3
MAX_HANDSHAKES = 100_000


@dataclass
class _Subject:
    """A live subject and what it has yielded so far."""

    worker: Worker
    batches: list[Batch] = field(default_factory=list)


@dataclass
class _Counts:
    """Batches that were repeated, and those kept although preempted because repeating had to end."""

    discarded: int = 0
    preempted: int = 0


@dataclass
class _Set:
    """The workers of one invocation; a subject leaves `live` with an outcome."""

    live: dict[str, _Subject] = field(default_factory=dict)
    negotiated: dict[str, Negotiated] = field(default_factory=dict)
    outcomes: dict[str, Outcome] = field(default_factory=dict)

    def drop(self, reference: str, kind: OutcomeKind, reason: str, detail: str | None = None) -> None:
        self.live.pop(reference, None)
        self.negotiated.pop(reference, None)
        self.outcomes[reference] = Outcome(subject=reference, kind=kind, reason=reason, detail=detail)


def setup_request(case: Case, files: MaterialFiles) -> str:
    """The `setup` line of a case."""
    return (
        f"setup id={case.case_id} protocol={case.protocol} key_exchange={case.key_exchange} cipher={case.cipher} "
        f"group={case.group} rsa_bits={case.rsa_bits} curve={case.curve} key={files.key} "
        f"certificate={files.certificate} dh_parameters={files.dh_parameters}"
    )


def measure_invocation(
    ticket: Ticket, turn: Turn, cpu: int | None, log: Path, load: Callable[[], HostLoad]
) -> Invocation:
    """Measure one turn. Whatever a worker does, the invocation is whole: numbers or an outcome for
    each subject. `load` tells how busy the machine was since it was last asked."""
    case = next(case for case in ticket.cases if case.case_id == turn.case_id)
    started_at = datetime.now(UTC)
    workers = _Set()
    counts = _Counts()
    with ExitStack() as stack:
        for reference in turn.block:
            _start(workers, stack, ticket, case, reference, cpu, log)
        seed = f"{ticket.seed}/{turn.case_id}/{turn.invocation}"
        retries = ticket.measure.batches
        for number, order in enumerate(rounds(turn.block, WARM_UP_BATCHES + ticket.measure.batches, seed)):
            for reference in order:
                if reference in workers.live:
                    retries -= _batch(workers, reference, case, ticket, counts, number < WARM_UP_BATCHES, retries)
    samples = [
        sample for reference, subject in workers.live.items() for sample in samples_of(reference, subject.batches)
    ]
    return Invocation(
        run_id=ticket.run_id,
        job_id=ticket.job.job_id,
        attempt=ticket.attempt,
        case_id=case.case_id,
        invocation=turn.invocation,
        host_id=ticket.host_id,
        host_load=load(),
        started_at=started_at.isoformat(timespec="milliseconds"),
        discarded_batches=counts.discarded,
        preempted_batches=counts.preempted,
        negotiated=workers.negotiated,
        samples=tuple(samples),
        outcomes=tuple(workers.outcomes.values()),
    )


def samples_of(reference: str, batches: list[Batch]) -> list[Sample]:
    """A batch's totals as values per handshake, rounded to what the clocks can tell."""
    values: dict[Metric, list[float]] = defaultdict(list)
    for batch in batches:
        values[Metric.CPU_NS].append((batch.client_cpu_ns + batch.server_cpu_ns) / batch.handshakes)
        values[Metric.CLIENT_CPU_NS].append(batch.client_cpu_ns / batch.handshakes)
        values[Metric.SERVER_CPU_NS].append(batch.server_cpu_ns / batch.handshakes)
        values[Metric.WALL_NS].append(batch.wall_ns / batch.handshakes)
        values[Metric.FIRST_NS].append(batch.first_client_ns + batch.first_server_ns)
        values[Metric.CLIENT_BYTES].append(batch.client_bytes / batch.handshakes)
        values[Metric.SERVER_BYTES].append(batch.server_bytes / batch.handshakes)
    return [
        Sample(subject=reference, metric=metric, values=tuple(round(value) for value in found))
        for metric, found in values.items()
    ]


def _start(
    workers: _Set, stack: ExitStack, ticket: Ticket, case: Case, reference: str, cpu: int | None, log: Path
) -> None:
    """Start a subject's worker and set up the case; a refusal is an outcome."""
    kit = ticket.kits[reference]
    pin = () if cpu is None else ("--cpu", str(cpu))
    try:
        worker = stack.enter_context(Worker(kit.manifest.launch(kit.folder, ticket.material_folder, *pin), log))
        if (worker.hello.library, worker.hello.version) != (kit.manifest.library, kit.manifest.version):
            said = f"{worker.hello.library} {worker.hello.version}"
            workers.drop(reference, OutcomeKind.MISMATCH, f"the worker says it is {said}, which the kit is not")
            return
        record = worker.ask(setup_request(case, ticket.material[case.case_id]), SETUP_TIMEOUT_S)
    except WorkerCrashed as error:
        workers.drop(reference, OutcomeKind.CRASHED, str(error))
        return
    except WorkerHung as error:
        workers.drop(reference, OutcomeKind.HUNG, str(error))
        return
    if isinstance(record, Ready):
        workers.live[reference] = _Subject(worker)
        workers.negotiated[reference] = record.negotiated
    else:
        _drop_for(workers, reference, record)


def _batch(
    workers: _Set, reference: str, case: Case, ticket: Ticket, counts: _Counts, warm_up: bool, retries: int
) -> int:
    """Run one batch; one in which the thread was preempted is repeated while `retries` last.
    Returns how many it used."""
    subject = workers.live[reference]
    request = (
        f"run id={case.case_id} min_handshakes={MIN_HANDSHAKES} min_ns={ticket.measure.batch_ns} "
        f"max_handshakes={MAX_HANDSHAKES}"
    )
    used = 0
    while True:
        try:
            record = subject.worker.ask(request, BATCH_TIMEOUT_S)
        except WorkerCrashed as error:
            workers.drop(reference, OutcomeKind.CRASHED, str(error))
            return used
        except WorkerHung as error:
            workers.drop(reference, OutcomeKind.HUNG, str(error))
            return used
        if not isinstance(record, Batch):
            _drop_for(workers, reference, record)
            return used
        if warm_up:
            return used
        if record.involuntary_switches and used < retries:
            counts.discarded += 1
            used += 1
            continue
        counts.preempted += bool(record.involuntary_switches)
        subject.batches.append(record)
        return used


def _drop_for(workers: _Set, reference: str, record: Record) -> None:
    if isinstance(record, Refused | Failed):
        workers.drop(reference, OutcomeKind(record.kind), record.reason, record.detail)
    else:
        workers.drop(reference, OutcomeKind.ERROR, f"the worker answered with an unexpected {record.type} record")
