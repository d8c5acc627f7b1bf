"""The results of one invocation of a case: samples (numbers) and outcomes (why there is no number)."""

import math
from enum import StrEnum
from signal import SIGHUP, SIGINT, SIGKILL, SIGTERM
from statistics import median
from typing import Annotated, Any, Literal

from pydantic import Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import HostLoad
from kexbench.domain.metrics import HELD_METRICS, SPOILT_BY_PREEMPTION, Metric, Side
from kexbench.domain.moments import UtcText
from kexbench.domain.numbers import AttemptNumber, Count, Finite
from kexbench.domain.profiles import Profile

__all__ = ["Metric", "Side"]


class OutcomeKind(StrEnum):
    UNSUPPORTED = "unsupported"
    MISMATCH = "mismatch"
    ERROR = "error"
    CRASHED = "crashed"
    HUNG = "hung"


HOPELESS = frozenset({OutcomeKind.UNSUPPORTED, OutcomeKind.HUNG})
"""Outcomes after which a subject is not tried again on a case: a retry would fail again, or take too long."""


Absence = Literal["disturbed", "withdrawn", "set aside"]
"""Why an invocation lacks some of its numbers. It is not an outcome, since nothing failed."""
WITHDRAWN_REASON = (
    "an earlier release took the memory of up to 16 open connections for that of one; measure the spec again"
)


SIGNALS_FROM_OUTSIDE = frozenset({SIGHUP, SIGINT, SIGKILL, SIGTERM})
"""Signals that end a worker on purpose; they are never a library's crash."""
_FROM_OUTSIDE = frozenset(f"the worker was ended by signal {number:d}" for number in SIGNALS_FROM_OUTSIDE)

DISTURBED_SHARE = 0.01
"""A batch is disturbed if other programs took more from its threads than this share of the CPU time that they used."""
MIN_CLEAN_BATCHES = 3
"""Fewer undisturbed batches of an invocation make no sample of what disturbance spoils."""
MIN_VARIED_BATCHES = 5
"""Fewer undisturbed batches of an invocation say nothing about how much they vary."""
TOO_FEW_BATCHES = f"fewer than {MIN_CLEAN_BATCHES} batches were undisturbed"
OTHERS_MEASURED_SINCE = 4
"""The first harness version that measured what other programs took. Earlier ones called a batch disturbed after any
involuntary context switch, whatever its cause."""


def disturbed_reason(harness_version: int) -> str:
    """Why there are no numbers of each side: as much of the cause as was measured."""
    if harness_version < OTHERS_MEASURED_SINCE:
        return f"threads were interrupted, so {TOO_FEW_BATCHES}; the cause was not measured"
    return f"other programs took over {DISTURBED_SHARE:.0%} of the CPU time of batches, so {TOO_FEW_BATCHES}"


ABSENT = math.nan
"""The value of a batch that has none; `null` in JSON. Batches keep their places, which pair the rounds."""


class _Batches:
    """The schema of batch values. Numbers are checked without a call of Python for each, since uploads have many."""

    @classmethod
    def __get_pydantic_core_schema__(cls, _: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        values = handler.generate_schema(_NUMBERS_OR_NULL)
        return core_schema.no_info_after_validator_function(
            _null_as_absent,
            core_schema.json_or_python_schema(
                values, core_schema.no_info_before_validator_function(_absent_as_null, values)
            ),
            serialization=core_schema.plain_serializer_function_ser_schema(
                _nan_as_null, return_schema=values, when_used="json"
            ),
        )


_NUMBERS_OR_NULL = Annotated[tuple[Annotated[float, Field(ge=0, allow_inf_nan=False)] | None, ...], Field(min_length=1)]


def _null_as_absent(values: tuple[float | None, ...]) -> tuple[float, ...]:
    if None not in values:
        return values  # type: ignore[return-value]
    numbers = tuple(ABSENT if value is None else value for value in values)
    if all(map(math.isnan, numbers)):
        raise ValueError("a sample needs at least one number; leave it out where no batch has one")
    return numbers


def _absent_as_null(values: Any) -> Any:
    """Of what is not values yet, nothing is changed. NaN in a document is another object than ABSENT and rejected."""
    if not isinstance(values, tuple | list):
        return values
    return tuple(None if value is ABSENT else value for value in values)


def _nan_as_null(values: tuple[float, ...]) -> tuple[float | None, ...]:
    return tuple(None if math.isnan(value) else value for value in values)


class Sample(Frozen):
    """The batch values of one subject and metric in one invocation of a case."""

    subject: str
    metric: Metric
    values: Annotated[tuple[float, ...], _Batches] = Field(
        description="one value per batch, in the order of the batches; null where the batch was disturbed",
    )
    level: Finite | None = Field(
        None,
        ge=0,
        description="cost of a handshake over all batches with a value: total divided by handshakes; null where the "
        "median of the batches is used",
    )

    @property
    def cost(self) -> float:
        """The value of the whole invocation, in the unit of the metric."""
        return median(value for value in self.values if not math.isnan(value)) if self.level is None else self.level


class Outcome(Frozen):
    """Why a subject has no samples in an invocation of a case."""

    subject: str
    kind: OutcomeKind
    reason: str
    detail: str | None = Field(None, description="the library's own error text")


class Negotiated(Frozen):
    """What both sides agreed on, reported by the library and verified by the worker: `-` for nothing, None for unknown.
    Fields with defaults are unknown in older invocations."""

    protocol: str | None
    cipher: str | None
    group: str | None
    signature: str | None
    peer_key: str | None
    peer_key_bits: Count = Field(description="0 for keys of a fixed size")
    resumed: bool
    client_key: str | None = Field(None, description="of the client's certificate")
    chain_length: Count | None = Field(None, description="certificates that the client received")
    ocsp_bytes: Count | None = Field(None, description="of the stapled response that the client received")
    early_data_bytes: Count | None = Field(None, description="that the server accepted")
    hello_retry: int | None = Field(None, ge=0, le=1)
    client_signature: str | None = Field(None, description="the scheme of the client's CertificateVerify")
    extended_master_secret: int | None = Field(None, ge=0, le=1, description="of TLS 1.2")
    encrypt_then_mac: int | None = Field(None, ge=0, le=1, description="of TLS 1.2: 1 with CBC ciphers")
    key_shares: Count | None = Field(None, description="in the client's first message")
    tickets: Count | None = Field(
        None,
        description="that a TLS 1.3 server sent after the handshake, or any server in a resumption; with default "
        "tickets, that the client took in",
    )
    verified_length: Count | None = Field(
        None, description="certificates from the server's to the trust anchor that the client verified; 0: not verified"
    )
    client_verified_length: Count | None = Field(None, description="the same of the client's, verified by the server")
    transferred_bytes: Count | None = Field(None, description="application data that the client received unchanged")
    transfer_records: Count | None = Field(None, description="that held it")


class Timer(Frozen):
    """A worker's clocks at its start: the cost of reading them, and whether they are real."""

    tick_source: str
    tick_cost_ns: Finite
    thread_cpu_clock_cost_ns: Finite
    emulated: bool = Field(False, description="an emulator ran the worker, so its times mean nothing")


class Invocation(Frozen):
    """All results of one set of fresh worker processes: the statistical unit and the unit of upload.

    It is complete or absent: nothing reads or writes a part of it.
    """

    format_version: Count = Field(2, description="before 2, runners gave the memory of several connections as one's")
    run_id: str
    job_id: str
    attempt: AttemptNumber
    case_id: str
    invocation: Count
    host_id: str
    host_load: HostLoad
    started_at: UtcText = Field(description="ISO 8601, UTC")
    discarded_batches: Count = Field(0, description="batches repeated because they were disturbed")
    preempted_batches: Count = Field(0, description="batches kept although they were disturbed")
    negotiated: dict[str, Negotiated] = Field(description="by subject")
    timers: dict[str, Timer] = Field({}, description="by subject")
    samples: tuple[Sample, ...]
    outcomes: tuple[Outcome, ...]
    profiles: dict[str, tuple[Profile, ...]] = Field(
        {}, description="counted instructions by function, by subject; of a case's first invocation"
    )

    @property
    def usable_samples(self) -> tuple[Sample, ...]:
        """Runners of earlier releases, which gave no levels, did not mark preempted batches, and derived CPU time from
        ticks that include other programs. So affected metrics are left out of their invocations with preempted
        batches."""
        earlier = any(sample.metric is Metric.CPU_NS and sample.level is None for sample in self.samples)
        spoilt = {Metric.CPU_NS, *SPOILT_BY_PREEMPTION} if earlier and self.preempted_batches else set()
        without = spoilt | {sample.metric for sample in self.withdrawn_samples}
        return tuple(sample for sample in self.samples if sample.metric not in without) if without else self.samples

    @property
    def withdrawn_samples(self) -> tuple[Sample, ...]:
        """Runners before format 2 gave the heap of all connections that a worker held, and not their number. So these
        cannot be corrected, and are kept where nobody is shown them."""
        if self.format_version >= 2:
            return ()
        return tuple(sample for sample in self.samples if sample.metric in HELD_METRICS)

    @property
    def hopeless(self) -> tuple[str, ...]:
        """The subjects that need not be tried again on its case: one that has numbers lacks an age or a start alone."""
        measured = {sample.subject for sample in self.samples}
        failed = [outcome.subject for outcome in self.outcomes if outcome.kind in HOPELESS]
        return tuple(subject for subject in failed if subject not in measured)

    @property
    def was_cut_short(self) -> bool:
        """Whether a worker was ended from outside. Today runners drop such an invocation. Earlier ones kept it as a
        crash, which only this text reveals."""
        return any(outcome.kind is OutcomeKind.CRASHED and outcome.reason in _FROM_OUTSIDE for outcome in self.outcomes)
