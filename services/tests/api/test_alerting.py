"""From runs that ended to alerts: suspected, confirmed by a run of their own, reported once, marked fixed, whoever is
killed."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kexbench.alerts import analyst
from kexbench.alerts.explaining import unexplained
from kexbench.alerts.replaying import replay
from kexbench.alerts.screening import Upgrade, upgrades_of_run
from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.api.calling import API_PREFIX
from kexbench.domain.alerts import AlertAction, AlertKind
from kexbench.domain.instruments import Instrument
from kexbench.domain.plans import Plan
from kexbench.domain.runs import Purpose, RunEvent, RunState, Trigger
from kexbench.domain.samples import Metric
from kexbench.planning.documents import DocumentError
from kexbench.planning.plan import fault_in
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.port import Store
from tests.api.analysing import Fragile, Killed, Stage, a_spec
from tests.api.conftest import SECRET, ClientOf
from tests.builders import HOST, a_kit, newest_runs
from tests.stores import raw

STEP = {"1.1": {"_dhe-rsa": 1.05}, "1.2": {}}
"""Version 1.1 costs 5% more in DHE-RSA."""


@pytest.fixture
def stage(empty_store: ClickHouseStore) -> Stage:
    return Stage(empty_store, dict(STEP))


def test_a_step_is_suspected_confirmed_by_a_run_of_its_own_and_reported_once(stage: Stage) -> None:
    run = stage.measured(a_spec())
    stage.advance()
    (upgrade,) = stage.upgrades(run)
    assert (upgrade.outcome, upgrade.compared, upgrade.more) == ("confirming", 7, 2)
    assert {name.split("/")[0] for name in upgrade.suspected} == {"local"}
    assert all("_dhe-rsa" in name for name in upgrade.suspected)
    assert stage.alerts() == [], "a suspicion is no alert"
    (confirming,) = stage.confirming()
    assert confirming.run_id == upgrade.confirmation_run
    assert (confirming.plan.spec_name, confirming.plan.measure.invocations) == ("confirm-watched", 12)
    assert [f"local/{case.case_id}" for case in confirming.plan.cases] == list(upgrade.suspected)
    assert [one.reference for one in confirming.plan.subjects] == ["fake@1.0", "fake@1.1"]
    assert (confirming.plan.measure.sentinel, len(confirming.plan.jobs[0].blocks)) == (False, 1)
    stage.measure(confirming)
    stage.advance()
    (alert,) = stage.alerts()
    assert (alert.status, alert.cause.before, alert.cause.after) == ("open", "1.0", "1.1")
    assert (alert.spec_names, alert.notify) == (("watched",), ("crypto-team",))
    assert alert.run_ids == (confirming.run_id, run.run_id)
    assert [cell.move and cell.move.ratio for cell in alert.cells] == pytest.approx([1.05, 1.05], rel=0.001)
    assert "DHE" in alert.sentence
    assert "2 of 7" in alert.sentence
    (upgrade,) = stage.upgrades(run)
    assert (upgrade.outcome, upgrade.alert_id) == ("confirmed", alert.alert_id)
    assert alert.subjects == (upgrade.before.subject, upgrade.after.subject)
    stage.settle()
    stage.measured(a_spec(), Trigger.SCHEDULE)
    stage.settle()
    confirmations = [run for run in newest_runs(stage.store, 100) if run.trigger is Trigger.CONFIRMATION]
    assert confirmations == [stage.store.run(confirming.run_id)], "what was reported is not confirmed again"
    assert [event.action for event in stage.store.alert_events(alert.alert_id)] == [AlertAction.RAISED]


def test_a_suspicion_under_way_is_listed_with_its_run_until_that_ends(stage: Stage, client_of: ClientOf) -> None:
    def confirming() -> list[dict[str, Any]]:
        with client_of(create_app(stage.store, LocalGatekeeper(SECRET), None)) as client:
            page = client.get(f"http://localhost{API_PREFIX}/alerts").json()
        assert page["alerts"] == []
        listed: list[dict[str, Any]] = page["confirming"]
        return listed

    run = stage.measured(a_spec())
    assert confirming() == []
    stage.advance()
    (run_of_its_own,) = stage.confirming()
    (suspicion,) = confirming()
    assert (suspicion["before"]["version"], suspicion["after"]["version"], suspicion["cells"]) == ("1.0", "1.1", 2)
    assert (suspicion["screened_run"], suspicion["confirmation_run"]) == (run.run_id, run_of_its_own.run_id)
    assert (suspicion["spec_name"], suspicion["state"], suspicion["expected_end_at"]) == ("watched", "queued", None)
    begun_at = datetime.now(UTC)
    stage.store.add_event(RunEvent(run_id=run_of_its_own.run_id, at=begun_at, state=RunState.RUNNING))
    (suspicion,) = confirming()
    takes = timedelta(seconds=run_of_its_own.plan.estimated_s)
    rounding = timedelta(seconds=0.1)
    end = datetime.fromisoformat(suspicion["expected_end_at"])
    assert begun_at + takes - rounding <= end <= datetime.now(UTC) + takes + rounding
    stage.costs = {}
    stage.measure(run_of_its_own)
    assert confirming() == []


SLOWER_BY_HASH = {
    "fake@1.0": {"modexp": 5000.0, "hash": 1000.0},
    "fake@1.1": {"modexp": 5000.0, "hash": 1500.0, "check": 20.0},
}


def test_an_alert_is_explained_by_a_run_that_counts_instructions(stage: Stage) -> None:
    stage.measured(a_spec())
    stage.settle()
    (alert,) = stage.alerts()
    (explaining,) = stage.explaining()
    assert (explaining.plan.spec_name, explaining.purpose) == ("why-watched", Purpose.SEARCH)
    assert explaining.plan.measure.instrument is Instrument.INSTRUCTIONS
    assert [subject.reference for subject in explaining.plan.subjects] == ["fake@1.0", "fake@1.1"]
    assert {case.case_id for case in explaining.plan.cases} == {cell.case_id for cell in alert.cells}
    stage.count(explaining, SLOWER_BY_HASH)
    stage.advance()
    (alert,) = stage.alerts()
    (culprit,) = alert.culprits
    assert (culprit.side, culprit.function, culprit.run_id) == ("server", "hash", explaining.run_id)
    assert (culprit.amounts, culprit.side_amounts) == ((1000, 1500), (6000, 6520))
    assert alert.status == "open"
    stage.settle()
    events = stage.store.alert_events(alert.alert_id)
    assert [event.action for event in events] == [AlertAction.RAISED, AlertAction.EXPLAINED]
    assert stage.explaining() == [], "what is explained is not counted again"


def test_an_alert_without_more_instructions_says_so(stage: Stage) -> None:
    stage.measured(a_spec())
    stage.settle()
    stage.count(stage.explaining()[0], {reference: {"modexp": 5000.0} for reference in SLOWER_BY_HASH})
    stage.advance()
    (alert,) = stage.alerts()
    assert alert.culprits == ()
    assert stage.store.alert_events(alert.alert_id)[-1].action is AlertAction.EXPLAINED


def test_a_count_that_failed_adds_nothing_and_one_that_is_resumed_explains(stage: Stage) -> None:
    stage.measured(a_spec())
    stage.settle()
    (explaining,) = stage.explaining()
    analyst = stage.analyst()
    stage.end(explaining, RunState.FAILED)
    analyst.advance()
    assert len(stage.store.alert_events(stage.alerts()[0].alert_id)) == 1
    stage.resume(explaining)
    analyst.advance()
    stage.count(explaining, SLOWER_BY_HASH)
    analyst.advance()
    assert stage.alerts()[0].culprits[0].function == "hash"


def test_an_alert_that_grows_is_explained_again_unless_that_was_long_ago(stage: Stage) -> None:
    stage.measured(a_spec())
    stage.settle()
    stage.count(stage.explaining()[0], SLOWER_BY_HASH)
    stage.advance()
    stage.costs["1.1"] = {"_dhe-rsa": 1.05, "_ecdhe-ecdsa": 1.04}
    stage.measured(a_spec())
    stage.settle()
    (second,) = stage.explaining()
    assert [case.key_exchange for case in second.plan.cases] == ["ECDHE-ECDSA"]
    events = stage.store.alert_events(stage.alerts()[0].alert_id)
    assert unexplained(events, stage.now) is not None
    assert unexplained(events, stage.now + timedelta(days=4)) is None, "its versions may be gone"


def test_a_suspicion_that_its_run_does_not_confirm_raises_nothing_and_is_not_asked_again(stage: Stage) -> None:
    run = stage.measured(a_spec())
    stage.advance()
    stage.costs = {}
    stage.settle()
    (upgrade,) = stage.upgrades(run)
    assert (upgrade.outcome, stage.alerts()) == ("not confirmed", [])
    stage.costs = dict(STEP)
    again = stage.measured(a_spec())
    stage.advance()
    assert (stage.upgrades(again)[0].outcome, stage.confirming()) == ("not confirmed", [])
    other = stage.measured(a_spec("other"))
    stage.advance()
    assert stage.upgrades(other)[0].outcome == "confirming", "another spec has a question of its own"


@pytest.mark.parametrize(
    ("costs", "rule"),
    [
        ({}, "alerts: {}\n"),
        ({"1.1": {"": 0.9}}, "alerts: {}\n"),
        (STEP, "alerts: { relevant: 8% }\n"),
        (STEP, ""),
        (STEP, "# alerts: {}\n"),
    ],
    ids=["no difference", "an improvement", "too small a step", "no rule", "a rule in a comment"],
)
def test_what_is_not_relevantly_slower_by_a_rule_is_not_confirmed_at_all(
    stage: Stage, costs: dict[str, dict[str, float]], rule: str
) -> None:
    stage.costs = costs
    run = stage.measured(a_spec(rule=rule))
    stage.settle()
    assert (stage.alerts(), len(newest_runs(stage.store, 9))) == ([], 1)
    screening = stage.store.screening(run.run_id)
    assert [one.outcome for one in screening.upgrades] == ["quiet"] if screening and screening.upgrades else True
    assert stage.store.unjudged_runs() == []


@pytest.mark.parametrize("trigger", [Trigger.PULL_REQUEST, Trigger.BISECTION, Trigger.BACKFILL, Trigger.CONFIRMATION])
def test_runs_that_look_where_somebody_knows_already_raise_nothing(stage: Stage, trigger: Trigger) -> None:
    run = stage.measured(a_spec(), trigger)
    stage.advance()
    assert (stage.store.screening(run.run_id), stage.store.open_runs()) == (None, [])


def test_a_run_that_failed_is_judged_by_what_it_has_and_again_once_it_is_resumed_and_a_cancelled_one_is_not(
    stage: Stage,
) -> None:
    failed, cancelled = stage.asked(a_spec()), stage.asked(a_spec("other"))
    stage.measure(failed, RunState.FAILED)
    stage.measure(cancelled, RunState.CANCELLED)
    stage.advance()
    assert stage.upgrades(failed)[0].outcome == "confirming"
    assert stage.store.screening(cancelled.run_id) is None
    stage.resume(failed)
    stage.costs["1.1"] = {"_dhe-rsa": 1.05, "_ecdhe-ecdsa": 1.04}
    stage.measure(failed)
    stage.settle()
    (alert,) = stage.alerts()
    assert {cell.case_id.split("_")[1] for cell in alert.cells} == {"dhe-rsa", "ecdhe-ecdsa"}


def test_the_confirming_run_that_fails_cannot_confirm_and_does_once_it_is_resumed(stage: Stage) -> None:
    run = stage.measured(a_spec())
    stage.advance()
    (confirming,) = stage.confirming()
    stage.end(confirming, RunState.FAILED, "the disk is full")
    stage.advance()
    (upgrade,) = stage.upgrades(run)
    says = f"run {confirming.run_id} is failed: the disk is full"
    assert (upgrade.outcome, upgrade.detail, stage.alerts()) == ("cannot confirm", says, [])
    stage.resume(confirming)
    stage.advance()
    assert stage.upgrades(run)[0].outcome == "confirming"
    stage.measure(confirming)
    stage.advance()
    assert (stage.upgrades(run)[0].outcome, len(stage.alerts())) == ("confirmed", 1)


def test_what_cannot_be_planned_cannot_be_confirmed_and_says_why(stage: Stage) -> None:
    run = stage.measured(a_spec())
    stage.supplies = type(stage.supplies)(no_pool)
    stage.advance()
    (upgrade,) = stage.upgrades(run)
    assert (upgrade.outcome, upgrade.confirmation_run) == ("cannot confirm", None)
    assert "there is no pool 'local'" in upgrade.detail
    assert stage.store.waiting_screenings() == []


def test_the_same_upgrade_in_another_spec_is_one_alert_that_grows_by_what_is_new(stage: Stage) -> None:
    stage.measured(a_spec())
    stage.settle()
    stage.costs["1.1"] = {"_dhe-rsa": 1.05, "_ecdhe-ecdsa": 1.04}
    stage.measured(a_spec("other"))
    stage.settle()
    (alert,) = stage.alerts()
    events = stage.store.alert_events(alert.alert_id)
    assert [event.action for event in events] == [AlertAction.RAISED, AlertAction.GREW]
    assert alert.spec_names == ("watched", "other")
    grown = events[1].finding
    assert grown is not None
    assert {cell.case_id.split("_")[1] for cell in grown.cells} == {"ecdhe-ecdsa"}, (
        "what is reported is not confirmed twice"
    )
    assert len(alert.cells) == 3


def test_two_specs_that_suspect_the_same_at_once_wait_for_one_run(stage: Stage) -> None:
    first, second = stage.measured(a_spec()), stage.measured(a_spec("other"))
    stage.advance()
    (confirming,) = stage.confirming()
    assert [stage.upgrades(run)[0].confirmation_run for run in (first, second)] == [confirming.run_id] * 2
    stage.settle()
    assert [stage.upgrades(run)[0].outcome for run in (first, second)] == ["confirmed", "confirmed"]
    (alert,) = stage.alerts()
    assert len(stage.store.alert_events(alert.alert_id)) == 1


def test_it_is_fixed_in_the_version_that_goes_back_and_not_in_one_that_goes_half_way(stage: Stage) -> None:
    stage.costs |= {"1.2": {"_dhe-rsa": 1.03}, "1.3": {"_dhe-rsa": 1.002}}
    stage.measured(a_spec())
    stage.settle()
    stage.measured(a_spec(subjects="1.1, 1.2"))
    stage.settle()
    assert stage.alerts()[0].status == "open"
    stage.measured(a_spec(subjects="1.2, 1.3"))
    stage.settle()
    (alert,) = stage.alerts()
    assert (alert.status, alert.fixed_in) == ("fixed", "1.3")
    stage.measured(a_spec(subjects="1.3, 1.4"))
    stage.settle()
    actions = [event.action for event in stage.store.alert_events(alert.alert_id)]
    assert actions == [AlertAction.RAISED, AlertAction.FIXED]


def test_what_was_reported_of_a_host_by_fewer_facts_is_found_fixed_on_it(stage: Stage) -> None:
    """As an alert of an earlier release is."""
    stage.costs |= {"1.2": {"_dhe-rsa": 1.002}}
    stage.measured(a_spec())
    stage.settle()
    assert {cell.cpu_model for cell in stage.alerts()[0].cells} == {HOST.cpu_model}
    known = {"host_id": HOST.host_id, "kind": f"{HOST.cpu_model}, bare metal", "facts": HOST.model_dump_json()}
    raw(stage.store).insert("hosts", [known])
    stage.measured(a_spec(subjects="1.1, 1.2"))
    stage.settle()
    (alert,) = stage.alerts()
    assert (alert.status, alert.fixed_in) == ("fixed", "1.2")


def test_a_fix_that_was_judged_before_the_alert_was_raised_is_seen_too(stage: Stage) -> None:
    stage.measured(a_spec())
    stage.advance()
    stage.measured(a_spec(subjects="1.1, 1.2"))
    stage.advance()
    assert stage.alerts() == []
    stage.settle()
    (alert,) = stage.alerts()
    assert (alert.status, alert.fixed_in) == ("fixed", "1.2")


def test_of_a_whole_history_only_the_step_is_reported_and_that_it_is_over(stage: Stage) -> None:
    stage.costs = {f"1.{minor}": {"_dhe-rsa": 1.05} for minor in (2, 3)}
    stage.measured(a_spec(subjects="1.0, 1.1, 1.2, 1.3, 1.4"))
    stage.settle()
    (alert,) = stage.alerts()
    assert (alert.cause.before, alert.cause.after, alert.fixed_in) == ("1.1", "1.2", "1.4")


def kills(stage: Stage) -> int:
    """How often an analyst was killed, each later than the one before, until one had done all there was to do."""
    for writes in range(20):
        stage.pass_time(seconds=61)
        try:
            stage.analyst(Fragile(stage.store, writes)).advance()
        except Killed:
            continue
        return writes
    raise AssertionError("it never ends")


def test_whoever_is_killed_before_any_write_leaves_what_the_next_one_mends(stage: Stage) -> None:
    rule = "alerts: { staleAfter: 1h }\n"
    run = stage.measured(a_spec(rule=rule))
    assert kills(stage) == 3, "the confirming run's event, the run, the screening"
    assert stage.upgrades(run)[0].outcome == "confirming"
    (confirming,) = stage.confirming()
    later = stage.measured(a_spec(subjects="1.1, 1.2", rule=rule))
    kills(stage)
    stage.measure(confirming)
    assert kills(stage) >= 2, "the alert, that it is fixed, the screening"
    assert (stage.upgrades(run)[0].outcome, stage.upgrades(later)[0].outcome) == ("confirmed", "quiet")
    stage.pass_time(hours=2)
    assert kills(stage) == 1, "that it is stale"
    stage.settle()
    stale, alert = stage.alerts()
    assert (alert.status, alert.fixed_in, stale.cause.kind) == ("fixed", "1.2", "stale")
    actions = [event.action for one in (alert, stale) for event in stage.store.alert_events(one.alert_id)]
    assert actions == [AlertAction.RAISED, AlertAction.FIXED, AlertAction.RAISED]
    assert sum(one.trigger is Trigger.CONFIRMATION for one in newest_runs(stage.store, 99)) == 1


def test_two_that_advance_at_once_tell_everything_once(stage: Stage) -> None:
    stage.measured(a_spec())
    for _ in range(3):
        with ThreadPoolExecutor(2) as pool:
            for done in [pool.submit(stage.analyst().advance) for _ in range(2)]:
                done.result()
        stage.advance()
        for run in stage.confirming():
            stage.measure(run)
    (alert,) = stage.alerts()
    assert len(stage.store.alert_events(alert.alert_id)) == 1
    assert sum(run.trigger is Trigger.CONFIRMATION for run in newest_runs(stage.store, 99)) == 1


def test_an_analyst_with_nothing_to_do_reads_no_run_and_writes_nothing(stage: Stage) -> None:
    stage.measured(a_spec(rule="alerts: { staleAfter: 30d }\n"))
    stage.settle()
    idle = Fragile(stage.store, 0)
    analyst = stage.analyst(idle)
    analyst.advance()
    idle.read.clear()
    for _ in range(5):
        stage.pass_time(minutes=2)
        analyst.advance()
    assert set(idle.read) == {
        *("unjudged_runs", "waiting_screenings", "watched_specs", "progress"),
        *("alert_rows", "events_of_alerts"),
    }


def test_a_run_that_cannot_be_judged_holds_up_no_other(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    broken, sound = stage.measured(a_spec()), stage.measured(a_spec("other"))
    known = upgrades_of_run

    def of_one(store: Store, run_id: str, metric: Metric) -> list[Upgrade]:
        if run_id == broken.run_id:
            raise ValueError("a number that nobody thought of")
        return known(store, run_id, metric)

    monkeypatch.setattr(analyst, "upgrades_of_run", of_one)
    faulty = stage.analyst()
    for _ in range(2):
        faulty.advance()
    assert stage.upgrades(sound)[0].outcome == "confirming"
    assert stage.store.screening(broken.run_id) is None
    assert [record.message for record in caplog.records] == [f"run {broken.run_id} cannot be screened"]
    monkeypatch.undo()
    stage.advance()
    assert stage.upgrades(broken)[0].outcome == "confirming", "the next process tries again"


def no_pool(*_: object, **__: object) -> Plan:
    raise fault_in("kind: Benchmark", "confirm.yaml", (), "there is no pool 'local'")


def test_a_step_that_only_the_history_shows_is_suspected_and_confirmed(stage: Stage) -> None:
    stage.costs = {f"1.{minor}": {"_dhe-rsa": 1.04} for minor in range(5, 9)}
    runs = []
    for minor in range(9):
        runs.append(stage.measured(a_spec(subjects=f"1.{minor}")))
        stage.advance()
    (confirming,) = stage.confirming()
    assert [one.reference for one in confirming.plan.subjects] == ["fake@1.4", "fake@1.5"]
    stage.settle()
    (alert,) = stage.alerts()
    assert (alert.cause.before, alert.cause.after, len(alert.cells)) == ("1.4", "1.5", 2)
    assert sum(bool(stage.upgrades(run)) for run in runs) >= 1


def test_a_host_that_moved_is_noted_with_the_run_and_is_no_alert(stage: Stage) -> None:
    frozen = a_kit("openssl@system", version="3.0.2")
    stage.measured(a_spec(), sentinel=frozen, ago=timedelta(hours=1))
    stage.costs["sentinel"] = {"": 1.03}
    run = stage.measured(a_spec(), sentinel=frozen)
    stage.settle()
    screening = stage.store.screening(run.run_id)
    assert screening is not None
    (moved,) = screening.host_moves
    assert (moved.pool, moved.cpu_model, moved.cases) == ("local", HOST.cpu, 7)
    assert moved.move.ratio == pytest.approx(1.03, rel=0.001)
    assert {alert.cause.kind for alert in stage.alerts()} == {AlertKind.UPGRADE}


def test_what_a_rule_would_have_suspected_in_stored_runs(stage: Stage) -> None:
    spec = a_spec()
    stage.measured(a_spec(subjects="1.0, 1.1, 1.2", rule=""))
    (upgrade,) = replay(stage.store, spec).suspected
    assert (upgrade.before.version, upgrade.after.version, upgrade.outcome, upgrade.cells) == (
        "1.0",
        "1.1",
        "suspected",
        2,
    )
    assert "2 of 7" in upgrade.sentence
    assert replay(stage.store, a_spec(rule="alerts: { relevant: 8% }\n")).suspected == ()
    assert replay(stage.store, a_spec("other")).runs == 0
    stage.measured(spec)
    stage.settle()
    replayed = replay(stage.store, spec)
    assert (replayed.runs, replayed.upgrades, [one.outcome for one in replayed.suspected]) == (2, 2, ["confirmed"])
    with pytest.raises(DocumentError, match="alerts"):
        replay(stage.store, a_spec(rule=""))
