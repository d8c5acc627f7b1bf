"""The worker's records as types; workers/handshake/PROTOCOL.md is their contract."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from kexbench.domain.samples import Negotiated


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Hello(_Record):
    type: Literal["hello"]
    protocol_version: Literal[1]
    library: str
    version: str
    version_text: str
    architecture: str
    cpu: int | None
    tick_source: Literal["tsc", "cntvct", "monotonic", "virtual"]
    thread_cpu_clock_cost_ns: float
    tick_cost_ns: float


class Ready(_Record):
    type: Literal["ready"]
    id: str
    negotiated: Negotiated


class Refused(_Record):
    type: Literal["refused"]
    id: str
    kind: Literal["unsupported", "error"]
    reason: str
    detail: str | None


class Batch(_Record):
    """Totals over `handshakes`; the first handshake stands apart."""

    type: Literal["batch"]
    id: str
    handshakes: int = Field(ge=1)
    client_cpu_ns: int = Field(ge=0)
    server_cpu_ns: int = Field(ge=0)
    wall_ns: int = Field(ge=0)
    first_client_ns: int = Field(ge=0)
    first_server_ns: int = Field(ge=0)
    client_bytes: int = Field(ge=0)
    server_bytes: int = Field(ge=0)
    involuntary_switches: int = Field(ge=0)


class Failed(_Record):
    type: Literal["failed"]
    id: str
    handshakes: int
    kind: Literal["mismatch", "error"]
    reason: str
    detail: str | None


class RequestError(_Record):
    type: Literal["error"]
    reason: str


class Bye(_Record):
    type: Literal["bye"]


Record = Hello | Ready | Refused | Batch | Failed | RequestError | Bye
WorkerRecord: TypeAdapter[Record] = TypeAdapter(Annotated[Record, Field(discriminator="type")])


def parse_record(line: bytes) -> Record:
    """Raises ValueError for anything that is not a record of this protocol version."""
    try:
        return WorkerRecord.validate_json(line)
    except ValidationError as error:
        raise ValueError(f"not a record of the worker's protocol: {line[:200]!r}: {error.errors()[0]['msg']}") from None
