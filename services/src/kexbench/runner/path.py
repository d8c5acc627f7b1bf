"""Connections over an emulated path: the request to a worker, what its answer is worth, and the samples of it."""

from collections.abc import Sequence
from math import ceil
from statistics import median
from typing import Literal

from pydantic import Field

from kexbench.domain.canonical import content_hash
from kexbench.domain.cases import Case
from kexbench.domain.dimensions import Protocol
from kexbench.domain.frozen import Frozen
from kexbench.domain.metrics import Metric
from kexbench.domain.paths import NetworkPath, hello_packets, interval_ns, parse_path
from kexbench.domain.samples import OutcomeKind, Sample
from kexbench.runner.doctor.path_probe import PathProbe, probe
from kexbench.runner.participant import Dropped, Setting, expect, setup_request, setup_timeout_s, worker_faults
from kexbench.runner.path_remedies import REMEDIES
from kexbench.runner.records import Batch, PathConnections, Ready
from kexbench.runner.worker import Worker

MOST_LATE = 0.01
"""Of a path's packets. One that carries more of them too late is not the path that was asked for."""
TRIES = 3
"""Of a path that the machine does not hold, since other programs ran. The same seed loses the same packets."""
LEAST_ROUND_TRIP_MS = 5
"""On a shorter round trip, what the machine takes is no longer small beside it, so round trips are not counted."""
MOST_OWN_SHARE = 0.5
"""Of a round trip, for computing and sending. A handshake sends and computes while it waits, too, so much of either
would count as a round trip, or hide one."""
MOST_TIMEOUTS_EXPLAINED = 0.001
"""The share of connections that may time out where packets are lost: those that lost a packet again and again."""
NOT_HELD = (
    f"this machine did not hold the path: more than {MOST_LATE:.0%} of its packets were late; use an idle machine with "
    "two CPUs"
)
_TIMEOUT_NS, _LONGEST_TIMEOUT_NS = 10 * 10**9, 60 * 10**9
_LONGEST_NS = 3600 * 10**9
_MARGIN_S = 15.0
"""For making the path, for the proofs, and for a worker's answer after the last connection has ended."""
_HEADERS = 0.1
"""Of a flight, what headers add at most."""


class PathRequest(Frozen):
    """workers/handshake/PROTOCOL.md, "Paths", specifies it."""

    round_trip_ns: int = Field(ge=0, le=10 * 10**9)
    loss_ppm: int = Field(ge=0, le=10**6)
    rate_bit_s: int = Field(ge=0)
    mtu: int = Field(ge=576, le=9000)
    queue_bytes: int = Field(ge=0)
    initial_window: int = Field(ge=1, le=100)
    split_hello: int | Literal["drop"] = Field(0, description="a delay in nanoseconds")
    seed: int = Field(ge=0, lt=2**63)
    connections: int = Field(ge=1, le=20_000)
    interval_ns: int = Field(ge=0, le=10**9)
    timeout_ns: int = Field(ge=1, le=_LONGEST_TIMEOUT_NS)
    answer_bytes: int = Field(ge=1, le=2**24)

    def line(self, case_id: str) -> str:
        return f"path id={case_id} " + " ".join(f"{name}={value}" for name, value in self.model_dump().items())

    @property
    def longest_s(self) -> float:
        """The time within which a worker answers."""
        return (self.connections * self.interval_ns + self.timeout_ns) / 1e9 + _MARGIN_S


def connect_over_path(setting: Setting, reference: str, last: Batch | None, seed: str) -> list[Sample]:
    """The samples of one subject's connections. A worker of their own makes them, which has a second CPU for the
    emulator. Raises Dropped."""
    case, path = setting.case, setting.case.network_path
    assert path is not None
    request = path_request(case, path, setting.job_input.measure.connections, seed, last)
    with setting.launch(reference, threads=2) as worker, worker_faults():
        expect(Ready, worker.ask(setup_request(case, setting.files), setup_timeout_s(case)))
        record = held_connections(worker, case, request)
    check_path(case, record, request)
    return path_samples(reference, case, path, record)


def held_connections(worker: Worker, case: Case, request: PathRequest) -> PathConnections:
    """Those of the first try in which the machine held the path, or of the last one."""
    record = _connections(worker, case, request)
    for _ in range(TRIES - 1):
        if record.late_share <= MOST_LATE:
            break
        record = _connections(worker, case, request)
    return record


def _connections(worker: Worker, case: Case, request: PathRequest) -> PathConnections:
    try:
        return expect(PathConnections, worker.ask(request.line(case.case_id), request.longest_s))
    except Dropped as fault:
        raise with_remedy(fault, probe()) from None


def path_request(case: Case, path: NetworkPath, connections: int, seed: str, last: Batch | None) -> PathRequest:
    """`seed`: another text for each invocation. `last`: a batch of the same case in memory, which shows what a
    connection costs. Raises Dropped."""
    handshake_ns = last.thread_cpu_ns / last.handshakes if last else 0.0
    flight_bytes = max(last.client_bytes, last.server_bytes) / last.handshakes if last else 0.0
    answer_bytes = max(1, case.transfer_bytes)
    busiest_bytes = ceil((flight_bytes + answer_bytes) * (1 + _HEADERS)) + path.mtu
    apart_ns = interval_ns(path, handshake_ns, busiest_bytes)
    if apart_ns > 10**9 or apart_ns * connections > _LONGEST_NS:
        raise Dropped(
            OutcomeKind.UNSUPPORTED, "connections over this path take too long: use a faster path or less data"
        )
    return PathRequest(
        round_trip_ns=path.round_trip_ns,
        loss_ppm=path.loss_ppm,
        rate_bit_s=path.rate_bit_s,
        mtu=path.mtu,
        queue_bytes=path.queue_bytes,
        initial_window=path.initial_window,
        split_hello="drop" if path.split_hello == "drop" else path.split_delay_ns,
        seed=int(content_hash(f"{seed}/path"), 16) % 2**48,
        connections=connections,
        interval_ns=apart_ns,
        timeout_ns=_LONGEST_TIMEOUT_NS
        if path.loss_ppm
        else min(_TIMEOUT_NS + 10 * path.round_trip_ns, _LONGEST_TIMEOUT_NS),
        answer_bytes=answer_bytes,
    )


def check_path(case: Case, record: PathConnections, request: PathRequest) -> None:
    """Raises Dropped with the reason and the remedy, unless the path was what was asked for and carried all."""
    failures, wanted = record.failures, request.connections
    if request.split_hello == "drop" and record.client_split_packets and failures.timeout == wanted:
        raise Dropped(OutcomeKind.UNSUPPORTED, _split_reason(case, record, wanted))
    explained = ceil(MOST_TIMEOUTS_EXPLAINED * wanted) if request.loss_ppm else 0
    if failures.total > explained or failures.total > failures.timeout or not record.connections:
        kind = OutcomeKind.HUNG if failures.timeout == failures.total > 0 else OutcomeKind.ERROR
        first = record.first_failure or "none was made"
        raise Dropped(kind, f"{failures.total} of {wanted} connections over the path failed: {first}")
    if record.connections + failures.total != wanted:
        raise Dropped(OutcomeKind.ERROR, f"{record.connections} of {wanted} connections over the path were made")
    if record.late_share > MOST_LATE:
        raise Dropped(OutcomeKind.ERROR, NOT_HELD, _lateness(record, request))
    if not request.rate_bit_s and (record.client_dropped_packets or record.server_dropped_packets):
        raise Dropped(OutcomeKind.ERROR, "the path dropped packets without a limit of its rate")


def _split_reason(case: Case, record: PathConnections, wanted: int) -> str:
    path, hello_bytes = parse_path(case.path), record.flight_bytes[0]
    packets = hello_packets(path, case.protocol is Protocol.QUIC_V1, hello_bytes)
    return (
        f"the path drops what follows the first packet of a ClientHello, and this one of {hello_bytes:,} bytes needs "
        f"{packets} packets: {wanted} of {wanted} connections timed out"
    )


def _lateness(record: PathConnections, request: PathRequest) -> str:
    late_ns = max(0, (record.delay_max_ns or 0) - request.round_trip_ns // 2)
    return f"{record.late_share:.1%} of the packets, the last of them by {late_ns / 1e6:,.1f} ms"


def with_remedy(fault: Dropped, tried: PathProbe) -> Dropped:
    """The fault of a worker with what helps, if this machine refuses a step of every path. It is not tried again."""
    if fault.kind is not OutcomeKind.ERROR or tried.refused is None:
        return fault
    remedy = REMEDIES.get(tried.refused, f"this machine refuses {tried.refused}")
    return Dropped(OutcomeKind.UNSUPPORTED, f"{fault.reason}; {remedy}", fault.detail)


def path_samples(reference: str, case: Case, path: NetworkPath, record: PathConnections) -> list[Sample]:
    """The samples of one invocation."""
    values: dict[Metric, Sequence[float]] = {
        Metric.PATH_HANDSHAKE_P50_NS: record.handshake_ns,
        Metric.PATH_HANDSHAKE_P95_NS: [quantile(record.handshake_ns, 0.95)],
        Metric.PATH_HANDSHAKE_P99_NS: [quantile(record.handshake_ns, 0.99)],
        Metric.PATH_COMPUTING_P50_NS: [median(record.computing_ns)],
        Metric.PATH_FIRST_BYTE_P50_NS: record.first_byte_ns,
        Metric.PATH_ANSWER_P50_NS: record.last_byte_ns,
        Metric.PATH_ANSWER_P95_NS: [quantile(record.last_byte_ns, 0.95)],
        Metric.PATH_ANSWER_P99_NS: [quantile(record.last_byte_ns, 0.99)],
        Metric.PATH_CLIENT_RETRANSMISSIONS: [sum(record.client_retransmissions) / record.connections],
        Metric.PATH_SERVER_RETRANSMISSIONS: [sum(record.server_retransmissions) / record.connections],
    }
    begun = record.connections + record.failures.total
    for metric, total in (
        (Metric.PATH_CLIENT_PACKETS, record.client_packets),
        (Metric.PATH_SERVER_PACKETS, record.server_packets),
        (Metric.PATH_CLIENT_BYTES, record.client_wire_bytes),
        (Metric.PATH_SERVER_BYTES, record.server_wire_bytes),
    ):
        values[metric] = [total / begun]
    values[Metric.PATH_LOST_PPM] = [record.lost_share * 1e6]
    if record.delay_p50_ns is not None:
        values[Metric.PATH_DELAY_P50_NS] = [record.delay_p50_ns]
    if record.carried_bit_s is not None:
        values[Metric.PATH_CARRIED_BIT_S] = [record.carried_bit_s]
    if (trips := round_trips(case, path, record)) is not None:
        values[Metric.PATH_ROUND_TRIPS] = [trips]
    if flights := record.flight_bytes:
        values[Metric.PATH_CLIENT_HELLO_BYTES] = [flights[0]]
        values[Metric.PATH_SERVER_FLIGHT_BYTES] = [_server_flight_bytes(case, flights)]
        values[Metric.PATH_CLIENT_LAST_FLIGHT_BYTES] = [flights[::2][-1]]
    return [Sample(subject=reference, metric=metric, values=tuple(map(float, each))) for metric, each in values.items()]


def _server_flight_bytes(case: Case, flights: Sequence[int]) -> int:
    """Without a HelloRetryRequest. QUIC's limit cuts the flight into pieces, between which the client acknowledges."""
    if case.protocol is Protocol.QUIC_V1:
        return sum(flights[3 if case.hello_retry else 1 :: 2])
    return max(flights[1::2], default=0)


def round_trips(case: Case, path: NetworkPath, record: PathConnections) -> float | None:
    """What a client waits for after connecting and before it may send its request, in round trips: the median over the
    connections of

        (request_ns - connect_ns - computing_ns - time of the flights at the path's rate - delay of a split
         ClientHello) / round trip.

    Without loss it is a count, so the nearest whole number. None with loss, and on a round trip too short to tell, by
    itself or beside the time of computing and sending."""
    if path.loss_ppm or path.round_trip_ms < LEAST_ROUND_TRIP_MS:
        return None
    ends = zip(record.request_ns, record.connect_ns, strict=True)
    waited_ns: list[float] = [request - connect for request, connect in ends]
    if not case.sends_at_once:
        sending_ns = path.sending_ns(sum(record.flight_bytes))
        if sending_ns + median(record.computing_ns) > MOST_OWN_SHARE * path.round_trip_ns:
            return None
        delay_ns = path.split_delay_ns if record.client_split_packets else 0
        own_ns = (computing + sending_ns + delay_ns for computing in record.computing_ns)
        waited_ns = [waited - own for waited, own in zip(waited_ns, own_ns, strict=True)]
    return float(round(max(0.0, median(waited_ns) / path.round_trip_ns)))


def quantile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of the values do not exceed."""
    return sorted(values)[max(0, ceil(share * len(values)) - 1)]
