"""What events make of an alert: the same, however they arrive."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from kexbench.domain.alerts import AlertAction, AlertEvent, AlertKind, Cause, Status, actions_in, alert_of
from kexbench.domain.canonical import content_hash
from kexbench.domain.metrics import Metric
from tests.builders import ECDSA, NOON, RSA, a_cause, a_finding, an_alert_event

LATER = [action for action in AlertAction if action is not AlertAction.RAISED]
LATE = NOON + timedelta(days=30)
MOMENTS = st.timedeltas(timedelta(), timedelta(days=10_000)).map(lambda after: NOON + after)
_SAID = {
    AlertAction.GREW: st.builds(
        lambda run_id, case_id, ratio: {"finding": a_finding(run_id, case_id=case_id, ratio=ratio)},
        st.sampled_from(["two", "three"]),
        st.sampled_from([RSA, ECDSA]),
        st.floats(1.01, 2),
    ),
    AlertAction.FIXED: st.builds(lambda version: {"fixed_in": version}, st.sampled_from(["1.2", "1.3"])),
    AlertAction.IGNORED: st.builds(lambda until: {"until": until}, st.none() | MOMENTS),
    AlertAction.ASSIGNED: st.builds(lambda name: {"assignee": name}, st.sampled_from(["", "alice", "bob"])),
    AlertAction.DUE: st.builds(lambda day: {"due": day}, st.none() | st.dates()),
}


@st.composite
def histories(draw: st.DrawFn) -> list[AlertEvent]:
    """Everything that happened to an alert, in its order."""
    actions = draw(st.lists(st.sampled_from(LATER), max_size=8))
    said = [draw(_SAID.get(action, st.just({}))) for action in actions]
    return [
        an_alert_event(),
        *(
            an_alert_event(action, number, **more)
            for number, (action, more) in enumerate(zip(actions, said, strict=True), 1)
        ),
    ]


@given(st.data())
def test_the_same_events_in_any_order_and_repeated_lead_to_the_same_state(data: st.DataObject) -> None:
    events = data.draw(histories())
    now = data.draw(MOMENTS)
    repeated = data.draw(st.lists(st.sampled_from(events)))
    arrived = data.draw(st.permutations([*events, *repeated]))
    assert alert_of(arrived, now) == alert_of(events, now)


@given(st.data())
def test_two_events_that_took_one_number_lead_to_the_same_state_whichever_arrived_first(data: st.DataObject) -> None:
    events = data.draw(histories())
    action = data.draw(st.sampled_from(LATER))
    number = data.draw(st.integers(1, 8))
    minutes = data.draw(st.sampled_from([0, number, 60]))
    other = an_alert_event(action, number, minutes=minutes, author="bob")
    found = {alert_of(data.draw(st.permutations([*events, other])), LATE).model_dump_json() for _ in range(4)}
    assert len(found) == 1


@given(histories())
def test_what_happened_first_stays_and_every_event_counts(events: list[AlertEvent]) -> None:
    found = alert_of(events, LATE)
    assert (found.cause, found.raised_at) == (a_cause(), NOON)
    assert (found.version, found.changed_at) == (len(events) - 1, events[-1].at)
    assert set(found.run_ids) == {run_id for event in events if event.finding for run_id in event.finding.run_ids}


@pytest.mark.parametrize(
    ("actions", "status"),
    [
        ([], "open"),
        ([AlertAction.NOTED, AlertAction.ASSIGNED, AlertAction.DUE], "open"),
        ([AlertAction.ACKNOWLEDGED], "acknowledged"),
        ([AlertAction.ACKNOWLEDGED, AlertAction.GREW], "acknowledged"),
        ([AlertAction.CONFIRMED, AlertAction.NOTED], "confirmed"),
        ([AlertAction.CONFIRMED, AlertAction.FIXED], "fixed"),
        ([AlertAction.FIXED, AlertAction.GREW], "open"),
        ([AlertAction.FIXED, AlertAction.GREW, AlertAction.FIXED], "fixed"),
        ([AlertAction.WRONG, AlertAction.GREW], "wrong"),
        ([AlertAction.IGNORED, AlertAction.GREW], "ignored"),
        ([AlertAction.WRONG, AlertAction.REOPENED], "open"),
    ],
    ids=str,
)
def test_a_status_is_that_of_the_last_action_that_decides(actions: list[AlertAction], status: Status) -> None:
    events = [an_alert_event(), *(an_alert_event(action, number) for number, action in enumerate(actions, 1))]
    assert alert_of(events, LATE).status == status


def test_what_is_ignored_until_a_moment_is_open_from_that_moment_on() -> None:
    until = NOON + timedelta(days=1)
    events = [an_alert_event(), an_alert_event(AlertAction.IGNORED, 1, until=until)]
    before, then = alert_of(events, until - timedelta(milliseconds=1)), alert_of(events, until)
    assert (before.status, before.ignored_until) == ("ignored", until)
    assert (then.status, then.ignored_until) == ("open", None)
    for_good = [an_alert_event(), an_alert_event(AlertAction.IGNORED, 1)]
    assert alert_of(for_good, LATE).status == "ignored"


def test_what_grew_has_the_cells_of_all_findings_each_as_it_was_found_last() -> None:
    again = a_finding("two", case_id=RSA, ratio=1.2)
    more = a_finding("three", case_id=ECDSA, ratio=1.1)
    events = [
        an_alert_event(),
        an_alert_event(AlertAction.GREW, 1, finding=again),
        an_alert_event(AlertAction.GREW, 2, finding=more),
    ]
    found = alert_of(events, LATE)
    assert found.cells == (*again.cells, *more.cells)
    assert found.run_ids == ("confirming", "two", "three")
    assert (found.sentence, found.notify) == (more.sentence, ("crypto-team",))


def test_the_finding_with_the_most_cells_speaks_for_the_alert_until_it_is_fixed() -> None:
    one, other = a_finding("one", case_id=RSA), a_finding("two", case_id=ECDSA)
    wide = one.model_copy(update={"cells": (*one.cells, *other.cells), "sentence": "both"})
    narrow = other.model_copy(update={"sentence": "one of them"})
    events = [an_alert_event(finding=wide), an_alert_event(AlertAction.GREW, 1, finding=narrow)]
    assert alert_of(events, LATE).sentence == "both"
    fixed = an_alert_event(AlertAction.FIXED, 2, fixed_in="1.2")
    assert alert_of([*events, fixed], LATE).sentence == "both"
    again = an_alert_event(AlertAction.GREW, 3, finding=narrow)
    assert alert_of([*events, fixed, again], LATE).sentence == "one of them"


def test_where_it_is_fixed_is_named_while_it_is() -> None:
    events = [an_alert_event(), an_alert_event(AlertAction.FIXED, 1, fixed_in="1.2")]
    assert alert_of(events, LATE).fixed_in == "1.2"
    assert alert_of([*events, an_alert_event(AlertAction.REOPENED, 2)], LATE).fixed_in == ""


def test_events_without_the_one_that_raised_it_are_no_alert() -> None:
    for events in ([], [an_alert_event(AlertAction.NOTED, 1)]):
        with pytest.raises(ValueError, match="begins with the event that raised it"):
            alert_of(events, LATE)


def test_the_same_cause_is_the_same_alert_and_another_cause_another() -> None:
    causes = [a_cause(), a_cause("1.2"), a_cause("1.1", kind=AlertKind.STALE), a_cause("no pool", kind=AlertKind.STALE)]
    ids = [cause.alert_id for cause in causes]
    assert len(set(ids)) == 4
    assert ids == [cause.model_copy().alert_id for cause in causes]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"number": 1}, "the first event must be"),
        ({"cause": None}, "must have a cause"),
        ({"finding": None}, "must have a finding"),
        ({"alert_id": "0" * 16}, "the cause belongs to alert"),
        ({"until": LATE}, "`until` belongs to `ignored`, not to `raised`"),
        ({"assignee": "bob"}, "`assignee` belongs to `assigned`"),
        ({"due": LATE.date()}, "`due` belongs to `due`"),
        ({"fixed_in": "1.2"}, "`fixed_in` belongs to `fixed`"),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, dict) else "",
)
def test_an_event_says_what_is_its_actions_and_nothing_else(changes: dict[str, object], says: str) -> None:
    fields = {**dict(an_alert_event()), **changes}
    with pytest.raises(ValidationError, match=says):
        AlertEvent(**fields)


@pytest.mark.parametrize("action", [AlertAction.IGNORED, AlertAction.WRONG, AlertAction.NOTED])
def test_what_others_would_ask_about_needs_words(action: AlertAction) -> None:
    with pytest.raises(ValidationError, match=f"`{action}` needs"):
        an_alert_event(action, 1, note=" \n")


def test_people_may_do_what_makes_sense_and_nobody_does_what_the_analyst_does() -> None:
    statuses: list[Status] = ["open", "acknowledged", "confirmed", "fixed", "ignored", "wrong"]
    for status in statuses:
        may = set(actions_in(status))
        assert not may & {AlertAction.RAISED, AlertAction.GREW, AlertAction.FIXED}
        assert {AlertAction.NOTED, AlertAction.ASSIGNED, AlertAction.DUE} <= may
        assert (AlertAction.REOPENED in may) is (status != "open")
    line = [AlertAction.ACKNOWLEDGED, AlertAction.CONFIRMED, AlertAction.WRONG, AlertAction.REOPENED]
    events = [an_alert_event()]
    for number, action in enumerate(line, 1):
        assert action in actions_in(alert_of(events, LATE).status)
        events.append(an_alert_event(action, number))

    assert AlertAction.ACKNOWLEDGED not in actions_in("fixed")


def test_the_metric_is_part_of_an_alerts_id_but_for_cpu_time_whose_alerts_are_older_than_the_others() -> None:
    assert a_cause().alert_id == content_hash(["upgrade", "fake", "1.0", "1.1"], length=16)
    metrics = (Metric.CPU_NS, Metric.SERVER_BYTES, Metric.CLIENT_BYTES)
    assert len({a_cause(metric=metric).alert_id for metric in metrics}) == len(metrics)
    earlier = Cause.model_validate({"kind": "upgrade", "library": "fake", "before": "1.0", "after": "1.1"})
    assert earlier == a_cause()
