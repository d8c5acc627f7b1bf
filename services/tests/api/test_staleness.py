"""Specs that are measured no more: told once a cause, however many they are, until they are measured again."""

from datetime import timedelta

import pytest

from kexbench.alerts.staleness import StaleSpec, broken_by, findings, over, stale_spec, untold
from kexbench.domain.alerts import AlertAction, AlertRule
from kexbench.domain.runs import RunEvent, RunReason, RunState
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.port import WatchedSpecRow
from tests.api.analysing import Lab, a_spec
from tests.builders import NOON

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


@pytest.mark.parametrize(
    ("newest", "says"),
    [
        (None, "no run was begun since"),
        (an_event(RunState.FINISHED), "no run was begun since"),
        (an_event(RunState.BUILDING), "its newest run is building and does not end"),
        (an_event(RunState.CANCELLED, "cancelled by alice"), "its newest run was cancelled"),
        (an_event(RunState.FAILED), "its newest run failed"),
        (
            an_event(RunState.FAILED, "make: no", RunReason.UNBUILDABLE, "openssl@b", "openssl@a"),
            "openssl@a, openssl@b does not build",
        ),
        (an_event(RunState.FAILED, "see /root/x/y.log"), "its newest run failed"),
        (
            an_event(RunState.FAILED, "no route to http://mirror", RunReason.SOURCES_UNAVAILABLE, "openssl@b"),
            "its newest run failed: the sources of a kit cannot be had",
        ),
        (an_event(RunState.FAILED, "of /root", RunReason.DISK_FULL), "its newest run failed: the disk is full"),
    ],
)
def test_the_reason_names_nothing_that_is_of_one_run_alone(newest: RunEvent | None, says: str) -> None:
    assert broken_by(newest) == says


def a_stale_spec(name: str, reason: str = "the disk is full", hours: float = 0) -> StaleSpec:
    return StaleSpec(name, NOON + timedelta(hours=hours), reason, f"run of {name}", ("ops",))


def test_what_the_same_broke_is_one_finding() -> None:
    told = findings([a_stale_spec("b"), a_stale_spec("c", "no network"), a_stale_spec("a", hours=-1)])
    assert [finding.spec_names for _, finding in told] == [("a", "b"), ("c",)]
    assert len({cause.alert_id for cause, _ in told}) == 2
    assert told[0][1].sentence == "a and b: no run has finished since 2026-01-01 11:00 UTC; the disk is full."
    assert (told[0][1].notify, told[0][1].run_ids) == (("ops",), ("run of a", "run of b"))


def test_a_spec_that_is_told_stays_in_its_alert_whatever_breaks_it_next_and_leaves_with_all_others() -> None:
    told = {"one": ("a", "b"), "two": ("c",)}
    stale = [a_stale_spec("b", "another reason"), a_stale_spec("d")]
    assert [one.name for one in untold(stale, told)] == ["d"]
    assert over(stale, told) == ["two"]


def test_specs_that_are_measured_no_more_are_one_alert_which_is_fixed_and_may_begin_again(
    empty_store: ClickHouseStore,
) -> None:
    lab = Lab(empty_store)
    for name in ("one", "two"):
        lab.measured(a_spec(name, rule=WATCHED))
    lab.advance()
    lab.pass_time(hours=3)
    lab.advance()
    lab.advance()
    (alert,) = lab.alerts()
    assert (alert.spec_names, alert.notify, alert.status) == (("one", "two"), ("ops",), "open")
    lab.measured(a_spec("one", rule=WATCHED))
    lab.pass_time(minutes=2)
    lab.advance()
    assert lab.alerts()[0].status == "open", "the other one is stale still"
    lab.measured(a_spec("two", rule=WATCHED))
    lab.pass_time(minutes=2)
    lab.advance()
    assert lab.alerts()[0].status == "fixed"
    lab.pass_time(hours=3)
    lab.advance()
    (alert,) = lab.alerts()
    assert alert.status == "open"
    actions = [event.action for event in lab.store.alert_events(alert.alert_id)]
    assert actions == [AlertAction.RAISED, AlertAction.FIXED, AlertAction.GREW]
