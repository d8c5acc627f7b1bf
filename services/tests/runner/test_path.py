"""Connections over an emulated path: what a worker is asked, what its answer is worth, and what becomes of it.

A real worker with the fake backend makes some. Whether this machine holds a path while it runs tests is not asserted.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from kexbench.domain.cases import Case
from kexbench.domain.metrics import OVER_PATH, Metric
from kexbench.domain.paths import NetworkPath, parse_path
from kexbench.domain.samples import Invocation, OutcomeKind
from kexbench.runner.doctor.path_probe import PathProbe
from kexbench.runner.invocation import measure_invocation
from kexbench.runner.order import Turn
from kexbench.runner.participant import Dropped, Setting, expect, setup_request
from kexbench.runner.path import (
    check_path,
    path_request,
    path_samples,
    quantile,
    round_trips,
    with_remedy,
)
from kexbench.runner.records import PathConnections, Ready, parse_record
from tests.runner.conftest import ECDHE, QUIET, UNPINNED, MakeJobInput, a_batch

FAKE = "fake@1.0"
MS = 10**6
USUAL = NetworkPath(round_trip_ms=50)
QUIC: dict[str, Any] = {"protocol": "QUICv1"}


def a_record(connections: int = 4, **changes: Any) -> PathConnections:
    """Handshakes of one round trip of 50 ms after connecting and half a millisecond of computing, and answers a round
    trip and half a millisecond later."""
    times = {
        "connect_ns": 50,
        "handshake_ns": 100.5,
        "computing_ns": 0.5,
        "request_ns": 100.5,
        "first_byte_ns": 151,
        "last_byte_ns": 151,
    }
    fields: dict[str, Any] = {
        "type": "path",
        "id": "x",
        "connections": connections,
        "failures": {"refused": 0, "reset": 0, "closed": 0, "timeout": 0, "tls": 0},
        "first_failure": None,
        "wall_ns": 200 * MS,
        "thread_cpu_ns": 10 * MS,
        "emulator_cpu_ns": 5 * MS,
        "others_ns": 0,
        "begin_late_p50_ns": 1000,
        "begin_late_p99_ns": 2000,
        "begin_late_max_ns": 3000,
        **{name: [round(ms * MS)] * connections for name, ms in times.items()},
        "client_retransmissions": [0] * connections,
        "server_retransmissions": [1, *[0] * (connections - 1)][:connections],
        "flight_bytes": [250, 1500, 74],
        "client_packets": 6 * connections,
        "server_packets": 5 * connections,
        "client_wire_bytes": 700 * connections,
        "server_wire_bytes": 2000 * connections,
        "client_lost_packets": 0,
        "server_lost_packets": 0,
        "client_dropped_packets": 0,
        "server_dropped_packets": 0,
        "client_split_packets": 0,
        "delay_p50_ns": 25 * MS,
        "delay_p99_ns": 25 * MS + 9000,
        "delay_max_ns": 26 * MS,
        "late_packets": 0,
        "carried_bit_s": None,
        "congestion_control": "cubic",
    }
    record = parse_record(json.dumps({**fields, **changes}).encode())
    assert isinstance(record, PathConnections)
    return record


def on_path(path: str, **fields: Any) -> Case:
    return Case.model_validate({**ECDHE.model_dump(), "path": path, **fields})


def request_of(path: str = "50ms", connections: int = 4, **fields: Any) -> Any:
    return path_request(on_path(path, **fields), parse_path(path), connections, "seed", a_batch())


def costs(record: PathConnections, path: str = "50ms", **fields: Any) -> dict[Metric, float]:
    samples = path_samples(FAKE, on_path(path, **fields), parse_path(path), record)
    return {sample.metric: sample.cost for sample in samples}


def test_a_request_has_the_path_in_whole_numbers() -> None:
    request = request_of("50ms-loss-0.1-rate-9-queue-200-mtu-1400-window-30", 500)
    assert request.line("case-1") == (
        "path id=case-1 round_trip_ns=50000000 loss_ppm=1000 rate_bit_s=9000000 mtu=1400 queue_bytes=225000 "
        f"initial_window=30 split_hello=0 seed={request.seed} connections=500 interval_ns={request.interval_ns} "
        "timeout_ns=60000000000 answer_bytes=1"
    )
    assert 0 <= request.seed < 10**18, "the worker reads 18 digits"
    assert request.longest_s == pytest.approx(500 * request.interval_ns / 1e9 + 75)
    assert request_of(transfer_bytes=4096).answer_bytes == 4096
    assert request_of().timeout_ns == 10_500_000_000
    assert "split_hello=drop seed" in request_of("50ms-split-drop").line("x")
    assert request_of("50ms-split-0.5").split_hello == 500_000


def test_each_invocation_loses_other_packets_and_all_subjects_the_same() -> None:
    def seed_of(text: str) -> int:
        return path_request(on_path("50ms"), USUAL, 4, text, None).seed

    assert seed_of("run/job/case/1") == seed_of("run/job/case/1") != seed_of("run/job/case/2")


def test_more_data_than_the_path_carries_in_an_hour_is_unsupported() -> None:
    with pytest.raises(Dropped, match="use a faster path or less data") as caught:
        request_of("50ms-rate-0.01", transfer_bytes=2**20)
    assert caught.value.kind is OutcomeKind.UNSUPPORTED


def test_every_metric_of_paths_has_a_sample() -> None:
    found = costs(a_record(carried_bit_s=9_000_000, client_lost_packets=1))
    assert found.keys() == OVER_PATH.keys()
    assert (found[Metric.PATH_DELAY_P50_NS], found[Metric.PATH_CARRIED_BIT_S]) == (25 * MS, 9_000_000)
    assert found[Metric.PATH_LOST_PPM] == pytest.approx(1e6 / 44)
    assert found[Metric.PATH_HANDSHAKE_P50_NS] == 100_500_000
    assert found[Metric.PATH_ANSWER_P99_NS] == 151_000_000
    assert found[Metric.PATH_ROUND_TRIPS] == 1
    assert (found[Metric.PATH_CLIENT_PACKETS], found[Metric.PATH_SERVER_BYTES]) == (6, 2000)
    assert (found[Metric.PATH_CLIENT_RETRANSMISSIONS], found[Metric.PATH_SERVER_RETRANSMISSIONS]) == (0, 0.25)
    assert found[Metric.PATH_CLIENT_HELLO_BYTES] == 250
    assert found[Metric.PATH_SERVER_FLIGHT_BYTES] == 1500
    assert found[Metric.PATH_CLIENT_LAST_FLIGHT_BYTES] == 74


def test_medians_have_a_value_for_each_connection() -> None:
    samples = path_samples(FAKE, on_path("50ms"), USUAL, a_record(7))
    lengths = {sample.metric: len(sample.values) for sample in samples}
    assert {metric for metric, length in lengths.items() if length == 7} == {
        metric for metric, row in OVER_PATH.items() if row.per == "connection"
    }


@pytest.mark.parametrize(
    ("waited_ms", "path", "expected"),
    [
        ([50.6] * 4, "50ms", 1),
        ([99.0, 100.4, 100.5, 170.0], "50ms", 2),  # one late packet does not count
        ([0.5] * 4, "50ms", 0),
        ([74.0] * 4, "50ms-loss-1", None),  # with loss it is not a count
        ([50.5] * 4, "50ms-rate-1", 1),
        ([65.2] * 4, "50ms-rate-1", 1),  # 14.6 ms are the time of 1,824 bytes at 1 Mbit/s
        ([2.0] * 4, "2ms", None),
    ],
)
def test_round_trips_are_waiting_without_computing_and_sending(
    waited_ms: list[float], path: str, expected: float | None
) -> None:
    record = a_record(request_ns=[round((50 + waited) * MS) for waited in waited_ms])
    found = round_trips(on_path(path), parse_path(path), record)
    assert found == (None if expected is None else pytest.approx(expected))


def test_round_trips_are_not_counted_beside_a_long_handshake() -> None:
    """Of one that computes while it waits nobody knows what was waiting."""
    request_ns = [(50 + 50 + 80) * MS] * 4
    assert round_trips(on_path("50ms"), USUAL, a_record(request_ns=request_ns, computing_ns=[60 * MS] * 4)) is None
    request_ns = [130 * MS] * 4
    assert round_trips(on_path("50ms"), USUAL, a_record(request_ns=request_ns, computing_ns=[25 * MS] * 4)) == 1


def test_computing_is_told_apart_from_waiting_of_each_connection() -> None:
    """A busy machine computes slowly in some: their waits are the others'."""
    computing_ms = [1, 1, 24, 24, 24]
    record = a_record(
        5, computing_ns=[ms * MS for ms in computing_ms], request_ns=[(50 + 50 + ms) * MS for ms in computing_ms]
    )
    assert costs(record)[Metric.PATH_ROUND_TRIPS] == 1
    assert costs(record)[Metric.PATH_COMPUTING_P50_NS] == 24 * MS


def test_early_data_wait_for_nothing() -> None:
    early = on_path("50ms", resumption="psk-dhe", early_data_bytes=1)
    assert round_trips(early, USUAL, a_record(request_ns=[50 * MS + 100] * 4)) == 0


def test_quantiles_are_values_that_were_measured() -> None:
    assert [quantile(list(range(100, 0, -1)), share) for share in (0.5, 0.95, 0.99, 1.0)] == [50, 95, 99, 100]
    assert quantile([7], 0.99) == 7


@pytest.mark.parametrize(
    ("path", "changes", "kind", "reason"),
    [
        ("50ms", {"late_packets": 1}, OutcomeKind.ERROR, "this machine did not hold the path: more than 1% of its"),
        (
            "50ms",
            {"connections": 3, "failures": {"timeout": 1}, "first_failure": "no answer"},
            OutcomeKind.HUNG,
            "1 of 4 connections over the path failed: no answer",
        ),
        (
            "50ms-loss-1",
            {"connections": 3, "failures": {"tls": 1}, "first_failure": "bad record"},
            OutcomeKind.ERROR,
            "1 of 4 connections over the path failed: bad record",
        ),
        ("50ms-loss-1", {"connections": 2, "failures": {"timeout": 2}}, OutcomeKind.HUNG, "2 of 4 connections"),
        ("50ms", {"connections": 3}, OutcomeKind.ERROR, "3 of 4 connections over the path were made"),
        ("50ms", {"client_dropped_packets": 1}, OutcomeKind.ERROR, "without a limit of its rate"),
    ],
)
def test_a_path_that_was_not_what_was_asked_for_is_an_outcome(
    path: str, changes: dict[str, Any], kind: OutcomeKind, reason: str
) -> None:
    failures = dict.fromkeys(("refused", "reset", "closed", "timeout", "tls"), 0) | changes.pop("failures", {})
    record = a_record(changes.pop("connections", 4), failures=failures, **changes)
    with pytest.raises(Dropped, match=reason) as caught:
        check_path(on_path(path), record, request_of(path))
    assert caught.value.kind is kind


@pytest.mark.parametrize(
    ("fields", "flights", "packets"),
    [({}, [1700], "1,700 bytes needs 2"), (QUIC, [2400, 50, 1200], "2,400 bytes needs 2")],
)
def test_a_middlebox_that_drops_is_named_with_the_size_of_the_client_hello(
    fields: dict[str, Any], flights: list[int], packets: str
) -> None:
    path = "50ms-split-drop"
    failures = dict.fromkeys(("refused", "reset", "closed", "tls"), 0) | {"timeout": 4}
    record = a_record(0, failures=failures, flight_bytes=flights, client_split_packets=9)
    with pytest.raises(Dropped) as caught:
        check_path(on_path(path, **fields), record, request_of(path))
    assert caught.value.kind is OutcomeKind.UNSUPPORTED, "it is not tried again"
    assert caught.value.reason == (
        "the path drops what follows the first packet of a ClientHello, and this one of "
        f"{packets} packets: 4 of 4 connections timed out"
    )
    with pytest.raises(Dropped, match="4 of 4 connections over the path failed"):
        check_path(on_path(path, **fields), record.model_copy(update={"client_split_packets": 0}), request_of(path))


def test_what_a_middlebox_delays_is_no_round_trip() -> None:
    record = a_record(request_ns=[round(300.5 * MS)] * 4, client_split_packets=4)
    assert round_trips(on_path("50ms-split-200"), parse_path("50ms-split-200"), record) == 1


def test_the_flight_of_a_quic_server_is_all_of_its_pieces() -> None:
    record = a_record(flight_bytes=[1200, 3600, 1200, 1732, 142])
    assert costs(record, **QUIC)[Metric.PATH_SERVER_FLIGHT_BYTES] == 5332
    retried = a_record(flight_bytes=[1200, 1200, 1200, 3600, 142])
    assert costs(retried, **QUIC, hello_retry=True)[Metric.PATH_SERVER_FLIGHT_BYTES] == 3600


def test_how_late_packets_were_is_the_detail_so_that_outcomes_of_one_kind_are_one_line() -> None:
    with pytest.raises(Dropped) as caught:
        check_path(on_path("50ms"), a_record(late_packets=1), request_of())
    assert caught.value.detail == "2.3% of the packets, the last of them by 1.0 ms"


def test_the_loss_explains_a_few_timeouts() -> None:
    failures = dict.fromkeys(("refused", "reset", "closed", "tls"), 0) | {"timeout": 1}
    check_path(on_path("50ms-loss-5"), a_record(3, failures=failures), request_of("50ms-loss-5"))
    check_path(on_path("50ms"), a_record(), request_of("50ms"))
    check_path(on_path("50ms-rate-9"), a_record(client_dropped_packets=3), request_of("50ms-rate-9"))


@pytest.mark.parametrize(
    ("step", "remedy"),
    [
        ("making a network namespace", "sysctl kernel.unprivileged_userns_clone=1"),
        ("opening /dev/net/tun", "docker run --device /dev/net/tun"),
        ("starting a process", "this machine refuses starting a process"),
    ],
)
def test_what_the_machine_refuses_has_a_remedy_and_is_not_tried_again(step: str, remedy: str) -> None:
    refusal = Dropped(OutcomeKind.ERROR, f"a path was refused: {step}: EPERM")
    fault = with_remedy(refusal, PathProbe(step, "EPERM", 0))
    assert fault.kind is OutcomeKind.UNSUPPORTED
    assert fault.reason.startswith(f"a path was refused: {step}: EPERM; ")
    assert remedy in fault.reason
    assert with_remedy(refusal, PathProbe(None, None, 0)) is refusal
    mismatch = Dropped(OutcomeKind.MISMATCH, "group: expected X25519")
    assert with_remedy(mismatch, PathProbe(step, "EPERM", 0)) is mismatch


def test_a_record_of_too_few_times_is_no_record() -> None:
    with pytest.raises(ValueError, match="of 4 connections it has"):
        a_record(connect_ns=[1, 2])


@pytest.mark.parametrize(("path", "trips"), [("30ms", 2), ("30ms-loss-5", None), ("0ms", None), ("20ms-rate-20", 2)])
def test_a_real_worker_connects_over_a_path(
    make_job_input: MakeJobInput, tmp_path: Path, path: str, trips: float | None
) -> None:
    case = on_path(path)
    setting = Setting(make_job_input(FAKE, cases=(case,)), case, UNPINNED, tmp_path / "log")
    request = path_request(case, parse_path(path), 40, "seed", None)
    with setting.launch(FAKE) as worker:
        expect(Ready, worker.ask(setup_request(case, setting.files), 10))
        record = expect(PathConnections, worker.ask(request.line(case.case_id), request.longest_s))
    assert record.connections + record.failures.timeout == 40
    assert record.failures.total == record.failures.timeout
    assert record.flight_bytes == (200, 800, 200, 800)
    assert (record.client_lost_packets + record.server_lost_packets > 0) == (request.loss_ppm > 0)
    assert min(record.handshake_ns, default=0) >= 2 * request.round_trip_ns
    found = costs(record, path)
    assert found[Metric.PATH_HANDSHAKE_P50_NS] <= found[Metric.PATH_HANDSHAKE_P99_NS]
    assert found.get(Metric.PATH_ROUND_TRIPS) == trips or request.loss_ppm


def test_an_invocation_has_the_samples_of_its_path_or_says_why_not(
    make_job_input: MakeJobInput, tmp_path: Path
) -> None:
    case = on_path("10ms")
    job_input = make_job_input(FAKE, "fake@1.1", cases=(case,))
    measure = job_input.measure.model_copy(update={"connections": 30})
    turn = Turn(case.case_id, (FAKE, "fake@1.1"), 0)
    job_input = job_input.model_copy(update={"measure": measure})
    invocation = measure_invocation(job_input, turn, UNPINNED, tmp_path / "log", lambda: QUIET)
    for reference in turn.block:
        metrics = {sample.metric for sample in invocation.samples if sample.subject == reference}
        reasons = [outcome.reason for outcome in invocation.outcomes if outcome.subject == reference]
        assert (metrics >= OVER_PATH.keys() - {Metric.PATH_CARRIED_BIT_S} | {Metric.CPU_NS}) == (reasons == [])
        assert all("did not hold the path" in reason for reason in reasons)
    assert Invocation.model_validate_json(invocation.model_dump_json()) == invocation
