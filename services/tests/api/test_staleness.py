"""Specs that are measured no more: reported once a cause, however many they are, until they are measured again."""

from datetime import timedelta

import pytest

from kexbench.alerts.staleness import (
    StaleSpec,
    breakage_words,
    broken_by,
    cause_of_stale,
    findings,
    over,
    stale_spec,
    unreported,
)
from kexbench.domain.alerts import AlertAction, AlertRule, Breakage
from kexbench.domain.runs import RunEvent, RunReason, RunState
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.port import WatchedSpecRow
from tests.api.analysing import Stage, a_spec
from tests.builders import NOON
from tests.golden import GOLDEN, assert_texts

RULE = AlertRule(stale_after_s=3600, notify=("ops",))
WATCHED = "alerts: { staleAfter: 2h, notify: [ops] }\n"


def an_event(state: RunState, detail: str = "", reason: RunReason | None = None, *about: str) -> RunEvent:
    run_id = "20260101-120000-0a0b0c0d"
    return RunEvent(run_id=run_id, at=NOON, state=state, detail=detail, reason=reason, about=about)


@pytest.mark.parametrize(
    ("hours", "finished_after", "rule", "stale"),
    [
        (1, None, RULE, False),
        (1.01, None, RULE, True),
        (5, 4, RULE, False),
        (5.01, 4, RULE, True),
        (99, None, AlertRule(), False),
    ],
)
def test_a_spec_is_stale_when_its_time_has_passed_since_a_run_finished_or_since_the_first_was_made(
    hours: float, finished_after: float | None, rule: AlertRule, stale: bool
) -> None:
    finished = None if finished_after is None else NOON + timedelta(hours=finished_after)
    row = WatchedSpecRow("nightly", "run", NOON, finished)
    assert (stale_spec(row, rule, None, NOON + timedelta(hours=hours)) is not None) is stale


def test_the_words_for_a_breakage_name_nothing_that_is_of_one_run_alone() -> None:
    newest = {
        "never run": None,
        "finished": an_event(RunState.FINISHED),
        "still building": an_event(RunState.BUILDING),
        "cancelled": an_event(RunState.CANCELLED, "cancelled by alice"),
        "failed without a reason": an_event(RunState.FAILED, "see /root/x/y.log"),
        "two subjects do not build": an_event(
            RunState.FAILED, "make: no", RunReason.UNBUILDABLE, "openssl@b", "openssl@a"
        ),
        **{
            f"failed, {reason}": an_event(RunState.FAILED, "of /root", reason)
            for reason in RunReason
            if reason is not RunReason.UNBUILDABLE
        },
    }
    texts = {name: breakage_words(broken_by(event)) for name, event in newest.items()}
    assert_texts(GOLDEN / "breakages.txt", texts)


def test_other_words_for_a_breakage_begin_no_other_alert() -> None:
    cause = cause_of_stale(Breakage(state=RunState.FAILED, reason=RunReason.DISK_FULL))
    assert cause.model_copy(update={"after": "no space is left"}).alert_id == cause.alert_id


def a_stale_spec(name: str, reason: RunReason = RunReason.DISK_FULL, hours: float = 0) -> StaleSpec:
    breakage = Breakage(state=RunState.FAILED, reason=reason)
    return StaleSpec(name, NOON + timedelta(hours=hours), breakage, f"run of {name}", ("ops",))


def test_what_the_same_broke_is_one_finding() -> None:
    found = findings([a_stale_spec("b"), a_stale_spec("c", RunReason.SOURCES_UNAVAILABLE), a_stale_spec("a", hours=-1)])
    assert [finding.spec_names for _, finding in found] == [("a", "b"), ("c",)]
    assert len({cause.alert_id for cause, _ in found}) == 2
    assert (
        found[0][1].sentence
        == "a and b: no run has finished since 2026-01-01 11:00 UTC; its newest run failed: the disk is full."
    )
    assert (found[0][1].notify, found[0][1].run_ids) == (("ops",), ("run of a", "run of b"))


def test_a_spec_that_is_reported_stays_in_its_alert_whatever_breaks_it_next_and_leaves_with_all_others() -> None:
    reported = {"one": ("a", "b"), "two": ("c",)}
    stale = [a_stale_spec("b", RunReason.NO_POOL), a_stale_spec("d")]
    assert [one.name for one in unreported(stale, reported)] == ["d"]
    assert over(stale, reported) == ["two"]


def test_specs_that_are_measured_no_more_are_one_alert_which_is_fixed_and_may_begin_again(
    empty_store: ClickHouseStore,
) -> None:
    stage = Stage(empty_store)
    for name in ("one", "two"):
        stage.measured(a_spec(name, rule=WATCHED))
    stage.advance()
    stage.pass_time(hours=3)
    stage.advance()
    stage.advance()
    (alert,) = stage.alerts()
    assert (alert.spec_names, alert.notify, alert.status) == (("one", "two"), ("ops",), "open")
    stage.measured(a_spec("one", rule=WATCHED))
    stage.pass_time(minutes=2)
    stage.advance()
    assert stage.alerts()[0].status == "open", "the other one is stale still"
    stage.measured(a_spec("two", rule=WATCHED))
    stage.pass_time(minutes=2)
    stage.advance()
    assert stage.alerts()[0].status == "fixed"
    stage.pass_time(hours=3)
    stage.advance()
    (alert,) = stage.alerts()
    assert alert.status == "open"
    actions = [event.action for event in stage.store.alert_events(alert.alert_id)]
    assert actions == [AlertAction.RAISED, AlertAction.FIXED, AlertAction.GREW]
