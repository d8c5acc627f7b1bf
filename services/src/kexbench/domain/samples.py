"""What one invocation of one case yields: samples (numbers) and outcomes (why there is no number)."""

import math
from enum import StrEnum
from signal import SIGHUP, SIGINT, SIGKILL, SIGTERM
from statistics import median
from typing import Annotated, Literal, Self

from pydantic import (
    Field,
    PlainSerializer,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
    model_validator,
)

from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import HostLoad
from kexbench.domain.moments import UtcText
from kexbench.domain.numbers import AttemptNumber, Count, Finite


class Metric(StrEnum):
    """What is measured, per handshake; the unit stands last. A batch's total is divided by its handshakes.

    The first block comes from timed batches, the second from an untimed pass (workers/handshake/PROTOCOL.md,
    "What is examined"): one value an invocation that has such a pass.
    """

    CPU_NS = "cpu_ns"
    CLIENT_CPU_NS = "client_cpu_ns"
    SERVER_CPU_NS = "server_cpu_ns"
    WALL_NS = "wall_ns"
    ELAPSED_NS = "elapsed_ns"
    FIRST_NS = "first_ns"
    CLIENT_BYTES = "client_bytes"
    SERVER_BYTES = "server_bytes"

    CLIENT_RECORDS = "client_records"
    SERVER_RECORDS = "server_records"
    ROUND_TRIPS = "round_trips"
    CLIENT_ALLOCATIONS = "client_allocations"
    SERVER_ALLOCATIONS = "server_allocations"
    HEAP_PEAK_BYTES = "heap_peak_bytes"
    CLIENT_HELD_BYTES = "client_held_bytes"
    SERVER_HELD_BYTES = "server_held_bytes"
    CLIENT_INSTRUCTIONS = "client_instructions"
    SERVER_INSTRUCTIONS = "server_instructions"
    CLIENT_CYCLES = "client_cycles"
    SERVER_CYCLES = "server_cycles"
    CLIENT_BRANCH_MISSES = "client_branch_misses"
    SERVER_BRANCH_MISSES = "server_branch_misses"
    CLIENT_CACHE_MISSES = "client_cache_misses"
    SERVER_CACHE_MISSES = "server_cache_misses"


SPOILT_BY_PREEMPTION = frozenset({Metric.CLIENT_CPU_NS, Metric.SERVER_CPU_NS, Metric.WALL_NS, Metric.FIRST_NS})
"""What a batch does not know whose thread was preempted: ticks and wall clock hold the time of others. Its CPU time
it knows."""


class OutcomeKind(StrEnum):
    UNSUPPORTED = "unsupported"
    MISMATCH = "mismatch"
    ERROR = "error"
    CRASHED = "crashed"
    HUNG = "hung"


Disturbed = Literal["disturbed"]
"""Why some numbers of an invocation are missing that has others. It is no outcome: nothing failed."""


SIGNALS_FROM_OUTSIDE = frozenset({SIGHUP, SIGINT, SIGKILL, SIGTERM})
"""Signals that end a worker because somebody wants it to end; no library crashes by one of them."""
_FROM_OUTSIDE = frozenset(f"the worker was ended by signal {number:d}" for number in SIGNALS_FROM_OUTSIDE)

MIN_CLEAN_BATCHES = 3
"""Fewer batches of an invocation in which the thread was not preempted make no sample of what preemption spoils."""
DISTURBED_REASON = f"other programs ran in between: fewer than {MIN_CLEAN_BATCHES} batches are known to be undisturbed"
ABSENT = math.nan
"""A batch that does not know a value; `null` in JSON. Batches keep their places, since rounds are paired by them."""


def _number_or_absent(value: object, parse: ValidatorFunctionWrapHandler) -> float:
    """Null is the one way to write an absent value. What a document calls NaN is another object than ABSENT, and
    refused."""
    if value is None or value is ABSENT:
        return ABSENT
    number: float = parse(value)
    if not math.isfinite(number) or number < 0:
        raise ValueError("must be a number from 0, or null where the batch does not know it")
    return number


Value = Annotated[
    float,
    WrapValidator(_number_or_absent),
    PlainSerializer(lambda value: None if math.isnan(value) else value, when_used="json"),
    WithJsonSchema({"anyOf": [{"type": "number", "minimum": 0}, {"type": "null"}]}),
]
"""A number from 0, or ABSENT."""


class Sample(Frozen):
    """The batch values of one subject and metric in one invocation of a case."""

    subject: str
    metric: Metric
    values: tuple[Value, ...] = Field(
        min_length=1,
        description="one value a batch, in the order they were run; null where the batch does not know it, since its "
        "thread was preempted",
    )
    level: Finite | None = Field(
        None,
        ge=0,
        description="what a handshake cost over all batches that know it: their totals by their handshakes; null where "
        "the median of the batches stands for it",
    )

    @property
    def cost(self) -> float:
        """What stands for the whole invocation, in the unit of the metric."""
        return median(value for value in self.values if not math.isnan(value)) if self.level is None else self.level

    @model_validator(mode="after")
    def _has_a_number(self) -> Self:
        if all(map(math.isnan, self.values)):
            raise ValueError("a sample has at least one number; leave it out where no batch knows any")
        return self


class Outcome(Frozen):
    """Why a subject has no samples in an invocation of a case."""

    subject: str
    kind: OutcomeKind
    reason: str
    detail: str | None = Field(None, description="the library's own error text")


class Negotiated(Frozen):
    """What both sides agreed on, as the library reported it and the worker verified it: `-` for what there is not,
    None for what nobody can tell. The fields with defaults are unknown of invocations that were made before them."""

    protocol: str | None
    cipher: str | None
    group: str | None
    signature: str | None
    peer_key: str | None
    peer_key_bits: Count = Field(description="0 for keys that come in one size")
    resumed: bool
    client_key: str | None = Field(None, description="of the certificate that the client showed")
    chain_length: Count | None = Field(None, description="certificates that the client got")
    ocsp_bytes: Count | None = Field(None, description="of the stapled response that the client got")
    early_data_bytes: Count | None = Field(None, description="that the server accepted")
    hello_retry: int | None = Field(None, ge=0, le=1)
    client_signature: str | None = Field(None, description="the scheme of the client's CertificateVerify")
    extended_master_secret: int | None = Field(None, ge=0, le=1, description="of TLS 1.2")
    key_shares: Count | None = Field(None, description="in the client's first message")
    tickets: Count | None = Field(None, description="that a TLS 1.3 server sent after the handshake")


class Timer(Frozen):
    """What a worker knew of its clocks when it started: what reading them costs, and whether they are real."""

    tick_source: str
    tick_cost_ns: Finite
    thread_cpu_clock_cost_ns: Finite
    emulated: bool = Field(False, description="an emulator ran the worker, so its times mean nothing")


class Invocation(Frozen):
    """All that one set of fresh worker processes yielded: the statistical unit and the unit of upload.

    Complete or absent: nothing reads or writes a part of one.
    """

    format_version: Count = 1
    run_id: str
    job_id: str
    attempt: AttemptNumber
    case_id: str
    invocation: Count
    host_id: str
    host_load: HostLoad
    started_at: UtcText = Field(description="ISO 8601, UTC")
    discarded_batches: Count = Field(0, description="batches repeated after an involuntary context switch")
    preempted_batches: Count = Field(0, description="batches kept although the thread was preempted in them")
    negotiated: dict[str, Negotiated] = Field(description="by subject")
    timers: dict[str, Timer] = Field({}, description="by subject")
    samples: tuple[Sample, ...]
    outcomes: tuple[Outcome, ...]

    @property
    def usable_samples(self) -> tuple[Sample, ...]:
        """Runners of earlier releases, which gave no levels, wrote down what preemption spoils like everything else,
        and not in which batches. To CPU time they gave a share of the ticks that others had a part in. Of their
        invocations with preempted batches all of it is left out."""
        earlier = any(sample.metric is Metric.CPU_NS and sample.level is None for sample in self.samples)
        if not (earlier and self.preempted_batches):
            return self.samples
        return tuple(sample for sample in self.samples if sample.metric not in {Metric.CPU_NS, *SPOILT_BY_PREEMPTION})

    @property
    def was_cut_short(self) -> bool:
        """Whether somebody outside ended a worker. Runners drop such an invocation today; earlier ones kept it as a
        crash, of which this text is all that tells."""
        return any(outcome.kind is OutcomeKind.CRASHED and outcome.reason in _FROM_OUTSIDE for outcome in self.outcomes)
