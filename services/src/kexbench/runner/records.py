"""The worker's records as types; workers/handshake/PROTOCOL.md is their contract."""

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from kexbench.domain.frozen import Frozen
from kexbench.domain.samples import Negotiated


class Hello(Frozen):
    type: Literal["hello"]
    protocol_version: Literal[3]
    library: str
    version: str
    version_text: str
    architecture: str
    emulated: bool
    cpus: str | None
    cpu_features: str | None
    tick_source: Literal["tsc", "cntvct", "monotonic", "virtual"]
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


class Batch(Frozen):
    """Totals over `handshakes`; the first handshake stands apart. Null is what this worker can't know: the sides
    of an unsplit batch, or the other worker's side."""

    type: Literal["batch"]
    id: str
    handshakes: int = Field(ge=1)
    thread_cpu_ns: Count
    client_cpu_ns: Count | None
    server_cpu_ns: Count | None
    wall_ns: Count | None
    elapsed_ns: Count
    first_client_ns: Count | None
    first_server_ns: Count | None
    client_bytes: Count
    server_bytes: Count
    involuntary_switches: Count

    @property
    def cpu_ns(self) -> int | None:
        """Both sides' turns."""
        return _sum(self.client_cpu_ns, self.server_cpu_ns)

    @property
    def first_ns(self) -> int | None:
        """Both sides' turns of the first handshake."""
        return _sum(self.first_client_ns, self.first_server_ns)


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second


class Examined(Frozen):
    """Totals over `handshakes` of an untimed pass. Null is what this machine or this process can't count."""

    type: Literal["examined"]
    id: str
    handshakes: int = Field(ge=1)
    client_bytes: Count
    server_bytes: Count
    client_records: Count
    server_records: Count
    round_trips: Count
    client_allocations: Count | None
    server_allocations: Count | None
    heap_peak_bytes: Count | None
    held_connections: int = Field(ge=1)
    client_held_bytes: Count | None
    server_held_bytes: Count | None
    client_instructions: Count | None
    server_instructions: Count | None
    client_cycles: Count | None
    server_cycles: Count | None
    client_branch_misses: Count | None
    server_branch_misses: Count | None
    client_cache_misses: Count | None
    server_cache_misses: Count | None
    counters_absent: str | None


class Failed(Frozen):
    type: Literal["failed"]
    id: str
    handshakes: int
    kind: Literal["mismatch", "error", "peer"]
    reason: str
    detail: str | None


class RequestError(Frozen):
    type: Literal["error"]
    reason: str


class Bye(Frozen):
    type: Literal["bye"]


Record = Hello | Ready | Refused | Batch | Examined | Failed | RequestError | Bye
WorkerRecord: TypeAdapter[Record] = TypeAdapter(Annotated[Record, Field(discriminator="type")])


def parse_record(line: bytes) -> Record:
    """Raises ValueError for anything that is not a record of this protocol version."""
    try:
        return WorkerRecord.validate_json(line)
    except ValidationError as error:
        raise ValueError(f"not a record of the worker's protocol: {line[:200]!r}: {error.errors()[0]['msg']}") from None
