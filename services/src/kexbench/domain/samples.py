"""What one invocation of one case yields: samples (numbers) and outcomes (why there is no number)."""

from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from kexbench.domain.hosts import HostLoad
from kexbench.domain.moments import UtcText


class Metric(StrEnum):
    """What is measured, per handshake; the unit stands last. A batch's total is divided by its handshakes."""

    CPU_NS = "cpu_ns"
    CLIENT_CPU_NS = "client_cpu_ns"
    SERVER_CPU_NS = "server_cpu_ns"
    WALL_NS = "wall_ns"
    FIRST_NS = "first_ns"
    CLIENT_BYTES = "client_bytes"
    SERVER_BYTES = "server_bytes"


class OutcomeKind(StrEnum):
    UNSUPPORTED = "unsupported"
    MISMATCH = "mismatch"
    ERROR = "error"
    CRASHED = "crashed"
    HUNG = "hung"


Value = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Sample(_Frozen):
    """The batch values of one subject and metric in one invocation of a case."""

    subject: str
    metric: Metric
    values: tuple[Value, ...] = Field(min_length=1, description="one value a batch, in the order they were run")


class Outcome(_Frozen):
    """Why a subject has no samples in an invocation of a case."""

    subject: str
    kind: OutcomeKind
    reason: str
    detail: str | None = Field(None, description="the library's own error text")


class Negotiated(_Frozen):
    """What both sides agreed on, as the library reported it and the worker verified it."""

    protocol: str
    cipher: str
    group: str
    signature: str
    peer_key: str
    peer_key_bits: int
    resumed: bool


class Invocation(_Frozen):
    """All that one set of fresh worker processes yielded: the statistical unit and the unit of upload.

    Complete or absent: nothing reads or writes a part of one.
    """

    format_version: int = 1
    run_id: str
    job_id: str
    attempt: int = Field(ge=1)
    case_id: str
    invocation: int = Field(ge=0)
    host_id: str
    host_load: HostLoad
    started_at: UtcText = Field(description="ISO 8601, UTC")
    discarded_batches: int = Field(0, ge=0, description="batches repeated after an involuntary context switch")
    preempted_batches: int = Field(0, ge=0, description="batches kept although the thread was preempted in them")
    negotiated: dict[str, Negotiated] = Field(description="by subject")
    samples: tuple[Sample, ...]
    outcomes: tuple[Outcome, ...]
