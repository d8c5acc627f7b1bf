"""A subject in one invocation of a case: one worker that plays both roles, or two workers of two libraries."""

import platform
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeVar

from kexbench.domain.cases import Case
from kexbench.domain.cpu_features import ARCHITECTURE
from kexbench.domain.kits import KitManifest
from kexbench.domain.material import MaterialFiles
from kexbench.domain.samples import Negotiated, Outcome, OutcomeKind, Timer
from kexbench.runner.cpus import Cpus
from kexbench.runner.records import Batch, Examined, Failed, Hello, Ready, Record, Refused
from kexbench.runner.ticket import Ticket
from kexbench.runner.worker import Worker, WorkerCrashed, WorkerHung

SETUP_TIMEOUT_S = 30.0
BATCH_TIMEOUT_S = 30.0
MIN_HANDSHAKES = 3
MAX_HANDSHAKES = 100_000
EXAMINED_HANDSHAKES = 10
ROLES = ("client", "server")
HEAP_FIELDS = ("client_allocations", "server_allocations", "heap_peak_bytes", "client_held_bytes", "server_held_bytes")
_Answer = TypeVar("_Answer", Ready, Batch, Examined)


class Dropped(Exception):
    """A subject that is out of this invocation. `signal` is the one that ended its worker, if any; of `peers` the
    other worker's fault tells why."""

    def __init__(
        self,
        kind: OutcomeKind,
        reason: str,
        detail: str | None = None,
        *,
        signal: int | None = None,
        peers: bool = False,
    ) -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = reason
        self.detail = detail
        self.signal = signal
        self.peers = peers

    def outcome(self, reference: str) -> Outcome:
        return Outcome(subject=reference, kind=self.kind, reason=self.reason, detail=self.detail)


def setup_request(case: Case, files: MaterialFiles, **changed: str) -> str:
    """The `setup` line of a case; `changed` replaces words of it."""
    words = {"id": case.case_id, **case.setup_fields(), **files.model_dump(), **changed}
    return "setup " + " ".join(f"{name}={value}" for name, value in words.items())


def run_request(case: Case, min_handshakes: int, min_ns: int, max_handshakes: int, *, split: bool = True) -> str:
    """The `run` line of a batch, `min_ns` long for each thread: those that start one after the other shall meet."""
    return (
        f"run id={case.case_id} min_handshakes={min_handshakes} min_ns={min_ns * case.threads} "
        f"max_handshakes={max_handshakes} split={'yes' if split else 'no'}"
    )


@dataclass(frozen=True)
class Setting:
    """What every party of an invocation shares."""

    ticket: Ticket
    case: Case
    cpus: Cpus
    log: Path

    def launch(self, reference: str, *more: str, sockets: tuple[int, ...] = (), count_heap: bool = False) -> Worker:
        """A worker of a subject's kit, with the case's CPU features. Raises Dropped."""
        kit = self.ticket.kits[reference]
        if (made_for := kit.manifest.build_profile.architecture) != platform.machine():
            raise _emulation(f"the kit is for {made_for}, this machine is {platform.machine()}")
        options = (*self.cpus.pin(self.case.threads), *more)
        launch = kit.manifest.launch(kit.folder, self.ticket.material_folder, *options, count_heap=count_heap)
        environment = {**launch.environment, **self.case.environment}
        with worker_faults():
            worker = Worker(launch.model_copy(update={"environment": environment}), self.log, sockets)
        if fault := _unfit(worker.hello, kit.manifest, self.case.environment):
            worker.close()
            raise fault
        return worker

    @property
    def files(self) -> MaterialFiles:
        return self.ticket.material[self.case.case_id]


class Party:
    """The live workers of one subject. As a context manager: leaving ends them."""

    def __init__(self, setting: Setting, reference: str) -> None:
        """Start the workers and set the case up. Raises Dropped."""
        self._setting = setting
        self._reference = reference
        self._stack = ExitStack()
        self._handshakes = MIN_HANDSHAKES
        try:
            self._workers = self._start()
            self.negotiated = self._set_up()
        except BaseException:
            self._stack.close()
            raise

    @property
    def timer(self) -> Timer:
        hello = next(iter(self._workers.values())).hello
        return Timer(
            tick_source=hello.tick_source,
            tick_cost_ns=hello.tick_cost_ns,
            thread_cpu_clock_cost_ns=hello.thread_cpu_clock_cost_ns,
            emulated=hello.emulated,
        )

    def batch(self, min_ns: int, *, split: bool = True) -> Batch:
        """One token's turn. Raises Dropped."""
        case = self._setting.case
        if "both" in self._workers:
            return self._ask(run_request(case, MIN_HANDSHAKES, min_ns, MAX_HANDSHAKES, split=split))
        batch = self._ask(run_request(case, self._handshakes, 0, self._handshakes))
        # Two workers must agree on a number beforehand: the one that the last batch's pace gives.
        pace_ns = max(1, batch.elapsed_ns // batch.handshakes)
        self._handshakes = min(max(MIN_HANDSHAKES, min_ns // pace_ns), MAX_HANDSHAKES)
        return batch

    def examine(self) -> Examined | None:
        """The untimed pass; its heap from a process of its own, since counting allocations slows them down.
        None for a case of two workers. Raises Dropped."""
        if "both" not in self._workers:
            return None
        case = self._setting.case
        request = f"examine id={case.case_id} handshakes={EXAMINED_HANDSHAKES}"
        with worker_faults():
            plain = expect(Examined, self._workers["both"].ask(request, BATCH_TIMEOUT_S))
            with self._setting.launch(self._reference, count_heap=True) as worker:
                expect(Ready, worker.ask(setup_request(case, self._setting.files), SETUP_TIMEOUT_S))
                counted = expect(Examined, worker.ask(request, BATCH_TIMEOUT_S))
        return plain.model_copy(update={name: getattr(counted, name) for name in HEAP_FIELDS})

    def _start(self) -> dict[str, Worker]:
        """By the role that each plays: `both`, or `client` and `server`."""
        setting, case = self._setting, self._setting.case
        own = case.setup_fields()["roles"]
        if own == "both":
            return {own: self._stack.enter_context(setting.launch(self._reference))}
        other = ROLES[1 - ROLES.index(own)]
        peer = case.peer.partition(":")[2]
        ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        started = {}
        with ends[0], ends[1]:  # the workers hold their own: when one ends, the other notices
            for role, reference, end in ((own, self._reference, ends[0]), (other, peer, ends[1])):
                worker = setting.launch(reference, "--peer", str(end.fileno()), sockets=(end.fileno(),))
                started[role] = self._stack.enter_context(worker)
        return started

    def _set_up(self) -> Negotiated:
        case, files = self._setting.case, self._setting.files
        requests = {role: setup_request(case, files, roles=role) for role in self._workers}
        views = {role: ready.negotiated for role, ready in self._ask_all(Ready, requests, SETUP_TIMEOUT_S).items()}
        return views["both"] if "both" in views else _merged(views["client"], views["server"])

    def _ask(self, request: str) -> Batch:
        batches = self._ask_all(Batch, dict.fromkeys(self._workers, request), BATCH_TIMEOUT_S)
        return batches["both"] if "both" in batches else _joined(batches["client"], batches["server"])

    def _ask_all(self, wanted: type[_Answer], requests: dict[str, str], timeout_s: float) -> dict[str, _Answer]:
        """Every worker's answer, by role; all are asked before any has to answer. Of several faults a worker's
        end by a signal counts first, then the one that isn't about the other worker."""
        answers: dict[str, _Answer] = {}
        faults: list[Dropped] = []
        with worker_faults():
            for role, worker in self._workers.items():
                worker.send(requests[role])
        for role, worker in self._workers.items():
            try:
                with worker_faults():
                    answers[role] = expect(wanted, worker.receive(timeout_s))
            except Dropped as fault:
                faults.append(fault)
        if faults:
            own = [fault for fault in faults if not fault.peers]
            raise next((fault for fault in faults if fault.signal), (own or faults)[0])
        return answers

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()


def _unfit(said: Hello, known: KitManifest, masks: dict[str, str]) -> Dropped | None:
    """Why a worker is not what its kit says, or runs beneath an emulator, or why the case's masks of CPU features are
    not in force, or None. OpenSSL repeats its mask since 3.0; who can't tell is believed."""
    if (said.library, said.version) != (known.library, known.version):
        reason = f"the worker says it is {said.library} {said.version}, not what its kit says"
        return Dropped(OutcomeKind.MISMATCH, reason)
    if said.emulated:
        return _emulation("the worker says that an emulator runs it")
    if masks and said.architecture != ARCHITECTURE:
        reason = f"CPU features are masked on {ARCHITECTURE} only, this worker runs on {said.architecture}"
        return Dropped(OutcomeKind.UNSUPPORTED, reason)
    mask = masks.get("OPENSSL_ia32cap")
    if mask is None or said.cpu_features is None or mask in said.cpu_features:
        return None
    return Dropped(OutcomeKind.MISMATCH, f"cpu_features: wanted the mask {mask}, the library says {said.cpu_features}")


def _emulation(why: str) -> Dropped:
    """Of a kind that doesn't pass: it isn't tried again."""
    return Dropped(OutcomeKind.UNSUPPORTED, f"would be measured under emulation: {why}")


@contextmanager
def worker_faults() -> Iterator[None]:
    """What a worker can do wrong, as the outcome that it is."""
    try:
        yield
    except WorkerCrashed as error:
        raise Dropped(OutcomeKind.CRASHED, str(error), signal=error.signal) from None
    except WorkerHung as error:
        raise Dropped(OutcomeKind.HUNG, str(error)) from None


def expect(wanted: type[_Answer], record: Record) -> _Answer:
    """Raises Dropped for any other record."""
    if isinstance(record, wanted):
        return record
    if isinstance(record, Refused | Failed):
        peers = record.kind == "peer"
        kind = OutcomeKind.ERROR if peers else OutcomeKind(record.kind)
        raise Dropped(kind, record.reason, record.detail, peers=peers)
    raise Dropped(OutcomeKind.ERROR, f"the worker answered with an unexpected {record.type} record")


def _merged(client: Negotiated, server: Negotiated) -> Negotiated:
    """What one side can't tell is the other's to tell; of the client's certificate the server is the witness."""
    told = server.model_dump() | client.model_dump(exclude_none=True)
    if client.peer_key is None:
        told["peer_key_bits"] = server.peer_key_bits
    if server.client_key is not None:
        told["client_key"] = server.client_key
    return Negotiated.model_validate(told)


def _joined(client: Batch, server: Batch) -> Batch:
    """One batch of two workers' halves. Switches between the two are what they live by, and do no harm."""
    return client.model_copy(
        update={
            "thread_cpu_ns": client.thread_cpu_ns + server.thread_cpu_ns,
            "server_cpu_ns": server.server_cpu_ns,
            "first_server_ns": server.first_server_ns,
            "server_bytes": server.server_bytes,
            "involuntary_switches": 0,
        }
    )
