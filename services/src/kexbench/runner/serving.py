"""A subject whose library serves in a web server: that, and workers of the same kit as the clients that load it."""

import signal
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from math import ceil, gcd
from pathlib import Path
from typing import Self

from kexbench.domain.cases import Case
from kexbench.domain.dimensions import Resumption, Server
from kexbench.domain.kits import KitManifest
from kexbench.domain.libraries import not_built_with
from kexbench.domain.material import CertificateFiles
from kexbench.domain.metrics import LATENCIES, LOADED, Metric
from kexbench.domain.samples import ABSENT, OutcomeKind, Sample, Timer
from kexbench.runner.haproxy import Haproxy
from kexbench.runner.httpd import Httpd
from kexbench.runner.load import LoadRequest
from kexbench.runner.nginx import Nginx
from kexbench.runner.participant import (
    SETUP_TIMEOUT_S,
    Dropped,
    Setting,
    expect,
    setup_request,
    timer_of,
    worker_faults,
)
from kexbench.runner.records import Examination, Load, Ready, Record
from kexbench.runner.web_server import CONTENT, WebServer
from kexbench.runner.worker import Worker

SERVERS: dict[Server, type[WebServer]] = {each.server: each for each in (Nginx, Httpd, Haproxy)}
MAX_CONNECTIONS = 100_000
TIMEOUT_NS = 10 * 10**9
"""Of a connection. The slowest handshake, times the most connections at once, takes less."""
PATIENCE = 4
"""A load of a number of connections may take so many times as long as the batch before makes expect."""


@dataclass(frozen=True)
class Served:
    """A batch of connections to a server: one load, or one of each kind of client, in turns. Each side's CPU time is
    its own process's, so a batch stays valid where other programs interrupted it."""

    loads: tuple[Load, ...]
    server_cpu_ns: float
    disturbed: bool = False

    @property
    def connections(self) -> int:
        return sum(load.connections for load in self.loads)


@dataclass(frozen=True)
class _Client:
    """A worker that connects as the clients of a case do, whose connections are a percentage of all."""

    case: Case
    worker: Worker
    percent: int


class ServedParticipant:
    """The live server of one subject and its clients: one, or two of which each takes its certificate of the server. A
    context manager that ends them on exit."""

    def __init__(self, setting: Setting, reference: str) -> None:
        """Start all, set up the case, and make the first connections. Raises Dropped."""
        self._case = setting.case
        self._resumes = self._case.resumption is not Resumption.NONE
        self._stack = ExitStack()
        try:
            kit = setting.job_input.kits[reference]
            program = kit.servers.get(self._case.server)
            if program is None:
                raise Dropped(OutcomeKind.UNSUPPORTED, _without_server(self._case, kit.manifest))
            beside = replace(setting, cpus=setting.cpus.beside)
            self._clients = []
            negotiated = []
            for case, files, percent in _kinds_of_clients(setting):
                worker = self._stack.enter_context(beside.launch(reference))
                with worker_faults():
                    ready = expect(Ready, worker.ask(setup_request(case, files), SETUP_TIMEOUT_S))
                negotiated.append(ready.negotiated)
                self._clients.append(_Client(case, worker, percent))
            self.negotiated = negotiated[0]
            self._server = self._stack.enter_context(_started(setting, reference, program))
            first = [(client, self._load(client, max_connections=1)[0]) for client in self._clients]
            self._pace_ns = sum(load.wall_ns * client.percent for client, load in first) / 100
        except BaseException:
            self._stack.close()
            raise

    @property
    def timer(self) -> Timer:
        return timer_of(self._clients[0].worker.hello)

    @property
    def port(self) -> int:
        return self._server.port

    def batch(self, min_ns: int) -> Served:
        """Measure one batch. Raises Dropped.

        Two kinds of clients load the server in turns, each with its exact share of the connections. At the same time
        they could not: they would share the connections under way, and eight cannot be split 10 to 90."""
        if len(self._clients) == 1:
            measured = [self._measured(self._clients[0], max_ns=min_ns)]
        else:
            percents = [client.percent for client in self._clients]
            counts = shared_counts(percents, self._case.concurrency, self._pace_ns, min_ns)
            measured = [
                self._counted(client, count, max_ns=TIMEOUT_NS + round(PATIENCE * self._pace_ns * sum(counts)))
                for client, count in zip(self._clients, counts, strict=True)
            ]
        loads = tuple(load for load, _ in measured)
        batch = Served(loads, sum(server_cpu_ns for _, server_cpu_ns in measured))
        self._pace_ns = sum(load.wall_ns for load in loads) / batch.connections
        return batch

    def examine(self) -> Examination | None:
        """There is no untimed pass."""
        return None

    def _counted(self, client: _Client, connections: int, *, max_ns: int) -> tuple[Load, int]:
        """As `_measured`, of exactly so many connections. Raises Dropped."""
        load, server_cpu_ns = self._measured(client, max_connections=connections, max_ns=max_ns)
        if load.connections != connections:
            words = f"only {load.connections} of {connections} connections were done in {max_ns / 1e9:.1f} s"
            raise Dropped(OutcomeKind.ERROR, words)
        return load, server_cpu_ns

    def _measured(self, client: _Client, **limits: int) -> tuple[Load, int]:
        """A load, and the server's CPU time in it. Raises Dropped.

        A load with resumptions begins with a full connection, which the client leaves out of its numbers. The server's
        CPU time has it, so that of another full connection is subtracted."""
        full_ns = self._load(client, max_connections=1, resumed_percent=0)[1] if self._resumes else 0
        load, server_cpu_ns = self._load(client, **limits)
        return load, max(0, server_cpu_ns - full_ns)

    def _load(self, client: _Client, **changed: int) -> tuple[Load, int]:
        """A load whose connections all succeeded, with as many resumptions as wanted, and the server's CPU time in it.
        Raises Dropped."""
        case = client.case
        usual = {
            "max_connections": MAX_CONNECTIONS,
            "max_ns": TIMEOUT_NS,
            "resumed_percent": case.resumed_percent if self._resumes else 0,
        }
        request = LoadRequest(
            port=self._server.port,
            path=CONTENT,
            response_bytes=case.transfer_bytes,
            requests=case.requests_per_connection,
            concurrency=case.concurrency,
            timeout_ns=TIMEOUT_NS,
            **usual | changed,
        )
        before_ns = self._server.cpu_ns()
        with worker_faults():
            record = client.worker.load(case.case_id, request)
        after_ns = self._server.cpu_ns()
        if before_ns is None or after_ns is None or not isinstance(record, Load) or record.failures.total:
            raise self._end() or _failure(record, self._server.last_words())
        if abs(record.resumed - record.connections * request.resumed_percent / 100) >= 1:
            words = f"{record.resumed} of {record.connections} connections resumed, not {request.resumed_percent}%"
            raise Dropped(OutcomeKind.ERROR, words)
        return record, after_ns - before_ns

    def _end(self) -> Dropped | None:
        """The outcome of a server that has ended, or None if it runs. Asked to end, it does so with status 0."""
        status, name = self._server.end_status(), self._case.server
        if status is None:
            return None
        words = self._server.last_words()
        if status > 0:
            return Dropped(OutcomeKind.ERROR, f"{name} ended with status {status}", words)
        number = -status or signal.SIGTERM
        return Dropped(OutcomeKind.CRASHED, f"{name} was ended by signal {number:d}", words, signal=number)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()


def _kinds_of_clients(setting: Setting) -> list[tuple[Case, CertificateFiles, int]]:
    """What each kind of client negotiates, its files, and its percentage of the connections."""
    case, files = setting.case, setting.files
    kinds: list[tuple[Case, CertificateFiles, int]] = [(case, files, 100 - case.ecdsa_percent)]
    if case.ecdsa_case and files.ecdsa:
        kinds.append((case.ecdsa_case, files.ecdsa, case.ecdsa_percent))
    return kinds


def shared_counts(percents: Sequence[int], concurrency: int, pace_ns: float, min_ns: int) -> list[int]:
    """Connections of each kind of client in a batch of `min_ns`, at `pace_ns` for one: in the exact ratio, and of each
    kind at least as many as are under way at once."""
    ratio = [percent // gcd(*percents) for percent in percents]
    times = max(ceil(min_ns / (pace_ns * sum(ratio))), ceil(concurrency / min(ratio)))
    return [share * min(times, MAX_CONNECTIONS // sum(ratio)) for share in ratio]


def _started(setting: Setting, reference: str, program: Path) -> WebServer:
    """Raises Dropped."""
    kit = setting.job_input.kits[reference]
    launch = kit.manifest.launch_program(kit.folder, program)
    masked = launch.model_copy(update={"environment": {**launch.environment, **setting.case.environment}})
    material, cpu = setting.job_input.material_folder, setting.cpus.measuring
    try:
        return SERVERS[setting.case.server](setting.case, masked, material, setting.files, cpu, setting.log)
    except OSError as error:
        raise Dropped(OutcomeKind.ERROR, f"{setting.case.server} does not start: {error}") from None


def _without_server(case: Case, kit: KitManifest) -> str:
    if reason := not_built_with(case.server, kit.library, kit.version):
        return reason
    return f"kit {kit.kit_id} has no {case.server}: it was made of files that have changed since"


def _failure(record: Record, last_words: str | None) -> Dropped:
    """The outcome of a load that failed although the server runs."""
    try:
        load = expect(Load, record)
    except Dropped as fault:
        return fault
    kind = OutcomeKind.HUNG if load.failures.timeout else OutcomeKind.ERROR
    failed = f"{load.failures.total} of {load.failures.total + load.connections} connections failed"
    return Dropped(kind, f"{failed}: {load.first_failure}", last_words)


def served_samples(reference: str, batches: Sequence[Served]) -> list[Sample]:
    """CPU time, wall time and bytes per connection, with the level over all batches; and percentiles of each batch's
    latencies. CPU time is that of whole connections, handshake to close."""
    values: dict[Metric, list[float]] = defaultdict(list)
    totals: dict[Metric, float] = defaultdict(float)
    for batch in batches:
        for metric, total in _totals(batch).items():
            values[metric].append(round(total / batch.connections))
            totals[metric] += total
        for metric in LATENCIES if len(batch.loads) == 1 else ():
            latency = batch.loads[0].total(metric)
            values[metric].append(ABSENT if latency is None else latency)
    connections = sum(batch.connections for batch in batches)
    return [
        Sample(
            subject=reference,
            metric=metric,
            values=tuple(batch_values),
            level=totals[metric] / connections if metric in totals and metric.unit == "ns" else None,
        )
        for metric, batch_values in values.items()
    ]


def _totals(batch: Served) -> dict[Metric, float]:
    """Clients in turns have no wall time, and no latencies: each had the server to itself, and not all at once."""
    loads = batch.loads
    client_ns, server_ns = sum(load.thread_cpu_ns for load in loads), batch.server_cpu_ns
    totals: dict[Metric, float] = {
        Metric.CPU_NS: client_ns + server_ns,
        Metric.CLIENT_CPU_NS: client_ns,
        Metric.SERVER_CPU_NS: server_ns,
        Metric.CONNECTION_CPU_NS: client_ns + server_ns,
        Metric.CLIENT_CONNECTION_CPU_NS: client_ns,
        Metric.SERVER_CONNECTION_CPU_NS: server_ns,
        Metric.CLIENT_BYTES: sum(load.client_bytes for load in loads),
        Metric.SERVER_BYTES: sum(load.server_bytes for load in loads),
    }
    for metric, loaded in LOADED.items():
        if loaded.per:
            totals[metric] = sum(load.total(metric) or 0 for load in loads)
    if len(loads) == 1:
        totals |= {Metric.WALL_NS: loads[0].wall_ns, Metric.ELAPSED_NS: loads[0].wall_ns}
    return totals
