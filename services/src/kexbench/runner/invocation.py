"""One invocation of one case: a set of fresh workers, warmed up, then measured in interleaved batches."""

from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
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
    with ExitStack() as stack:
        workers = _Workers(ticket, case, len(turn.block), stack)
        for reference in turn.block:
            workers.start(reference, cpu, log)
        seed = f"{ticket.seed}/{turn.case_id}/{turn.invocation}"
        for number, order in enumerate(rounds(turn.block, WARM_UP_BATCHES + ticket.measure.batches, seed)):
            for reference in order:
                if reference in workers.live:
                    workers.run_batch(reference, keep=number >= WARM_UP_BATCHES)
    return Invocation(
        run_id=ticket.run_id,
        job_id=ticket.job.job_id,
        attempt=ticket.attempt,
        case_id=case.case_id,
        invocation=turn.invocation,
        host_id=ticket.host_id,
        host_load=load(),
        started_at=started_at.isoformat(timespec="milliseconds"),
        discarded_batches=workers.discarded,
        preempted_batches=workers.preempted,
        negotiated=workers.negotiated,
        samples=workers.samples(),
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


class _Workers:
    """The workers of one invocation. A subject that fails leaves `live`, its batches with it, and has an outcome."""

    def __init__(self, ticket: Ticket, case: Case, subjects: int, stack: ExitStack) -> None:
        self._ticket = ticket
        self._case = case
        self._stack = stack
        self._retries = ticket.measure.batches * subjects // 2
        self.live: dict[str, Worker] = {}
        self.kept: dict[str, list[Batch]] = defaultdict(list)
        self.negotiated: dict[str, Negotiated] = {}
        self.outcomes: dict[str, Outcome] = {}
        self.discarded = 0
        self.preempted = 0

    def start(self, reference: str, cpu: int | None, log: Path) -> None:
        """Start a subject's worker and set up the case; a refusal is an outcome."""
        kit = self._ticket.kits[reference]
        pin = () if cpu is None else ("--cpu", str(cpu))
        launch = kit.manifest.launch(kit.folder, self._ticket.material_folder, *pin)
        try:
            worker = self._stack.enter_context(Worker(launch, log))
            said = (worker.hello.library, worker.hello.version)
            if said != (kit.manifest.library, kit.manifest.version):
                self._drop(
                    reference, OutcomeKind.MISMATCH, f"the worker says it is {' '.join(said)}, not what its kit says"
                )
                return
            record = worker.ask(setup_request(self._case, self._ticket.material[self._case.case_id]), SETUP_TIMEOUT_S)
        except WorkerCrashed as error:
            self._drop(reference, OutcomeKind.CRASHED, str(error))
        except WorkerHung as error:
            self._drop(reference, OutcomeKind.HUNG, str(error))
        else:
            if isinstance(record, Ready):
                self.live[reference] = worker
                self.negotiated[reference] = record.negotiated
            else:
                self._drop_for(reference, record)

    def run_batch(self, reference: str, *, keep: bool) -> None:
        """One batch. One in which the thread was preempted is repeated, as long as there are retries left
        in this invocation; after that it is kept and counted, since a busy machine must not stop a run."""
        record = self._ask_for_batch(reference)
        while keep and record and record.involuntary_switches and self._retries:
            self._retries -= 1
            self.discarded += 1
            record = self._ask_for_batch(reference)
        if keep and record:
            self.preempted += bool(record.involuntary_switches)
            self.kept[reference].append(record)

    def samples(self) -> tuple[Sample, ...]:
        """Of every subject that came through."""
        return tuple(sample for reference in self.live for sample in samples_of(reference, self.kept[reference]))

    def _ask_for_batch(self, reference: str) -> Batch | None:
        request = (
            f"run id={self._case.case_id} min_handshakes={MIN_HANDSHAKES} "
            f"min_ns={self._ticket.measure.batch_ns} max_handshakes={MAX_HANDSHAKES}"
        )
        try:
            record = self.live[reference].ask(request, BATCH_TIMEOUT_S)
        except WorkerCrashed as error:
            self._drop(reference, OutcomeKind.CRASHED, str(error))
        except WorkerHung as error:
            self._drop(reference, OutcomeKind.HUNG, str(error))
        else:
            if isinstance(record, Batch):
                return record
            self._drop_for(reference, record)
        return None

    def _drop_for(self, reference: str, record: Record) -> None:
        if isinstance(record, Refused | Failed):
            self._drop(reference, OutcomeKind(record.kind), record.reason, record.detail)
        else:
            self._drop(reference, OutcomeKind.ERROR, f"the worker answered with an unexpected {record.type} record")

    def _drop(self, reference: str, kind: OutcomeKind, reason: str, detail: str | None = None) -> None:
        self.live.pop(reference, None)
        self.negotiated.pop(reference, None)
        self.outcomes[reference] = Outcome(subject=reference, kind=kind, reason=reason, detail=detail)
