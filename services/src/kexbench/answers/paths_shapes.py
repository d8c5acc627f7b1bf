"""The shape of the answer on paths."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from kexbench.analysis.flights import StepKind
from kexbench.answers.cells import OutcomeView
from kexbench.answers.shapes import CaseView
from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import HostKind
from kexbench.domain.intervals import Estimate
from kexbench.domain.paths import NetworkPath
from kexbench.domain.samples import Negotiated
from kexbench.domain.subjects import Subject

Agreement = Literal["as predicted", "differs", "with loss", "not counted"]
"""`with loss`: losses add to what sizes predict; `not counted`: the round trip is too short to count them."""


class PathView(Frozen):
    text: str = Field(description="as cases have it", examples=["continent", "50ms-loss-1"])
    words: str = Field(examples=["30.916 ms", "50 ms, 1% loss"])
    title: str | None = Field(description="of a preset", examples=["same continent"])
    source: str | None = Field(description="where a preset's numbers are from")
    numbers: NetworkPath


class Percentiles(Frozen):
    """In nanoseconds from the beginning of a connection, over the connections of all invocations."""

    p50: Estimate
    p95: Estimate
    p99: Estimate


class StepView(Frozen):
    """Round trips for one cause."""

    kind: StepKind
    round_trips: int
    is_further: bool = Field(description="whether the cause is a flight that does not fit")
    text: str = Field(examples=["the server's first flight of 14.9 kB does not fit the window of 14.5 kB: +1"])


class FlightView(Frozen):
    """A flight of the handshake beside what its side may send before it waits."""

    kind: StepKind = Field(description="`limit`: the server's flight, which QUIC limits")
    size_bytes: int
    limit_bytes: int = Field(description="of the window that the flight finds, or three times the client's bytes")
    round_trips: int = Field(description="that the client's handshake waits for it; 0 if it fits")


class PredictionView(Frozen):
    """What follows from the sizes of the flights, without loss."""

    connecting: int = Field(description="round trips of TCP's own handshake")
    handshake: int = Field(description="round trips after connecting until the client's handshake is done")
    before_request: int = Field(description="round trips after connecting before the client may send its request")
    handshake_ns: float = Field(description="connecting and handshake together, with sending at the path's rate")
    steps: list[StepView]
    flights: list[FlightView] = Field(description="in their order; a HelloRetryRequest is not among them")


class Emulated(Frozen):
    """What the emulator did, as it measured itself, beside what the path asks for."""

    round_trip_ms: float | None = Field(description="twice the median delay; null where every packet found a queue")
    loss_percent: float
    rate_mbit: float | None = Field(description="null without a limit, and where no queue filled for long enough")
    text: str = Field(examples=["20.01 of 20 ms, 2.1% of 2% lost, 9.99 of 10 Mbit/s"])


class PathCell(Frozen):
    """One subject over one path."""

    subject: str
    handshake: Percentiles | None = Field(description="until the client's handshake is done; null without a number")
    computing_ns: float | None = Field(
        description="that both sides compute in a handshake: the median of the invocations' medians"
    )
    first_byte_ns: Estimate | None = Field(description="until the first byte of the answer, median")
    answer: Percentiles | None = Field(description="until the last byte of the answer")
    round_trips: Estimate | None = Field(
        description="measured: waited after connecting before the request, over invocations; null on a path whose "
        "round trip is below 5 ms"
    )
    predicted: PredictionView | None = Field(description="null where the sizes of the flights are unknown")
    agreement: Agreement | None = Field(description="of measured and predicted round trips; null without either")
    reason: str | None = Field(description="why the two differ, as far as known")
    negotiated: Negotiated | None = Field(description="what the library chose, in cases that leave it a choice")
    server_retransmissions: float | None = Field(description="segments that the server sent again, per connection")
    connections: int = Field(description="over all invocations")
    emulated: Emulated | None = Field(description="null without a number")
    outcome: OutcomeView | None
    run_id: str | None
    measured_at: datetime | None


class PathCase(Frozen):
    """A case over one path."""

    case: CaseView
    title: str = Field(description="of the case, whatever its path")
    path: PathView
    cells: list[PathCell] = Field(description="in the order of the subjects")


class Paths(Frozen):
    """What a user waits for, by case and path, on one host kind."""

    host_kind: HostKind | None
    subjects: list[Subject] = Field(description="by library, then version order")
    cases: list[PathCase] = Field(description="by case, then from the shortest path to the longest")
    sentence: str = Field(description="what stands out; empty without results")
