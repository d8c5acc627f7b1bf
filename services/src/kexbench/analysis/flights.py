"""How many round trips a handshake waits on a path without loss: exact arithmetic over flights, windows and limits.

TCP sends its initial window, then waits for acknowledgements, which double what may be under way in slow start (RFC
5681, section 3.1; RFC 6928). A segment carries the MTU without 20 bytes each of IPv4 and TCP and 12 bytes of
timestamps, as Linux sends them. On a round trip above a second TCP repeats its SYN, after which RFC 5681 begins with
one segment. Linux keeps its window, since the timestamps show that no SYN was lost. A QUIC server that has not yet
heard from the client twice sends at most three times the bytes that it received (RFC 9000, section 8.1), and
datagrams of 1200 bytes, which a client's first flight is padded to (section 14.1); its window begins with ten
datagrams (RFC 9002, section 7.2).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from math import ceil
from typing import Literal

from kexbench.domain.dimensions import Protocol, Resumption
from kexbench.domain.paths import DATAGRAM_BYTES, NetworkPath

RECEIVE_WINDOW_BYTES = 65_535
"""What a peer of Linux takes before it has read anything, however large the sender's window is (RFC 9293, 3.1)."""
AMPLIFICATION = 3
QUIC_WINDOW_DATAGRAMS = 10
RETRY_BYTES = 100
"""A HelloRetryRequest is about so large, which fits any packet."""
StepKind = Literal[
    "connect", "exchange", "hello retry", "second exchange", "client hello", "server flight", "client flight", "limit"
]


@dataclass(frozen=True)
class Flights:
    """The bytes of a handshake's flights as they go over the wire: records of TLS, datagrams of QUIC."""

    hello: int
    server: int
    client_last: int = 0
    """The client's flight that ends its part of the handshake."""


@dataclass(frozen=True)
class Step:
    """Round trips that a handshake waits for one cause; none for a flight that fits."""

    kind: StepKind
    round_trips: int
    flight_bytes: int = 0
    """0 of an exchange."""
    limit_bytes: int = 0
    """What of the flight may be under way at first."""


@dataclass(frozen=True)
class Prediction:
    every: tuple[Step, ...]
    """In their order, flights that fit too. The first one is TCP's own round trip."""
    sends_at_once: bool = False
    """Whether the request is early data, which waits for nothing after connecting."""

    @property
    def steps(self) -> tuple[Step, ...]:
        """Those that are waited for."""
        return tuple(step for step in self.every if step.round_trips)

    @property
    def flights(self) -> tuple[Step, ...]:
        """Those with a size, whether they fit or not."""
        return tuple(step for step in self.every if step.flight_bytes)

    @property
    def connecting(self) -> int:
        return sum(step.round_trips for step in self.steps if step.kind == "connect")

    @property
    def handshake(self) -> int:
        """Round trips after connecting until the client's handshake is done."""
        return sum(step.round_trips for step in self.steps) - self.connecting

    @property
    def before_request(self) -> int:
        """Round trips after connecting before the client may send its request."""
        return 0 if self.sends_at_once else self.handshake


@dataclass(frozen=True)
class Change:
    """One cause of which a handshake waits for more round trips, or fewer, than another. None: it has no such step."""

    before: Step | None
    after: Step | None

    @property
    def round_trips(self) -> int:
        first, second = (step.round_trips if step else 0 for step in (self.before, self.after))
        return second - first


def changes(before: Prediction, after: Prediction) -> tuple[Change, ...]:
    """Why two handshakes wait for different round trips, in the order of their steps."""
    kinds = dict.fromkeys(_cause(step) for step in (*before.every, *after.every))
    pairs = (
        zip_longest(*([step for step in each.every if _cause(step) == kind] for each in (before, after)))
        for kind in kinds
    )
    return tuple(change for pair in pairs for steps in pair if (change := Change(*steps)).round_trips)


def _cause(step: Step) -> StepKind:
    """Only one of a QUIC server's window and limit holds its flight back."""
    return "server flight" if step.kind == "limit" else step.kind


class _Sender:
    """One side of a TCP connection in slow start, counted in segments as Linux does."""

    def __init__(self, path: NetworkPath) -> None:
        self._segment_bytes = path.segment_bytes
        self._window = min(path.initial_window, RECEIVE_WINDOW_BYTES // self._segment_bytes)

    @property
    def window_bytes(self) -> int:
        return self._window * self._segment_bytes

    def waits(self, size_bytes: int) -> int:
        """Round trips until the last segment of a flight has left. A window that was half used grows by what was
        acknowledged."""
        left, waited = ceil(size_bytes / self._segment_bytes), -1
        while left > 0:
            sent = min(left, self._window)
            left -= sent
            self._window += sent if 2 * sent > self._window else 0
            waited += 1
        return max(0, waited)


def predict(
    protocol: Protocol,
    path: NetworkPath,
    flights: Flights,
    *,
    resumption: Resumption = Resumption.NONE,
    hello_retry: bool = False,
    sends_at_once: bool = False,
) -> Prediction:
    """The round trips of a handshake without loss and without a limit of the rate."""
    over_quic = protocol is Protocol.QUIC_V1
    steps = _quic(flights, hello_retry) if over_quic else _tcp(protocol, path, flights, resumption, hello_retry)
    return Prediction(tuple(steps), sends_at_once)


def _tcp(
    protocol: Protocol, path: NetworkPath, flights: Flights, resumption: Resumption, hello_retry: bool
) -> Iterator[Step]:
    client, server = _Sender(path), _Sender(path)
    yield Step("connect", 1)
    yield from _flight("client hello", client, flights.hello)
    yield Step("exchange", 1)
    if hello_retry:
        server.waits(RETRY_BYTES)
        yield from _flight("client hello", client, flights.hello)
        yield Step("hello retry", 1)
    yield from _flight("server flight", server, flights.server)
    is_answered = protocol is Protocol.TLS_1_2 and resumption is Resumption.NONE  # by the server's Finished
    yield from _flight("client flight", client, flights.client_last, delays=is_answered)
    if is_answered:
        yield Step("second exchange", 1)


def _flight(kind: StepKind, sender: _Sender, size_bytes: int, *, delays: bool = True) -> Iterator[Step]:
    """A flight beside the window that it finds. `delays`: whether the client's handshake waits for all of it."""
    window_bytes = sender.window_bytes
    waited = sender.waits(size_bytes)
    if size_bytes:
        yield Step(kind, waited if delays else 0, size_bytes, window_bytes)


def _quic(flights: Flights, hello_retry: bool) -> Iterator[Step]:
    """The client's second flight after a HelloRetryRequest shows its address, so that only the window is left."""
    window_bytes = QUIC_WINDOW_DATAGRAMS * DATAGRAM_BYTES
    received_bytes = ceil(flights.hello / DATAGRAM_BYTES) * DATAGRAM_BYTES
    allowed_bytes = window_bytes if hello_retry else min(window_bytes, AMPLIFICATION * received_bytes)
    is_limited = allowed_bytes < window_bytes
    yield Step("exchange", 1)
    if hello_retry:
        yield Step("hello retry", 1)
    first_bytes, left_bytes, waited = allowed_bytes, flights.server - allowed_bytes, 0
    allowed_bytes = window_bytes if is_limited else 2 * window_bytes
    while left_bytes > 0:
        left_bytes -= allowed_bytes
        allowed_bytes *= 2
        waited += 1
    yield Step("limit" if is_limited else "server flight", waited, flights.server, first_bytes)
