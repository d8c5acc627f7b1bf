"""From runs that ended to alerts: suspected, confirmed by a run of their own, told once, marked fixed, whoever is
killed."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from kexbench.alerts import analyst
from kexbench.alerts.replaying import replay
from kexbench.alerts.screening import Upgrade, upgrades_of_run
from kexbench.domain.alerts import AlertAction, AlertKind
from kexbench.domain.plans import Plan
from kexbench.domain.runs import RunState, Trigger
from kexbench.planning.documents import DocumentError
from kexbench.planning.plan import fault_in
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.port import Store
from tests.api.analysing import Fragile, Killed, Lab, a_spec
from tests.builders import HOST, a_kit

STEP = {"1.1": {"_dhe-rsa": 1.05}, "1.2": {}}
"""Version 1.1 costs 5% more in DHE-RSA."""


@pytest.fixture
def lab(empty_store: ClickHouseStore) -> Lab:
    return Lab(empty_store, dict(STEP))


def test_a_step_is_suspected_confirmed_by_a_run_of_its_own_and_told_once(lab: Lab) -> None:
    run = lab.measured(a_spec())
    lab.advance()
    (upgrade,) = lab.upgrades(run)
    assert (upgrade.outcome, upgrade.compared, upgrade.more) == ("confirming", 7, 2)
    assert {name.split("/")[0] for name in upgrade.suspected} == {"local"}
    assert all("_dhe-rsa" in name for name in upgrade.suspected)
    assert lab.alerts() == [], "a suspicion is no alert"
    (confirming,) = lab.confirming()
    assert confirming.run_id == upgrade.confirmation_run
    assert (confirming.plan.spec_name, confirming.plan.measure.invocations) == ("confirm-watched", 12)
    assert [f"local/{case.case_id}" for case in confirming.plan.cases] == list(upgrade.suspected)
    assert [one.reference for one in confirming.plan.subjects] == ["fake@1.0", "fake@1.1"]
    assert (confirming.plan.measure.sentinel, len(confirming.plan.jobs[0].blocks)) == (False, 1)
    lab.measure(confirming)
    lab.advance()
    (alert,) = lab.alerts()
    assert (alert.status, alert.cause.before, alert.cause.after) == ("open", "1.0", "1.1")
    assert (alert.spec_names, alert.notify) == (("watched",), ("crypto-team",))
    assert alert.run_ids == (confirming.run_id, run.run_id)
    assert [cell.move.ratio for cell in alert.cells] == pytest.approx([1.05, 1.05], rel=0.001)
    assert "DHE" in alert.sentence
    assert "2 of 7 cases cost more" in alert.sentence
    (upgrade,) = lab.upgrades(run)
    assert (upgrade.outcome, upgrade.alert_id) == ("confirmed", alert.alert_id)
    assert alert.subjects == (upgrade.before.subject, upgrade.after.subject)
    lab.settle()
    lab.measured(a_spec(), Trigger.SCHEDULE)
    lab.settle()
    assert len(lab.store.runs(100)) == 3, "what was told is not confirmed again"
    assert [event.action for event in lab.store.alert_events(alert.alert_id)] == [AlertAction.RAISED]


def test_a_suspicion_that_its_run_does_not_confirm_raises_nothing_and_is_not_asked_again(lab: Lab) -> None:
    run = lab.measured(a_spec())
    lab.advance()
    lab.costs = {}
    lab.settle()
    (upgrade,) = lab.upgrades(run)
    assert (upgrade.outcome, lab.alerts()) == ("not confirmed", [])
    lab.costs = dict(STEP)
    again = lab.measured(a_spec())
    lab.advance()
    assert (lab.upgrades(again)[0].outcome, lab.confirming()) == ("not confirmed", [])
    other = lab.measured(a_spec("other"))
    lab.advance()
    assert lab.upgrades(other)[0].outcome == "confirming", "another spec has a question of its own"


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
    lab: Lab, costs: dict[str, dict[str, float]], rule: str
) -> None:
    lab.costs = costs
    run = lab.measured(a_spec(rule=rule))
    lab.settle()
    assert (lab.alerts(), len(lab.store.runs(9))) == ([], 1)
    judgement = lab.store.judgement(run.run_id)
    assert [one.outcome for one in judgement.upgrades] == ["quiet"] if judgement and judgement.upgrades else True
    assert lab.store.unjudged_runs() == []


@pytest.mark.parametrize("trigger", [Trigger.PULL_REQUEST, Trigger.BISECTION, Trigger.BACKFILL, Trigger.CONFIRMATION])
def test_runs_that_look_where_somebody_knows_already_raise_nothing(lab: Lab, trigger: Trigger) -> None:
    run = lab.measured(a_spec(), trigger)
    lab.advance()
    assert (lab.store.judgement(run.run_id), lab.store.open_runs()) == (None, [])


def test_a_run_that_failed_is_judged_by_what_it_has_and_again_once_it_is_resumed_and_a_cancelled_one_is_not(
    lab: Lab,
) -> None:
    failed, cancelled = lab.asked(a_spec()), lab.asked(a_spec("other"))
    lab.measure(failed, RunState.FAILED)
    lab.measure(cancelled, RunState.CANCELLED)
    lab.advance()
    assert lab.upgrades(failed)[0].outcome == "confirming"
    assert lab.store.judgement(cancelled.run_id) is None
    lab.resume(failed)
    lab.costs["1.1"] = {"_dhe-rsa": 1.05, "_ecdhe-ecdsa": 1.04}
    lab.measure(failed)
    lab.settle()
    (alert,) = lab.alerts()
    assert {cell.case_id.split("_")[1] for cell in alert.cells} == {"dhe-rsa", "ecdhe-ecdsa"}


def test_the_confirming_run_that_fails_cannot_confirm_and_does_once_it_is_resumed(lab: Lab) -> None:
    run = lab.measured(a_spec())
    lab.advance()
    (confirming,) = lab.confirming()
    lab.end(confirming, RunState.FAILED, "the disk is full")
    lab.advance()
    (upgrade,) = lab.upgrades(run)
    says = f"run {confirming.run_id} is failed: the disk is full"
    assert (upgrade.outcome, upgrade.detail, lab.alerts()) == ("cannot confirm", says, [])
    lab.resume(confirming)
    lab.advance()
    assert lab.upgrades(run)[0].outcome == "confirming"
    lab.measure(confirming)
    lab.advance()
    assert (lab.upgrades(run)[0].outcome, len(lab.alerts())) == ("confirmed", 1)


def test_what_cannot_be_planned_cannot_be_confirmed_and_says_why(lab: Lab) -> None:
    run = lab.measured(a_spec())
    lab.supplies = type(lab.supplies)(no_pool)
    lab.advance()
    (upgrade,) = lab.upgrades(run)
    assert (upgrade.outcome, upgrade.confirmation_run) == ("cannot confirm", None)
    assert "there is no pool 'local'" in upgrade.detail
    assert lab.store.waiting_judgements() == []


def test_the_same_upgrade_in_another_spec_is_one_alert_that_grows_by_what_is_new(lab: Lab) -> None:
    lab.measured(a_spec())
    lab.settle()
    lab.costs["1.1"] = {"_dhe-rsa": 1.05, "_ecdhe-ecdsa": 1.04}
    lab.measured(a_spec("other"))
    lab.settle()
    (alert,) = lab.alerts()
    events = lab.store.alert_events(alert.alert_id)
    assert [event.action for event in events] == [AlertAction.RAISED, AlertAction.GREW]
    assert alert.spec_names == ("watched", "other")
    grown = events[1].finding
    assert grown is not None
    assert {cell.case_id.split("_")[1] for cell in grown.cells} == {"ecdhe-ecdsa"}, (
        "what is told is not confirmed twice"
    )
    assert len(alert.cells) == 3


def test_two_specs_that_suspect_the_same_at_once_wait_for_one_run(lab: Lab) -> None:
    first, second = lab.measured(a_spec()), lab.measured(a_spec("other"))
    lab.advance()
    (confirming,) = lab.confirming()
    assert [lab.upgrades(run)[0].confirmation_run for run in (first, second)] == [confirming.run_id] * 2
    lab.settle()
    assert [lab.upgrades(run)[0].outcome for run in (first, second)] == ["confirmed", "confirmed"]
    (alert,) = lab.alerts()
    assert len(lab.store.alert_events(alert.alert_id)) == 1


def test_it_is_fixed_in_the_version_that_goes_back_and_not_in_one_that_goes_half_way(lab: Lab) -> None:
    lab.costs |= {"1.2": {"_dhe-rsa": 1.03}, "1.3": {"_dhe-rsa": 1.002}}
    lab.measured(a_spec())
    lab.settle()
    lab.measured(a_spec(subjects="1.1, 1.2"))
    lab.settle()
    assert lab.alerts()[0].status == "open"
    lab.measured(a_spec(subjects="1.2, 1.3"))
    lab.settle()
    (alert,) = lab.alerts()
    assert (alert.status, alert.fixed_in) == ("fixed", "1.3")
    lab.measured(a_spec(subjects="1.3, 1.4"))
    lab.settle()
    actions = [event.action for event in lab.store.alert_events(alert.alert_id)]
    assert actions == [AlertAction.RAISED, AlertAction.FIXED]


def test_what_was_told_of_a_host_by_fewer_facts_is_found_fixed_on_it(lab: Lab) -> None:
    """As an alert of an earlier release is."""
    lab.costs |= {"1.2": {"_dhe-rsa": 1.002}}
    lab.measured(a_spec())
    lab.settle()
    assert {cell.cpu_model for cell in lab.alerts()[0].cells} == {HOST.cpu_model}
    told = {"host_id": HOST.host_id, "kind": f"{HOST.cpu_model}, bare metal", "facts": HOST.model_dump_json()}
    lab.store._insert("hosts", [told])
    lab.measured(a_spec(subjects="1.1, 1.2"))
    lab.settle()
    (alert,) = lab.alerts()
    assert (alert.status, alert.fixed_in) == ("fixed", "1.2")


def test_a_fix_that_was_judged_before_the_alert_was_raised_is_seen_too(lab: Lab) -> None:
    lab.measured(a_spec())
    lab.advance()
    lab.measured(a_spec(subjects="1.1, 1.2"))
    lab.advance()
    assert lab.alerts() == []
    lab.settle()
    (alert,) = lab.alerts()
    assert (alert.status, alert.fixed_in) == ("fixed", "1.2")


def test_of_a_whole_history_only_the_step_is_told_and_that_it_is_over(lab: Lab) -> None:
    lab.costs = {f"1.{minor}": {"_dhe-rsa": 1.05} for minor in (2, 3)}
    lab.measured(a_spec(subjects="1.0, 1.1, 1.2, 1.3, 1.4"))
    lab.settle()
    (alert,) = lab.alerts()
    assert (alert.cause.before, alert.cause.after, alert.fixed_in) == ("1.1", "1.2", "1.4")


def kills(lab: Lab) -> int:
    """How often an analyst was killed, each later than the one before, until one had done all there was to do."""
    for writes in range(20):
        lab.pass_time(seconds=61)
        try:
            lab.analyst(Fragile(lab.store, writes)).advance()
        except Killed:
            continue
        return writes
    raise AssertionError("it never ends")


def test_whoever_is_killed_before_any_write_leaves_what_the_next_one_mends(lab: Lab) -> None:
    rule = "alerts: { staleAfter: 1h }\n"
    run = lab.measured(a_spec(rule=rule))
    assert kills(lab) == 3, "the confirming run's event, the run, the judgement"
    assert lab.upgrades(run)[0].outcome == "confirming"
    (confirming,) = lab.confirming()
    later = lab.measured(a_spec(subjects="1.1, 1.2", rule=rule))
    kills(lab)
    lab.measure(confirming)
    assert kills(lab) >= 2, "the alert, that it is fixed, the judgement"
    assert (lab.upgrades(run)[0].outcome, lab.upgrades(later)[0].outcome) == ("confirmed", "quiet")
    lab.pass_time(hours=2)
    assert kills(lab) == 1, "that it is stale"
    lab.settle()
    stale, alert = lab.alerts()
    assert (alert.status, alert.fixed_in, stale.cause.kind) == ("fixed", "1.2", "stale")
    actions = [event.action for one in (alert, stale) for event in lab.store.alert_events(one.alert_id)]
    assert actions == [AlertAction.RAISED, AlertAction.FIXED, AlertAction.RAISED]
    assert sum(one.trigger is Trigger.CONFIRMATION for one in lab.store.runs(99)) == 1


def test_two_that_advance_at_once_tell_everything_once(lab: Lab) -> None:
    lab.measured(a_spec())
    for _ in range(3):
        with ThreadPoolExecutor(2) as pool:
            for done in [pool.submit(lab.analyst().advance) for _ in range(2)]:
                done.result()
        lab.advance()
        for run in lab.confirming():
            lab.measure(run)
    (alert,) = lab.alerts()
    assert len(lab.store.alert_events(alert.alert_id)) == 1
    assert sum(run.trigger is Trigger.CONFIRMATION for run in lab.store.runs(99)) == 1


def test_an_analyst_with_nothing_to_do_reads_no_run_and_writes_nothing(lab: Lab) -> None:
    lab.measured(a_spec(rule="alerts: { staleAfter: 30d }\n"))
    lab.settle()
    idle = Fragile(lab.store, 0)
    analyst = lab.analyst(idle)
    analyst.advance()
    idle.read.clear()
    for _ in range(5):
        lab.pass_time(minutes=2)
        analyst.advance()
    assert set(idle.read) == {"unjudged_runs", "waiting_judgements", "watched_specs", "progress", "alert_rows"}


def test_a_run_that_cannot_be_judged_holds_up_no_other(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    broken, sound = lab.measured(a_spec()), lab.measured(a_spec("other"))
    known = upgrades_of_run

    def of_one(store: Store, run_id: str) -> list[Upgrade]:
        if run_id == broken.run_id:
            raise ValueError("a number that nobody thought of")
        return known(store, run_id)

    monkeypatch.setattr(analyst, "upgrades_of_run", of_one)
    faulty = lab.analyst()
    for _ in range(2):
        faulty.advance()
    assert lab.upgrades(sound)[0].outcome == "confirming"
    assert lab.store.judgement(broken.run_id) is None
    assert [record.message for record in caplog.records] == [f"run {broken.run_id} cannot be judged"]
    monkeypatch.undo()
    lab.advance()
    assert lab.upgrades(broken)[0].outcome == "confirming", "the next process tries again"


def no_pool(*_: object, **__: object) -> Plan:
    raise fault_in("kind: Benchmark", "confirm.yaml", (), "there is no pool 'local'")


def test_a_step_that_only_the_history_shows_is_suspected_and_confirmed(lab: Lab) -> None:
    lab.costs = {f"1.{minor}": {"_dhe-rsa": 1.04} for minor in range(5, 9)}
    runs = []
    for minor in range(9):
        runs.append(lab.measured(a_spec(subjects=f"1.{minor}")))
        lab.advance()
    (confirming,) = lab.confirming()
    assert [one.reference for one in confirming.plan.subjects] == ["fake@1.4", "fake@1.5"]
    lab.settle()
    (alert,) = lab.alerts()
    assert (alert.cause.before, alert.cause.after, len(alert.cells)) == ("1.4", "1.5", 2)
    assert sum(bool(lab.upgrades(run)) for run in runs) >= 1


def test_a_host_that_moved_is_noted_with_the_run_and_is_no_alert(lab: Lab) -> None:
    frozen = a_kit("openssl@system", version="3.0.2")
    lab.measured(a_spec(), sentinel=frozen, ago=timedelta(hours=1))
    lab.costs["sentinel"] = {"": 1.03}
    run = lab.measured(a_spec(), sentinel=frozen)
    lab.settle()
    judgement = lab.store.judgement(run.run_id)
    assert judgement is not None
    (moved,) = judgement.host_moves
    assert (moved.pool, moved.cpu_model, moved.cases) == ("local", HOST.cpu, 7)
    assert moved.move.ratio == pytest.approx(1.03, rel=0.001)
    assert {alert.cause.kind for alert in lab.alerts()} == {AlertKind.UPGRADE}


def test_what_a_rule_would_have_told_of_stored_runs(lab: Lab) -> None:
    spec = a_spec()
    lab.measured(a_spec(subjects="1.0, 1.1, 1.2", rule=""))
    (told,) = replay(lab.store, spec).told
    assert (told.before.version, told.after.version, told.outcome, told.cells) == ("1.0", "1.1", "suspected", 2)
    assert "2 of 7 cases cost more" in told.sentence
    assert replay(lab.store, a_spec(rule="alerts: { relevant: 8% }\n")).told == ()
    assert replay(lab.store, a_spec("other")).runs == 0
    lab.measured(spec)
    lab.settle()
    replayed = replay(lab.store, spec)
    assert (replayed.runs, replayed.upgrades, [one.outcome for one in replayed.told]) == (2, 2, ["confirmed"])
    with pytest.raises(DocumentError, match="alerts"):
        replay(lab.store, a_spec(rule=""))
