"""Alerts of what a user waits for over paths: a round trip more with its cause, and percentiles of times."""

import random
from collections.abc import Mapping, Sequence

import pytest

from kexbench.alerts.replaying import replay
from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.api.calling import API_PREFIX
from kexbench.domain.metrics import Metric
from kexbench.domain.notifications import BY_DAY, ChannelRule
from kexbench.domain.runs import Run
from kexbench.notify.writing import improvements_of
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.analysing import Stage
from tests.api.conftest import SECRET, ClientOf

ROOT = "http://localhost"
TRIPS, FLIGHT, P95 = Metric.PATH_ROUND_TRIPS, Metric.PATH_SERVER_FLIGHT_BYTES, Metric.PATH_HANDSHAKE_P95_NS
TITLE = "TLS 1.3 ECDHE-ECDSA, ECDSA P-256, X25519"
SPEC = """apiVersion: kexbench.dev/v1
kind: Benchmark
metadata: { name: waiting }
subjects:
  - fake: [1.0, 1.1]
matrix: { protocol: [TLSv1.3], keyExchange: [ECDHE-ECDSA], group: [X25519], path: [continent] }
measure: { invocations: 12, batches: 4 }
"""
RULE = "alerts: {}\n"
Values = Mapping[Metric, float | Sequence[float]]


@pytest.fixture
def stage(empty_store: ClickHouseStore) -> Stage:
    return Stage(empty_store)


def over_path(trips: float | Sequence[float], flight: float, *, time_ns: float = 62e6) -> Values:
    return {
        TRIPS: trips,
        FLIGHT: flight,
        Metric.PATH_CLIENT_HELLO_BYTES: 300.0,
        Metric.PATH_CLIENT_LAST_FLIGHT_BYTES: 74.0,
        Metric.PATH_HANDSHAKE_P50_NS: time_ns,
    }


def settled(stage: Stage, before: Values, after: Values, rule: str = RULE) -> Run:
    stage.others = {"1.0": before, "1.1": after}
    run = stage.measured(SPEC + rule)
    stage.settle()
    return run


def test_a_round_trip_more_is_one_alert_that_names_both_flights_and_the_window(
    stage: Stage, client_of: ClientOf
) -> None:
    run = settled(stage, over_path(1.0, 13_900.0), over_path(2.0, 15_800.0, time_ns=93e6))
    (alert,) = stage.alerts()
    cause = "the server's first flight grew from 13.9 kB to 15.8 kB and the window is 14.5 kB"
    assert alert.sentence == (
        f"fake 1.0 → 1.1: one round trip more from this version on, since {cause}: 1 → 2 round trips over continent "
        f"(30.916 ms) for {TITLE}, on Example CPU 9000, pool local."
    )
    assert alert.cause.metric is TRIPS
    assert [(cell.before, cell.after) for cell in alert.cells] == [(1.0, 2.0)]
    (replayed,) = replay(stage.store, SPEC + RULE).suspected
    assert (replayed.outcome, replayed.sentence) == ("confirmed", alert.sentence)
    said = f"ne round trip more over continent (30.916 ms) for {TITLE}, since {cause}"
    with client_of(create_app(stage.store, LocalGatekeeper(SECRET), None)) as client:
        assert f"O{said}." in client.get(f"{ROOT}/feed.atom").text.replace("&#39;", "'")
        verdict = client.get(f"{ROOT}{API_PREFIX}/runs/{run.run_id}/verdict").json()
    assert verdict["sentence"].endswith("; more round trips over a path")
    assert [change["text"] for change in verdict["exact"]] == [f"o{said}"]


def test_what_the_sizes_do_not_explain_is_said_with_what_was_measured(stage: Stage) -> None:
    settled(stage, over_path(1.0, 1500.0), over_path(2.0, 1500.0))
    (alert,) = stage.alerts()
    assert alert.sentence == (
        "fake 1.0 → 1.1: one round trip more from this version on, which the sizes of the flights do not explain: "
        f"1 → 2 round trips over continent (30.916 ms) for {TITLE}, on Example CPU 9000, pool local."
    )


def test_equal_versions_and_a_median_that_moved_without_all_invocations_raise_none(stage: Stage) -> None:
    settled(stage, over_path(1.0, 13_900.0), over_path(1.0, 13_900.0))
    settled(stage, over_path(1.0, 13_900.0), over_path([2.0, 2.0, 1.0], 13_900.0))
    assert stage.alerts() == []


def test_a_round_trip_less_is_news_only(stage: Stage, client_of: ClientOf) -> None:
    run = settled(stage, over_path(2.0, 15_800.0), over_path(1.0, 13_900.0))
    assert stage.alerts() == []
    with client_of(create_app(stage.store, LocalGatekeeper(SECRET), None)) as client:
        feed = client.get(f"{ROOT}/feed.atom").text
    assert "One round trip less over continent (30.916 ms)" in feed
    assert "first flight shrank from 15.8 kB to 13.9 kB and the window is 14.5 kB" in feed
    screening = stage.store.screening(run.run_id)
    assert screening is not None
    (digest,) = improvements_of(screening, [ChannelRule(name="daily", events=BY_DAY, digest_hour=7)])
    assert digest.title == "fake 1.1 has fewer round trips over a path than fake 1.0 in 1 of 1 comparison"


@pytest.mark.parametrize(("factor", "alerts"), [(1.05, 1), (1.0, 0)])
def test_a_percentile_that_a_spec_names_is_confirmed_by_invocations(stage: Stage, factor: float, alerts: int) -> None:
    """Both versions lose the same packets of an invocation, so their tails rise and fall together."""
    chance = random.Random(7)
    tails = [90e6 * chance.uniform(1, 1.6) for _ in range(12)]
    before, after = ([tail * chance.gauss(1, 0.003) for tail in tails] for _ in range(2))
    rule = "alerts: { metrics: [path_handshake_p95_ns], relevant: 1%, confirmInvocations: 12 }\n"
    settled(stage, {P95: before}, {P95: [each * factor for each in after]}, rule)
    assert [alert.cause.metric for alert in stage.alerts()] == [P95] * alerts
    if alerts:
        assert "handshake p95 time over a path" in stage.alerts()[0].sentence
