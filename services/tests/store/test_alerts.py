"""What a store tells of alerts: as they were written, and lists of them that leave nothing out."""

from datetime import timedelta

from kexbench.domain.alerts import AlertAction, AlertKind
from kexbench.store.port import Store
from tests.builders import NOON, a_cause, a_finding, an_alert_event

HOSTILE = "it's {so:String} 'x' \\ \n «Z» ; DROP TABLE alert_events; --"


def test_an_empty_store_knows_no_alert(store: Store) -> None:
    assert (store.alert_events("x"), store.events_of_alerts(["x", "y"]), store.events_of_alerts([])) == ([], [], [])
    assert (store.alert_rows(), store.alerts_beginning_with("")) == ([], [])


def test_events_come_back_as_they_were_however_often_they_are_written(store: Store) -> None:
    until = NOON + timedelta(days=3, microseconds=1)
    events = [
        an_alert_event(finding=a_finding(HOSTILE), author=HOSTILE),
        an_alert_event(AlertAction.IGNORED, 1, note=HOSTILE, until=until),
        an_alert_event(AlertAction.ASSIGNED, 2, assignee=HOSTILE),
        an_alert_event(AlertAction.DUE, 3, due=NOON.date()),
    ]
    for _ in range(2):
        for event in reversed(events):
            store.add_alert_event(event)
        assert store.alert_events(events[0].alert_id) == events


def test_alerts_are_listed_newest_first_with_what_decides_about_each(store: Store) -> None:
    stale, later = a_cause("no pool", kind=AlertKind.STALE), a_cause("1.2")
    until = NOON + timedelta(days=3)
    for cause, minutes in ((a_cause(), 0), (later, 2), (stale, 1)):
        store.add_alert_event(an_alert_event(cause=cause, minutes=minutes))
    store.add_alert_event(an_alert_event(AlertAction.NOTED, 1, cause=later))
    store.add_alert_event(an_alert_event(AlertAction.IGNORED, 2, cause=later, until=until))
    store.add_alert_event(an_alert_event(AlertAction.GREW, 3, cause=later))
    rows = store.alert_rows()
    assert [row.alert_id for row in rows] == [later.alert_id, stale.alert_id, a_cause().alert_id]
    assert [(row.kind, row.library) for row in rows] == [("upgrade", "fake"), ("stale", None), ("upgrade", "fake")]
    assert rows[0].raised_at == NOON + timedelta(minutes=2)
    decided = [(AlertAction.RAISED, None), (AlertAction.IGNORED, until), (AlertAction.GREW, None)]
    assert [list(row.steps) for row in rows] == [decided, decided[:1], decided[:1]]


def test_the_events_of_several_alerts_are_read_at_once(store: Store) -> None:
    causes = [a_cause(version) for version in ("1.1", "1.2", "1.3")]
    for cause in causes:
        store.add_alert_event(an_alert_event(cause=cause))
        store.add_alert_event(an_alert_event(AlertAction.WRONG, 1, cause=cause))
    wanted = [causes[0].alert_id, causes[2].alert_id, "unknown"]
    found = store.events_of_alerts(wanted)
    assert [(event.alert_id, event.number) for event in found] == [
        (alert_id, number) for alert_id in sorted(wanted[:2]) for number in (0, 1)
    ]


def test_an_alert_is_found_by_the_beginning_of_its_id(store: Store) -> None:
    ids = sorted(a_cause(f"1.{minor}").alert_id for minor in range(40))
    for minor in range(40):
        store.add_alert_event(an_alert_event(cause=a_cause(f"1.{minor}")))
    for prefix in ("", ids[0][:1], ids[7], f"{ids[7]}0", "%", "'"):
        assert store.alerts_beginning_with(prefix) == [one for one in ids if one.startswith(prefix)]
