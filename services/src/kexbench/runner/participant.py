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
from kexbench.domain.kits import KitManifest, Launch
from kexbench.domain.material import CertificateFiles, MaterialFiles
from kexbench.domain.plans import examined_handshakes, least_handshakes
from kexbench.domain.samples import Negotiated, Outcome, OutcomeKind, Timer
from kexbench.runner.cpus import Cpus
from kexbench.runner.job_input import JobInput
from kexbench.runner.records import (
    Age,
    Batch,
    Examination,
    Examined,
    Failed,
    Hello,
    Load,
    PathConnections,
    Profiled,
    Ready,
    Record,
    Refused,
    StartedProcesses,
)
from kexbench.runner.worker import Worker, WorkerCrashed, WorkerHung

SETUP_TIMEOUT_S = 30.0
SECONDS_PER_KEY_BIT = 0.001
SECONDS_PER_SERVER_NAME = 0.02
"""For the context of each further name: ten times what the slowest library takes on an idle machine."""
"""For making a key of Bloom filter encryption, times punctures and bits of its rate. It usually takes a quarter."""
BATCH_TIMEOUT_S = 30.0
MAX_HANDSHAKES = 100_000
ROLES = ("client", "server")
_Answer = TypeVar("_Answer", Ready, Batch, Examined, Load, PathConnections, StartedProcesses, Age, Profiled)


class Dropped(Exception):
    """A subject leaves this invocation. `signal` is the one that ended its worker, if any. `peers`: the cause is in the
    other worker, whose fault explains it."""

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


def setup_timeout_s(case: Case) -> float:
    """The first worker that needs a key of Bloom filter encryption makes it in its set-up."""
    key_s = SECONDS_PER_KEY_BIT * case.punctures * case.false_positive_bits
    return SETUP_TIMEOUT_S + key_s + SECONDS_PER_SERVER_NAME * (case.server_names - 1)


def setup_request(case: Case, files: CertificateFiles, **changed: str) -> str:
    """The `setup` line of a case. `changed` replaces some of its fields."""
    fields = {"id": case.case_id, **case.setup_fields(), **files.words, **changed}
    return "setup " + " ".join(f"{name}={value}" for name, value in fields.items())


def run_request(case: Case, min_handshakes: int, min_ns: int, max_handshakes: int, *, split: bool = True) -> str:
    """The `run` line of a batch of `min_ns` for each thread."""
    return (
        f"run id={case.case_id} min_handshakes={min_handshakes} min_ns={min_ns} "
        f"max_handshakes={max_handshakes} split={'yes' if split else 'no'}"
    )


@dataclass(frozen=True)
class Setting:
    """What every participant of an invocation shares."""

    job_input: JobInput
    case: Case
    cpus: Cpus
    log: Path

    def launch(
        self,
        reference: str,
        *extra: str,
        sockets: tuple[int, ...] = (),
        count_heap: bool = False,
        under: tuple[str, ...] = (),
        threads: int | None = None,
    ) -> Worker:
        """A worker of a subject's kit, with the case's CPU features, under an emulator if one is named, on a CPU for
        each of its threads: by default those of the case. Raises Dropped."""
        launch = self.launch_of(reference, *extra, count_heap=count_heap, under=under, threads=threads)
        with worker_faults():
            worker = Worker(launch, self.log, sockets)
        manifest = self.job_input.kits[reference].manifest
        if fault := unfit(worker.hello, manifest, self.case.environment, emulates=bool(under)):
            worker.close()
            raise fault
        return worker

    def launch_of(
        self,
        reference: str,
        *extra: str,
        count_heap: bool = False,
        under: tuple[str, ...] = (),
        threads: int | None = None,
    ) -> Launch:
        """How such a worker is started. Raises Dropped if it can't be here."""
        kit = self.job_input.kits[reference]
        if (architecture := kit.manifest.build_profile.architecture) != platform.machine():
            raise _emulation(f"the kit is for {architecture}, this machine is {platform.machine()}")
        options = (*self.cpus.pin(threads or self.case.threads), *extra)
        launch = kit.manifest.launch(kit.folder, self.job_input.material_folder, *options, count_heap=count_heap)
        changed = {
            "environment": {**launch.environment, **self.case.environment},
            "arguments": (*under, *launch.arguments),
        }
        return launch.model_copy(update=changed)

    @property
    def files(self) -> MaterialFiles:
        return self.job_input.material[self.case.case_id]


class Participant:
    """The live workers of one subject. A context manager that ends them on exit."""

    def __init__(self, setting: Setting, reference: str) -> None:
        """Start the workers and set up the case. Raises Dropped."""
        self._setting = setting
        self._reference = reference
        self._stack = ExitStack()
        self._last: Batch | None = None
        try:
            self._workers = self._start()
            self.negotiated = self._set_up()
        except BaseException:
            self._stack.close()
            raise

    @property
    def timer(self) -> Timer:
        return timer_of(next(iter(self._workers.values())).hello)

    def batch(self, min_ns: int, *, split: bool = True) -> Batch:
        """Measure one batch. Raises Dropped."""
        case = self._setting.case
        # The first batch warms up and shows the pace. One handshake is enough for both.
        last = self._last
        least = least_handshakes(last.thread_cpu_ns / last.handshakes) if last else 1
        if "both" in self._workers and case.reload_every:
            # Each batch has as many reloads as any other. The first handshake of a batch counts in none.
            pace_ns = max(1, last.elapsed_ns // last.handshakes) if last else min_ns
            count = case.reload_every * max(1, -(-max(least, min_ns // pace_ns) // case.reload_every))
            self._last = self._ask(run_request(case, count, 0, count, split=split))
            return self._last
        if "both" in self._workers:
            self._last = self._ask(run_request(case, least, min_ns, MAX_HANDSHAKES, split=split))
            return _without_wall_time(self._last) if self.timer.tick_source == "thread-cpu" else self._last
        # Two workers need the same number of handshakes in advance. It follows from the pace of the last batch.
        pace_ns = max(1, last.elapsed_ns // last.handshakes) if last else min_ns
        count = min(max(least, min_ns // pace_ns), MAX_HANDSHAKES)
        self._last = self._ask(run_request(case, count, 0, count))
        return self._last

    def examine(self) -> Examination | None:
        """The untimed pass. A separate process counts the heap, because counting slows allocations down.
        Returns None for a case with two workers. Raises Dropped."""
        if "both" not in self._workers:
            return None
        case, last = self._setting.case, self._last
        handshakes = examined_handshakes(last.thread_cpu_ns / last.handshakes if last else 0)
        request = f"examine id={case.case_id} handshakes={handshakes}"
        with worker_faults():
            plain = expect(Examined, self._workers["both"].ask(request, BATCH_TIMEOUT_S))
            with self._setting.launch(self._reference, count_heap=True) as worker:
                expect(Ready, worker.ask(setup_request(case, self._setting.files), setup_timeout_s(case)))
                counted = expect(Examined, worker.ask(request, BATCH_TIMEOUT_S))
        return Examination(plain, counted)

    @property
    def last_batch(self) -> Batch | None:
        return self._last

    def _start(self) -> dict[str, Worker]:
        """The workers by role: `both`, or `client` and `server`."""
        setting, case = self._setting, self._setting.case
        own = case.setup_fields()["roles"]
        if own == "both":
            return {own: self._stack.enter_context(setting.launch(self._reference))}
        other = ROLES[1 - ROLES.index(own)]
        peer = case.peer.partition(":")[2]
        ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        workers = {}
        with ends[0], ends[1]:  # The workers have copies. Without ours, each notices when the other ends.
            for role, reference, end in ((own, self._reference, ends[0]), (other, peer, ends[1])):
                worker = setting.launch(reference, "--peer", str(end.fileno()), sockets=(end.fileno(),))
                workers[role] = self._stack.enter_context(worker)
        return workers

    def _set_up(self) -> Negotiated:
        case, files = self._setting.case, self._setting.files
        requests = {role: setup_request(case, files, roles=role) for role in self._workers}
        views = {
            role: ready.negotiated for role, ready in self._ask_all(Ready, requests, setup_timeout_s(case)).items()
        }
        return views["both"] if "both" in views else _merged(views["client"], views["server"])

    def _ask(self, request: str) -> Batch:
        batches = self._ask_all(Batch, dict.fromkeys(self._workers, request), BATCH_TIMEOUT_S)
        return batches["both"] if "both" in batches else _joined(batches["client"], batches["server"])

    def _ask_all(self, expected: type[_Answer], requests: dict[str, str], timeout_s: float) -> dict[str, _Answer]:
        """Send all requests, then collect the answers by role. Raises Dropped. Of several faults, the end of a worker
        by a signal takes precedence, then a fault whose cause is not the other worker."""
        answers: dict[str, _Answer] = {}
        faults: list[Dropped] = []
        with worker_faults():
            for role, worker in self._workers.items():
                worker.send(requests[role])
        for role, worker in self._workers.items():
            try:
                with worker_faults():
                    answers[role] = expect(expected, worker.receive(timeout_s))
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


def timer_of(hello: Hello) -> Timer:
    return Timer(
        tick_source=hello.tick_source,
        tick_cost_ns=hello.tick_cost_ns,
        thread_cpu_clock_cost_ns=hello.thread_cpu_clock_cost_ns,
        emulated=hello.emulated,
    )


def unfit(hello: Hello, manifest: KitManifest, masks: dict[str, str], *, emulates: bool) -> Dropped | None:
    """The reason why a worker cannot measure: it differs from its kit, it runs under an emulator although no emulator
    was asked for, or the case's masks of CPU features are not in force. Only OpenSSL 3.0 and later reports its mask.
    Other libraries pass."""
    if (hello.library, hello.version) != (manifest.library, manifest.version):
        kit = f"{manifest.library} {manifest.version}"
        reason = f"the worker is {hello.library} {hello.version}, but its kit is {kit}"
        return Dropped(OutcomeKind.MISMATCH, reason)
    if hello.emulated and not emulates:
        return _emulation("the worker detected an emulator")
    if masks and hello.architecture != ARCHITECTURE:
        reason = f"CPU features can be masked only on {ARCHITECTURE}, but this worker runs on {hello.architecture}"
        return Dropped(OutcomeKind.UNSUPPORTED, reason)
    mask = masks.get("OPENSSL_ia32cap")
    if mask is None or hello.cpu_features is None or mask in hello.cpu_features:
        return None
    return Dropped(OutcomeKind.MISMATCH, f"cpu_features: expected {mask}, the library reports {hello.cpu_features}")


def _emulation(reason: str) -> Dropped:
    """An outcome of a kind that is not tried again."""
    return Dropped(OutcomeKind.UNSUPPORTED, f"would be measured under emulation: {reason}")


@contextmanager
def worker_faults() -> Iterator[None]:
    """Turns the errors of a worker into Dropped with the matching outcome."""
    try:
        yield
    except WorkerCrashed as error:
        raise Dropped(OutcomeKind.CRASHED, str(error), signal=error.signal) from None
    except WorkerHung as error:
        raise Dropped(OutcomeKind.HUNG, str(error)) from None


def expect(expected: type[_Answer], record: Record) -> _Answer:
    """The record, if it has the expected type. Raises Dropped otherwise."""
    if isinstance(record, expected):
        return record
    if isinstance(record, Refused | Failed):
        peers = record.kind == "peer"
        kind = OutcomeKind.ERROR if peers else OutcomeKind(record.kind)
        raise Dropped(kind, record.reason, record.detail, peers=peers)
    raise Dropped(OutcomeKind.ERROR, f"the worker answered with an unexpected {record.type} record")


def _merged(client: Negotiated, server: Negotiated) -> Negotiated:
    """Both views in one: the client's, with the server's for missing fields and for the client's certificate."""
    fields = server.model_dump() | client.model_dump(exclude_none=True)
    if client.peer_key is None:
        fields["peer_key_bits"] = server.peer_key_bits
    if server.client_key is not None:
        fields["client_key"] = server.client_key
    return Negotiated.model_validate(fields)


def _without_wall_time(batch: Batch) -> Batch:
    """Ticks of CPU time say nothing about wall time, and other programs do them no harm."""
    return batch.model_copy(update={"wall_ns": None, "others_ns": 0})


def _joined(client: Batch, server: Batch) -> Batch:
    """One batch from the halves of two workers. The two wait for each other, so waiting says nothing about
    other programs."""
    of_server = {name: value for name, value in server if "server" in name}
    of_both = {name: getattr(client, name) + getattr(server, name) for name in ("thread_cpu_ns", "background_cpu_ns")}
    return client.model_copy(update={**of_server, **of_both, "others_ns": 0})
