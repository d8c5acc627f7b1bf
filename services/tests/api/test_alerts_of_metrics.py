"""Alerts of other metrics than CPU time: exact ones are raised at once, others confirmed like CPU time; improvements
raise none."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest

from kexbench.alerts.replaying import replay
from kexbench.alerts.screening import cells_between
from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.api.calling import API_PREFIX
from kexbench.api.notifications import next_message
from kexbench.domain.alerts import Alert
from kexbench.domain.metrics import WATCHED, Metric
from kexbench.domain.notifications import BY_DAY, ChannelRule
from kexbench.domain.plans import HARNESS_VERSION, Plan
from kexbench.domain.runs import Run, Trigger
from kexbench.notify.letters import letter_of
from kexbench.notify.writing import improvements_of
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.analysing import Stage, a_spec
from tests.api.conftest import SECRET, ClientOf
from tests.builders import newest_runs

ROOT = "http://localhost"
BYTES, ROUND_TRIPS, HELD = Metric.SERVER_BYTES, Metric.ROUND_TRIPS, Metric.SERVER_HELD_BYTES


@pytest.fixture
def stage(empty_store: ClickHouseStore) -> Stage:
    return Stage(empty_store)


def metrics_of(alerts: list[Alert]) -> set[Metric | None]:
    return {alert.cause.metric for alert in alerts}


def test_a_change_of_bytes_is_one_alert_with_its_values_and_needs_no_second_run(stage: Stage) -> None:
    stage.others = {"1.0": {BYTES: 1482.0, ROUND_TRIPS: 2.0}, "1.1": {BYTES: 2663.0, ROUND_TRIPS: 2.0}}
    run = stage.measured(a_spec())
    stage.advance()
    (alert,) = stage.alerts()
    assert (alert.cause.metric, alert.cause.before, alert.cause.after) == (BYTES, "1.0", "1.1")
    assert alert.run_ids == (run.run_id,)
    assert {(cell.before, cell.after, cell.side) for cell in alert.cells} == {(1482.0, 2663.0, "both")}
    assert len(alert.cells) == 7
    assert alert.sentence == "fake 1.0 → 1.1: server bytes 1,482 → 2,663 B (+79.7%) in all 7 cases."
    assert [run.trigger for run in newest_runs(stage.store, 9)] == [Trigger.API]
    outcomes = {upgrade.metric: upgrade.outcome for upgrade in stage.upgrades(run)}
    assert outcomes == {Metric.CPU_NS: "quiet", BYTES: "confirmed", ROUND_TRIPS: "quiet"}
    stage.measured(a_spec())
    stage.settle()
    (again,) = stage.alerts()
    assert again == alert, "what is reported is not reported again"


def test_an_improvement_raises_none_and_is_in_the_feed_the_report_and_digests(
    stage: Stage, client_of: ClientOf
) -> None:
    stage.others = {"1.0": {BYTES: 1482.0}, "1.1": {BYTES: 1402.0}}
    run = stage.measured(a_spec())
    stage.settle()
    assert stage.alerts() == []
    news = "Server bytes 1,482 → 1,402 B (\N{MINUS SIGN}5.4%) in all 7 cases."
    with client_of(create_app(stage.store, LocalGatekeeper(SECRET), None)) as client:
        assert news in client.get(f"{ROOT}/feed.atom").text
        upgrade = next(upgrade for upgrade in stage.upgrades(run) if upgrade.metric is BYTES)
        ends = {"base": upgrade.before.subject, "other": upgrade.after.subject}
        report = client.get(f"{ROOT}{API_PREFIX}/compare", params=ends).json()["upgrade"]
        assert report["sentence"].endswith(news)
    screening = stage.store.screening(run.run_id)
    assert screening is not None
    (digest,) = improvements_of(screening, [ChannelRule(name="daily", events=BY_DAY, digest_hour=7)])
    assert digest.title == "fake 1.1 has fewer server bytes than fake 1.0 in 7 of 7 comparisons"


def test_a_change_of_a_connections_memory_is_an_alert_of_its_own(stage: Stage) -> None:
    stage.others = {"1.0": {HELD: 50_000.0, BYTES: 1482.0}, "1.1": {HELD: 60_000.0, BYTES: 1483.5}}
    stage.measured(a_spec())
    stage.settle()
    (alert,) = stage.alerts()
    assert alert.cause.metric is HELD
    assert alert.sentence == "fake 1.0 → 1.1: server held bytes 50,000 → 60,000 B (+20.0%) in all 7 cases."


def test_variation_of_throughput_is_an_alert_where_a_spec_asks_and_it_grew_by_half(stage: Stage) -> None:
    spread, steady = Metric.THROUGHPUT_SPREAD_PPM, [20_000.0, 21_000.0, 19_000.0, 20_500.0]
    stage.others = {
        "1.0": {spread: steady},
        "1.1": {spread: [1.3 * each for each in steady]},
        "1.2": {spread: [6 * each for each in steady]},
    }
    stage.measured(a_spec())
    stage.settle()
    assert stage.alerts() == [], "not screened unless asked for"
    stage.measured(a_spec("spreads", "1.0, 1.1, 1.2", "alerts: { metrics: [throughput_spread_ppm] }\n"))
    stage.settle()
    (alert,) = stage.alerts()
    assert (alert.cause.metric, alert.cause.before, alert.cause.after) == (spread, "1.1", "1.2")
    assert alert.sentence == "fake 1.1 → 1.2: throughput spread 2.632 → 12.15% (+361.5%) in all 7 cases."


def test_a_round_trip_more_than_none_has_values_and_no_share(stage: Stage) -> None:
    stage.others = {"1.0": {ROUND_TRIPS: 0.0}, "1.1": {ROUND_TRIPS: 1.0}, "1.2": {ROUND_TRIPS: 0.0}}
    stage.measured(a_spec())
    stage.settle()
    (alert,) = stage.alerts()
    assert alert.sentence == "fake 1.0 → 1.1: round trips 0 → 1 in all 7 cases."
    assert {(cell.before, cell.after, cell.move) for cell in alert.cells} == {(0.0, 1.0, None)}
    stage.measured(a_spec(subjects="1.1, 1.2"))
    stage.settle()
    (alert,) = stage.alerts()
    assert (alert.status, alert.fixed_in) == ("fixed", "1.2"), "compared through no run and no machine"


@contextmanager
def a_later_release() -> Iterator[None]:
    """One that measures otherwise."""
    field = Plan.model_fields["harness_version"]
    try:
        field.default = HARNESS_VERSION + 1
        Plan.model_rebuild(force=True)
        yield
    finally:
        field.default = HARNESS_VERSION
        Plan.model_rebuild(force=True)


def test_what_an_earlier_release_reported_is_fixed_by_what_a_later_one_measured(stage: Stage) -> None:
    stage.others = {"1.0": {BYTES: 1482.0}, "1.1": {BYTES: 2663.0}, "1.2": {BYTES: 2000.0}, "1.3": {BYTES: 1483.0}}
    stage.measured(a_spec())
    stage.settle()
    with a_later_release():
        stage.measured(a_spec(subjects="1.1, 1.2"))
        stage.settle()
        assert [alert.status for alert in stage.alerts()] == ["open"], "it is less, but still more than before"
        stage.measured(a_spec(subjects="1.1, 1.2, 1.3"))
        stage.settle()
        assert [(alert.status, alert.fixed_in) for alert in stage.alerts()] == [("fixed", "1.3")]


def test_a_newer_default_is_an_alert_of_bytes_that_says_so_and_none_of_cpu_time(stage: Stage) -> None:
    stage.others = {"1.0": {BYTES: 1482.0}, "1.1": {BYTES: 2663.0}}
    stage.chosen = {"1.0": {"group": "X25519"}, "1.1": {"group": "X25519MLKEM768"}}
    stage.costs = {"1.1": {"": 1.5}}
    spec = a_spec(text=DEFAULTS)
    stage.measured(spec)
    stage.settle()
    (alert,) = stage.alerts()
    assert alert.cause.metric is BYTES
    assert alert.sentence == (
        "fake 1.0 → 1.1: server bytes 1,482 → 2,663 B (+79.7%); negotiated differently: group X25519MLKEM768 instead "
        "of X25519."
    )
    (replayed,) = replay(stage.store, spec).suspected
    assert (replayed.metric, replayed.outcome, replayed.cells, replayed.sentence) == (
        BYTES,
        "confirmed",
        1,
        alert.sentence,
    )


DEFAULTS = """apiVersion: kexbench.dev/v1
kind: Benchmark
metadata: { name: example }
subjects:
  - fake: [1.0, 1.1]
matrix:
  protocol: [default]
  keyExchange: [default-ECDSA]
measure: { invocations: 12, batches: 4 }
"""


def test_metrics_of_one_upgrade_are_one_confirmation_run_and_one_message(stage: Stage, client_of: ClientOf) -> None:
    stage.others = {"1.0": {BYTES: 1482.0, ROUND_TRIPS: 1.0}, "1.1": {BYTES: 2663.0, ROUND_TRIPS: 2.0}}
    stage.costs = {"1.1": {"_dhe-rsa": 1.05}}
    rule = "alerts: { metrics: [cpu_ns, server_cpu_ns, server_bytes, round_trips], confirmInvocations: 12 }\n"
    stage.measured(a_spec(rule=rule))
    stage.advance()
    assert metrics_of(stage.alerts()) == {BYTES, ROUND_TRIPS}
    team, now = [ChannelRule(name="team")], datetime.now(UTC)
    sent = next_message(stage.store, team, now)
    assert sent is not None
    assert {each.title for each in sent.notifications} == {
        "fake 1.1 has more server bytes than 1.0: up to 1,482 → 2,663 B (+79.7%), 7 cases",
        "fake 1.1 has more round trips than 1.0: up to 1 → 2 (+100.0%), 7 cases",
    }
    letter = letter_of("k", sent.notifications, "https://kexbench.example.org")
    assert letter.title == "fake 1.0 → 1.1: 2 regressions"
    assert next_message(stage.store, team, now) is None
    with client_of(create_app(stage.store, LocalGatekeeper(SECRET), None)) as client:
        (suspicion,) = client.get(f"{ROOT}{API_PREFIX}/alerts").json()["confirming"]
        assert suspicion["metrics"] == ["cpu_ns", "server_cpu_ns"]
        chosen = client.get(f"{ROOT}{API_PREFIX}/alerts", params={"metric": "round_trips"}).json()
        assert [(each["cause"]["metric"], each["before"], each["after"]) for each in chosen["alerts"]] == [
            ("round_trips", 1.0, 2.0)
        ]
        assert chosen["counts"] == {"open": 1}
    assert len(stage.confirming()) == 1
    stage.settle()
    assert metrics_of(stage.alerts()) == {Metric.CPU_NS, Metric.SERVER_CPU_NS, BYTES, ROUND_TRIPS}
    assert len(stage.explaining()) == 1, "only CPU time is explained by instructions"


def test_a_spec_screens_what_it_names_and_by_default_cpu_time_and_what_is_exact(stage: Stage) -> None:
    stage.others = {"1.0": {BYTES: 1482.0, HELD: 5e4}, "1.1": {BYTES: 2663.0, HELD: 6e4}}
    stage.measured(a_spec(rule="alerts: { metrics: server_held_bytes }\n"))
    stage.settle()
    assert metrics_of(stage.alerts()) == {HELD}
    assert {metric for metric in WATCHED if not metric.row.exact} == {Metric.CPU_NS}


@pytest.mark.parametrize(("after", "verdict"), [(1488.0, "same"), (1490.0, "more"), (1474.0, "less"), (1482.0, "same")])
def test_a_change_counts_from_the_relevant_share_on(stage: Stage, after: float, verdict: str) -> None:
    """Of 1,482 B that is 7.41 B."""
    stage.others = {"1.0": {BYTES: 1482.0}, "1.1": {BYTES: after}}
    run = stage.measured(a_spec())
    cells = cells_between(stage.store, *subjects_of(stage, run), BYTES, 0.005).judged
    assert {cell.verdict for cell in cells} == {verdict}


def subjects_of(stage: Stage, run: Run) -> tuple[str, str]:
    stage.advance()
    (upgrade,) = (each for each in stage.upgrades(run) if each.metric is BYTES)
    return upgrade.before.subject, upgrade.after.subject
