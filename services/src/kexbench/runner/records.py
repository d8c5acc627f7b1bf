"""The worker's records as types. workers/handshake/PROTOCOL.md specifies them."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Annotated, ClassVar, Literal, NamedTuple, Self

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from kexbench.domain.frozen import Frozen
from kexbench.domain.metrics import EXAMINED, LOADED, TIMED, Metric
from kexbench.domain.samples import DISTURBED_SHARE, Negotiated


class Hello(Frozen):
    type: Literal["hello"]
    protocol_version: Literal[11]
    library: str
    version: str
    version_text: str
    architecture: str
    emulated: bool
    cpus: str | None
    cpu_features: str | None
    tick_source: Literal["tsc", "cntvct", "monotonic", "thread-cpu", "virtual"]
    thread_cpu_clock_cost_ns: float
    tick_cost_ns: float


class Ready(Frozen):
    type: Literal["ready"]
    id: str
    negotiated: Negotiated


class Refused(Frozen):
    type: Literal["refused"]
    id: str
    kind: Literal["unsupported", "error", "peer"]
    reason: str
    detail: str | None


Count = Annotated[int, Field(ge=0)]


class Totals(Frozen):
    """A record with the totals of metrics. Its fields are those that the runner knows by name. The rows of metrics name
    the others (`domain.metrics`). Null is what this worker cannot count."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Count | None]
    named: ClassVar[Iterable[str]] = ()

    @model_validator(mode="after")
    def _are_those_of_the_rows(self) -> Self:
        if absent := [name for name in self.named if not hasattr(self, name)]:
            raise ValueError(f"it lacks {', '.join(absent)}")
        if surplus := sorted(self.__pydantic_extra__.keys() - set(self.named)):
            raise ValueError(f"no metric is named {', '.join(surplus)}")
        return self

    def total(self, name: str) -> int | None:
        value: int | None = getattr(self, name)
        return value


class Batch(Totals):
    """Totals over `handshakes`, without the first one. Null is what this worker cannot measure: the sides of an
    unsplit batch, or the other worker's side."""

    named = tuple(timed.total or metric for metric, timed in TIMED.items())
    type: Literal["batch"]
    id: str
    handshakes: int = Field(ge=1)
    thread_cpu_ns: Count
    background_cpu_ns: Count
    client_cpu_ns: Count | None
    server_cpu_ns: Count | None
    wall_ns: Count | None
    elapsed_ns: Count
    first_client_ns: Count | None
    first_server_ns: Count | None
    client_bytes: Count
    server_bytes: Count
    client_objects_cpu_ns: Count | None
    server_objects_cpu_ns: Count | None
    client_transfer_cpu_ns: Count | None
    server_transfer_cpu_ns: Count | None
    client_finish_cpu_ns: Count | None
    server_finish_cpu_ns: Count | None
    involuntary_switches: Count
    others_ns: Count
    alone_handshakes: int | None = Field(ge=1)
    alone_elapsed_ns: Count | None
    alone_others_ns: Count | None

    @property
    def disturbed(self) -> bool:
        """Whether other programs took so much CPU time from its threads that ticks and wall clock say nothing."""
        return self.others_ns > DISTURBED_SHARE * self.thread_cpu_ns

    @property
    def alone_disturbed(self) -> bool:
        """The same of the turn of one thread alone, which uses its CPU all the time."""
        return (self.alone_others_ns or 0) > DISTURBED_SHARE * (self.alone_elapsed_ns or 0)

    @property
    def client_connection_cpu_ns(self) -> int | None:
        """From making the client's objects to freeing them, without what proofs cost."""
        further = (self.client_transfer_cpu_ns or 0) + (self.client_finish_cpu_ns or 0)
        return _sum(_sum(self.client_objects_cpu_ns, self.client_cpu_ns), further)

    @property
    def server_connection_cpu_ns(self) -> int | None:
        further = (self.server_transfer_cpu_ns or 0) + (self.server_finish_cpu_ns or 0)
        return _sum(_sum(self.server_objects_cpu_ns, self.server_cpu_ns), further)

    @property
    def connection_cpu_ns(self) -> int | None:
        return _sum(self.client_connection_cpu_ns, self.server_connection_cpu_ns)

    @property
    def cpu_ns(self) -> int | None:
        """CPU time of both sides."""
        return _sum(self.client_cpu_ns, self.server_cpu_ns)

    @property
    def first_ns(self) -> int | None:
        """CPU time of both sides in the first handshake."""
        return _sum(self.first_client_ns, self.first_server_ns)


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second


class Examined(Totals):
    """Totals over `handshakes` of an untimed pass. Null is what this machine or this process cannot count."""

    named = tuple(EXAMINED)
    type: Literal["examined"]
    id: str
    handshakes: int = Field(ge=1)
    client_bytes: Count
    server_bytes: Count
    held_connections: int = Field(ge=1)
    counters_absent: str | None

    def amount(self, metric: Metric) -> float | None:
        """A metric of this pass: its total by what it is the total of."""
        total, per = self.total(metric), EXAMINED[metric].per
        return total if total is None or not per else total / getattr(self, per)


class Examination(NamedTuple):
    """The untimed passes of one subject: counting the heap slows allocations down, so a process of its own does. Each
    has its own handshakes and connections, so their answers are never merged."""

    plain: Examined
    heap: Examined

    def amount(self, metric: Metric) -> float | None:
        return (self.heap if EXAMINED[metric].heap else self.plain).amount(metric)


class Failures(Frozen):
    """Connections of a load that failed, by reason."""

    refused: Count
    reset: Count
    closed: Count
    timeout: Count
    tls: Count
    http: Count

    @property
    def total(self) -> int:
        return sum(self.model_dump().values())


class Load(Totals):
    """A load on a server. `connections` are those that downloaded all they asked for, and latencies are theirs: None if
    there are none. Bytes are what went over the sockets, those of failed connections included."""

    named = tuple(LOADED)
    type: Literal["load"]
    id: str
    connections: Count
    resumed: Count
    failures: Failures
    first_failure: str | None
    wall_ns: Count
    thread_cpu_ns: Count
    involuntary_switches: Count
    client_bytes: Count
    server_bytes: Count
    handshake_p50_ns: Count | None
    handshake_p90_ns: Count | None
    handshake_p99_ns: Count | None
    handshake_max_ns: Count | None
    response_p50_ns: Count | None
    response_p90_ns: Count | None
    response_p99_ns: Count | None
    response_max_ns: Count | None

    @property
    def connections_per_s(self) -> float:
        return self.connections * 1e9 / self.wall_ns if self.wall_ns else 0.0

    @property
    def client_share(self) -> float:
        """The share of the time in which the client's thread was on a CPU. Near 1, the client was the limit and not the
        server."""
        return self.thread_cpu_ns / self.wall_ns if self.wall_ns else 0.0


class PathFailures(Frozen):
    """Connections over a path that failed, by reason."""

    refused: Count
    reset: Count
    closed: Count
    timeout: Count
    tls: Count

    @property
    def total(self) -> int:
        return sum(self.model_dump().values())


PerConnection = tuple[Count, ...]
"""Of each connection that was done, in the order of their beginnings."""


class PathConnections(Frozen):
    """Connections over an emulated path, and what the emulator proved about itself. Times of a connection are from its
    beginning. Packets and bytes are those that entered the path."""

    type: Literal["path"]
    id: str
    connections: Count
    failures: PathFailures
    first_failure: str | None
    wall_ns: Count
    thread_cpu_ns: Count
    emulator_cpu_ns: Count
    others_ns: Count
    begin_late_p50_ns: Count | None
    begin_late_p99_ns: Count | None
    begin_late_max_ns: Count | None
    connect_ns: PerConnection
    handshake_ns: PerConnection
    computing_ns: PerConnection
    request_ns: PerConnection
    first_byte_ns: PerConnection
    last_byte_ns: PerConnection
    client_retransmissions: PerConnection
    server_retransmissions: PerConnection
    client_packets: Count
    server_packets: Count
    client_wire_bytes: Count
    server_wire_bytes: Count
    client_lost_packets: Count
    server_lost_packets: Count
    client_dropped_packets: Count
    server_dropped_packets: Count
    client_split_packets: Count
    delay_p50_ns: Count | None
    delay_p99_ns: Count | None
    delay_max_ns: Count | None
    late_packets: Count
    carried_bit_s: Count | None
    congestion_control: str
    flight_bytes: tuple[Count, ...]

    @model_validator(mode="after")
    def _has_every_connection(self) -> Self:
        lengths = {
            name: len(values) for name in _PER_CONNECTION if len(values := getattr(self, name)) != self.connections
        }
        if lengths:
            raise ValueError(f"of {self.connections} connections it has {lengths}")
        return self

    @property
    def packets(self) -> int:
        return self.client_packets + self.server_packets

    @property
    def lost_packets(self) -> int:
        return self.client_lost_packets + self.server_lost_packets

    @property
    def lost_share(self) -> float:
        """The share of the packets that the path lost."""
        return self.lost_packets / self.packets if self.packets else 0.0

    @property
    def late_share(self) -> float:
        """The share of the carried packets that the emulator held too long."""
        return self.late_packets / self.packets if self.packets else 0.0


_PER_CONNECTION = (
    *("connect_ns", "handshake_ns", "computing_ns", "request_ns", "first_byte_ns", "last_byte_ns"),
    *("client_retransmissions", "server_retransmissions"),
)


PerProcess = tuple[Count, ...]
"""Of each process that was started, in their order."""


class StartedProcesses(Frozen):
    """Fresh processes, each from execve to the end of its first handshake. Null is what this library's set-up is not
    divided into, or what this machine or this process cannot tell."""

    type: Literal["start"]
    id: str
    processes: int = Field(ge=1)
    total_cpu_ns: PerProcess
    total_wall_ns: PerProcess
    load_cpu_ns: PerProcess
    load_wall_ns: PerProcess
    library_cpu_ns: PerProcess
    library_wall_ns: PerProcess
    context_cpu_ns: PerProcess | None
    context_wall_ns: PerProcess | None
    keys_cpu_ns: PerProcess | None
    keys_wall_ns: PerProcess | None
    trust_cpu_ns: PerProcess | None
    trust_wall_ns: PerProcess | None
    handshake_cpu_ns: PerProcess
    handshake_wall_ns: PerProcess
    read_bytes: PerProcess | None
    resident_bytes: PerProcess | None
    heap_bytes: PerProcess | None

    @model_validator(mode="after")
    def _has_every_process(self) -> Self:
        names = [name for name, value in self if isinstance(value, tuple) and len(value) != self.processes]
        if names:
            raise ValueError(f"{', '.join(names)} have not a number for each of {self.processes} processes")
        return self

    def each(self, array: str) -> PerProcess | None:
        """An array by its name."""
        values: PerProcess | None = getattr(self, array)
        return values


PerPoint = tuple[Count, ...]
"""At each point of an age, in their order."""


class Age(Frozen):
    """Connections on one context, one after the other. CPU times are those since the point before. Null is what this
    worker cannot count."""

    type: Literal["age"]
    id: str
    connections: PerPoint = Field(min_length=1)
    thread_cpu_ns: PerPoint
    cpu_ns: PerPoint
    others_ns: PerPoint
    heap_bytes: PerPoint | None
    heap_blocks: PerPoint | None
    resident_bytes: PerPoint | None

    @model_validator(mode="after")
    def _has_every_point(self) -> Self:
        points = len(self.connections)
        arrays = self.model_dump(exclude={"type", "id"}, exclude_none=True)
        lengths = {name: len(values) for name, values in arrays.items() if len(values) != points}
        if lengths:
            raise ValueError(f"of {points} points it has {lengths}")
        if any(later <= earlier for earlier, later in pairwise((0, *self.connections))):
            raise ValueError("its connections do not rise")
        return self

    @property
    def connection_cpu_ns(self) -> list[float]:
        """CPU time of a connection, both sides, before each point."""
        made = (later - earlier for earlier, later in pairwise((0, *self.connections)))
        return [ns / count for ns, count in zip(self.cpu_ns, made, strict=True)]


Address = Annotated[str, Field(pattern=r"^[0-9a-f]+$")]


class MappedObject(Frozen):
    """A file that is mapped into a worker. An address in the worker less `base` is one of the file's symbols."""

    path: str
    base: Address


class Stack(Frozen):
    """What was counted on one stack of calls, in a part of all connections. Addresses are inside the calls, innermost
    first."""

    part: str
    count: Count
    amount: Count
    addresses: tuple[Address, ...]


class Profiled(Frozen):
    """Totals over `handshakes` by stack."""

    type: Literal["profile"]
    id: str
    handshakes: int = Field(ge=1)
    objects: tuple[MappedObject, ...]
    stacks: tuple[Stack, ...]


class Failed(Frozen):
    type: Literal["failed"]
    id: str
    handshakes: int
    kind: Literal["unsupported", "mismatch", "error", "peer"]
    reason: str
    detail: str | None


class RequestError(Frozen):
    type: Literal["error"]
    reason: str


class Bye(Frozen):
    type: Literal["bye"]


Record = (
    Hello
    | Ready
    | Refused
    | Batch
    | Examined
    | Load
    | PathConnections
    | StartedProcesses
    | Age
    | Profiled
    | Failed
    | RequestError
    | Bye
)
WorkerRecord: TypeAdapter[Record] = TypeAdapter(Annotated[Record, Field(discriminator="type")])


def parse_record(line: bytes) -> Record:
    """The record in a line. Raises ValueError if it is not a record of this protocol version."""
    try:
        return WorkerRecord.validate_json(line)
    except ValidationError as error:
        raise ValueError(f"not a record of the worker's protocol: {line[:200]!r}: {error.errors()[0]['msg']}") from None
