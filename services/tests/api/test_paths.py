"""What a user waits for, from rows of a real store: percentiles, and round trips as measured and as predicted."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from kexbench.domain.paths import parse_path
from kexbench.domain.samples import Metric, Outcome, OutcomeKind, Sample
from kexbench.runner.path import path_samples
from kexbench.store.clickhouse import ClickHouseStore
from tests.builders import HOST, NOON, SPEC, a_run, an_invocation
from tests.runner.test_path import MS, a_record

OLD, NEW = "fake@1.0", "fake@1.1"
FULL = "tlsv1.3_ecdhe-ecdsa_ecdsa-p-256_x25519_aes-128-gcm"
MATRIX = """\
matrix:
  - { protocol: [TLSv1.3], keyExchange: [ECDHE-ECDSA], group: [X25519], path: ["-", 50ms, 2ms, 50ms-loss-1, 4g] }
  - { protocol: [TLSv1.2], keyExchange: [ECDHE-ECDSA], group: [X25519], path: [50ms] }
"""
Flights = Sequence[int]
SMALL: Flights = (250, 1500, 74)
LARGE: Flights = (1500, 15_800, 74)
CONNECTIONS = 400


def measured(
    store: ClickHouseStore,
    path: str,
    flights: Mapping[str, Flights | None],
    *,
    waits: Mapping[str, int] | None = None,
    protocol: str = "tlsv1.3",
    day: int = 0,
    invocations: int = 3,
) -> None:
    """A run with one case over a path. Connections take a nanosecond more, one after the other. `flights`: None for a
    subject that the machine refused. `waits`: round trips that each request waited, if not 1."""
    spec = SPEC[: SPEC.index("matrix:")] + f"{MATRIX}measure: {{ invocations: {invocations}, batches: 4 }}\n"
    run = a_run(f"run-{path}-{day}", spec=spec, created_at=NOON + timedelta(days=day))
    store.add_run(run)
    case = run.plan.case(f"{FULL.replace('tlsv1.3', protocol)}_path-{path}")
    refused = tuple(
        Outcome(subject=name, kind=OutcomeKind.UNSUPPORTED, reason="a path was refused")
        for name, each in flights.items()
        if each is None
    )
    found = []
    for number in range(invocations):
        names = [name for name, each in flights.items() if each is not None]
        invocation = an_invocation(
            run, number, case_id=case.case_id, cpu_ns=dict.fromkeys(names, 500_000), outcomes=refused
        )
        samples = [
            sample
            for name in names
            for sample in _samples(case, name, flights[name] or SMALL, (waits or {}).get(name, 1), number)
        ]
        found.append(invocation.model_copy(update={"samples": (*invocation.samples, *samples)}))
    store.add_invocations(run, found)


def _samples(case: Any, name: str, flights: Flights, waits: int, number: int) -> list[Sample]:
    trip = parse_path(case.path).round_trip_ns
    count = CONNECTIONS
    extra = [count * number + place for place in range(count)]
    record = a_record(
        count,
        flight_bytes=list(flights),
        connect_ns=[trip] * count,
        request_ns=[(1 + waits) * trip + each for each in extra],
        handshake_ns=[(1 + waits) * trip + each for each in extra],
        first_byte_ns=[(2 + waits) * trip + each for each in extra],
        last_byte_ns=[(2 + waits) * trip + each for each in extra],
    )
    return path_samples(name, case, parse_path(case.path), record)


def asked(client: httpx2.Client, **query: Any) -> dict[str, Any]:
    answer: dict[str, Any] = client.get("/paths", params=query).raise_for_status().json()
    return answer


def cells_of(answer: dict[str, Any], path: str, title: str = "TLS 1.3") -> list[dict[str, Any]]:
    (case,) = (each for each in answer["cases"] if each["path"]["text"] == path and each["title"].startswith(title))
    cells: list[dict[str, Any]] = case["cells"]
    return cells


def test_an_empty_store_has_no_paths(client: httpx2.Client) -> None:
    assert asked(client) == {"host_kind": None, "subjects": [], "cases": [], "sentence": ""}


def test_percentiles_are_of_all_connections_with_exact_intervals(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, "50ms", {OLD: SMALL})
    (cell,) = cells_of(asked(client), "50ms")
    assert cell["emulated"] == {"round_trip_ms": 50, "loss_percent": 0, "rate_mbit": None, "text": "50 of 50 ms"}
    base = 100 * MS  # the 1,200 connections of three invocations take 0 to 1,199 ns more
    assert cell["connections"] == 3 * CONNECTIONS
    assert cell["computing_ns"] == 500_000
    assert cell["handshake"]["p50"] == {"value": base + 599, "low": base + 565, "high": base + 634, "invocations": 3}
    assert cell["handshake"]["p95"] == {"value": base + 1139, "low": base + 1124, "high": base + 1154, "invocations": 3}
    assert cell["handshake"]["p99"] == {"value": base + 1187, "low": base + 1180, "high": base + 1194, "invocations": 3}
    assert cell["answer"]["p50"]["value"] == cell["first_byte_ns"]["value"] == 150 * MS + 599


def test_measured_and_predicted_round_trips_stand_beside_each_other(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, "50ms", {OLD: SMALL, NEW: LARGE}, waits={NEW: 2})
    answer = asked(client)
    old, new = cells_of(answer, "50ms")
    assert (old["round_trips"]["value"], old["predicted"]["before_request"], old["agreement"]) == (1, 1, "as predicted")
    assert (new["round_trips"]["value"], new["predicted"]["before_request"], new["agreement"]) == (2, 2, "as predicted")
    assert [step["text"] for step in new["predicted"]["steps"]] == [
        "TCP connects: 1",
        "ClientHello, and the server's answer: 1",
        "the server's first flight of 15.8 kB does not fit the window of 14.5 kB: +1",
    ]
    assert (old["predicted"]["handshake_ns"], new["predicted"]["handshake_ns"]) == (100 * MS, 150 * MS)
    assert [step["is_further"] for step in new["predicted"]["steps"]] == [False, False, True]
    assert [tuple(flight.values()) for flight in new["predicted"]["flights"]] == [
        ("client hello", 1500, 14_480, 0),
        ("server flight", 15_800, 14_480, 1),
        ("client flight", 74, 14_480, 0),
    ]
    assert answer["sentence"] == (
        "Over a path of 50 ms, a handshake takes 100 to 150 ms. In 1 of 2 results without loss, a flight does not fit "
        "and costs a round trip more."
    )


def test_what_differs_says_so(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, "50ms", {OLD: SMALL}, waits={OLD: 3})
    (cell,) = cells_of(asked(client), "50ms")
    assert cell["agreement"] == "differs"
    assert "In 1 of 1 result without loss, the round trips are not those" in asked(client)["sentence"]
    assert cell["reason"] == ("measured are 3 round trips, more than the 1 that follow from the sizes of the flights")


def test_loss_and_short_round_trips_are_not_held_against_the_prediction(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    for path in ("50ms-loss-1", "2ms", "4g"):
        measured(empty_store, path, {OLD: SMALL})
    answer = asked(client)
    assert [case["path"]["text"] for case in answer["cases"]] == ["2ms", "50ms-loss-1", "4g"], "the shortest first"
    (lossy,), (short,), (mobile,) = (cells_of(answer, path) for path in ("50ms-loss-1", "2ms", "4g"))
    assert (lossy["agreement"], lossy["reason"][:30]) == ("with loss", "1% of the packets are lost, an")
    assert (short["agreement"], short["round_trips"]) == ("not counted", None)
    sending_ns = sum(SMALL) * 1500 / 1448 * 8e9 / 9e6
    assert mobile["agreement"] == "as predicted"
    assert mobile["predicted"]["handshake_ns"] == pytest.approx(340 * MS + sending_ns)
    assert answer["sentence"].endswith(
        "Over a path of 50 ms with 1% loss, one of 100 handshakes of the slowest result takes more than 100 ms."
    )
    (case,) = (case for case in answer["cases"] if case["path"]["text"] == "4g")
    assert (case["path"]["title"], case["path"]["words"]) == ("4G", "170 ms, 9 Mbit/s")


def test_tls_1_2_waits_for_one_more(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, "50ms", {OLD: SMALL}, waits={OLD: 2}, protocol="tlsv1.2")
    (cell,) = cells_of(asked(client), "50ms", "TLS 1.2")
    assert (cell["predicted"]["handshake"], cell["agreement"]) == (2, "as predicted")


def test_what_a_machine_refused_has_its_reason_until_a_newer_run_has_numbers(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, "50ms", {OLD: SMALL, NEW: None})
    old, new = cells_of(asked(client), "50ms")
    assert (old["outcome"], new["handshake"]) == (None, None)
    assert (new["outcome"]["kind"], new["outcome"]["reason"]) == ("unsupported", "a path was refused")
    measured(empty_store, "50ms", {NEW: SMALL}, day=1)
    _, new = cells_of(asked(client), "50ms")
    assert (new["outcome"], new["run_id"]) == (None, "run-50ms-1")


def test_the_answer_narrows_to_a_path_a_library_and_a_pool(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    for path in ("50ms", "2ms"):
        measured(empty_store, path, {OLD: SMALL})
    assert [case["path"]["text"] for case in asked(client, path="2ms")["cases"]] == ["2ms"]
    assert asked(client, library="openssl")["cases"] == []
    assert asked(client, pool="elsewhere", cpu_model="other")["cases"] == []
    kind = asked(client, cpu_model=HOST.cpu_model)["host_kind"]
    assert kind["cpu_model"] == HOST.cpu_model


def test_other_metrics_of_a_path_are_in_the_matrix_too(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, "50ms", {OLD: SMALL})
    for metric, value in (
        (Metric.PATH_HANDSHAKE_P50_NS, 100 * MS + 599.5),
        (Metric.PATH_ROUND_TRIPS, 1),
        (Metric.CPU_NS, 500_000),
    ):
        (cell,) = client.get("/matrix", params={"metric": str(metric)}).raise_for_status().json()["cells"]
        assert cell["estimate"]["value"] == value
