"""Alerts over the API: what is shown of them, what people do to them, and what is refused and why."""

import threading
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import httpx2
import pytest

from kexbench.alerts import events as alert_events
from kexbench.alerts.events import add_event, add_finding, event_words, next_event
from kexbench.api.calling import sign_role_token
from kexbench.domain.alerts import ANALYST, AlertAction, AlertEvent, AlertKind
from kexbench.queue.runs import one_at_a_time
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.conftest import SECRET, assert_problem, token
from tests.builders import ECDSA, NOON, a_cause, a_finding, a_run, a_screening, an_alert_event

ALERT = a_cause().alert_id
STATUSES = {"acknowledged": 1, "confirmed": 1, "fixed": 1, "ignored": 1, "wrong": 1}


def as_person(name: str = "alice") -> dict[str, str]:
    return {"Authorization": f"Bearer {sign_role_token(name, 'triager', SECRET, now=datetime.now(UTC))}"}


def change(
    client: httpx2.Client, action: str, saw: int, *, who: str = "alice", of: str = ALERT, **said: Any
) -> httpx2.Response:
    body = {"action": action, "saw": saw, **said}
    return client.post(f"/alerts/{of}/events", json=body, headers=as_person(who))


def raised(
    store: ClickHouseStore, *later: tuple[AlertAction, dict[str, Any]], after: str = "1.1", minutes: float = 0
) -> str:
    """The id of an alert that this happened to."""
    cause = a_cause(after)
    store.add_alert_event(an_alert_event(cause=cause, minutes=minutes))
    for number, (action, said) in enumerate(later, 1):
        store.add_alert_event(an_alert_event(action, number, cause=cause, **said))
    return cause.alert_id


def listed(client: httpx2.Client, **asked: Any) -> list[str]:
    answer = client.get("/alerts", params=asked)
    assert answer.status_code == 200, answer.text
    return [one["alert_id"] for one in answer.json()["alerts"]]


def test_without_alerts_there_is_an_empty_page(client: httpx2.Client) -> None:
    assert client.get("/alerts").json() == {"alerts": [], "confirming": [], "counts": {}, "next_before": None}
    assert_problem(client.get("/alerts/0123456789abcdef"), 404, "there is no alert 0123456789abcdef")


def test_an_alert_is_shown_with_its_state_its_events_and_what_may_be_done(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    raised(empty_store, (AlertAction.GREW, {"finding": a_finding("two", case_id=ECDSA, ratio=1.2)}))
    found = client.get(f"/alerts/{ALERT}").json()
    assert (found["alert"]["status"], found["alert"]["version"]) == ("open", 1)
    assert [event["action"] for event in found["events"]] == ["raised", "grew"]
    assert found["actions"] == ["acknowledged", "confirmed", "ignored", "wrong", "assigned", "noted", "due"]
    (summary,) = client.get("/alerts").json()["alerts"]
    assert (summary["cells"], summary["most"]["ratio"]) == (2, 1.2)
    assert summary["cause"] == found["alert"]["cause"]


def test_alerts_are_filtered_by_status_library_and_kind_and_counted_whatever_their_status(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    ids = [raised(empty_store, after="0", minutes=0)]
    ids += [
        raised(empty_store, (AlertAction(status), {}), after=status, minutes=minute)
        for minute, status in enumerate(STATUSES, 1)
    ]
    past = {"until": NOON + timedelta(days=1)}
    ids.append(raised(empty_store, (AlertAction.IGNORED, past), after="ignored until then", minutes=8))
    stale = a_cause("no pool", kind=AlertKind.STALE)
    empty_store.add_alert_event(an_alert_event(cause=stale, minutes=9))
    ids.append(stale.alert_id)
    assert listed(client) == ids[::-1]
    assert listed(client, status="open") == [ids[7], ids[6], ids[0]]
    assert listed(client, status=["wrong", "fixed"]) == [ids[5], ids[3]]
    assert listed(client, library="fake", status="open") == [ids[6], ids[0]]
    assert listed(client, library="openssl") == []
    assert listed(client, kind="stale") == [ids[7]]
    assert client.get("/alerts", params={"status": "wrong"}).json()["counts"] == {"open": 3, **STATUSES}
    assert client.get("/alerts", params={"kind": "upgrade", "limit": 1}).json()["counts"] == {"open": 2, **STATUSES}


def test_alerts_are_read_page_by_page_newest_first_without_gaps(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    ids = [raised(empty_store, after=str(number), minutes=number // 3) for number in range(8)]
    seen: list[str] = []
    before: str | None = None
    while True:
        page = client.get("/alerts", params={"limit": 2} | ({"before": before} if before else {})).json()
        seen += [one["alert_id"] for one in page["alerts"]]
        before = page["next_before"]
        if before is None:
            break
    assert len(seen) == 8
    assert set(seen) == set(ids)
    assert [ids.index(one) // 3 for one in seen] == [2, 2, 1, 1, 1, 0, 0, 0]


def test_the_beginning_of_an_id_will_do_where_no_other_begins_so(
    client: httpx2.Client, empty_store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    raised(empty_store)
    assert client.get(f"/alerts/{ALERT[:4]}").json()["alert"]["alert_id"] == ALERT
    assert_problem(client.get(f"/alerts/{ALERT[:3]}"), 404)
    assert_problem(change(client, "acknowledged", 0, of=ALERT[:8]), 404)
    monkeypatch.setattr(empty_store, "alerts_beginning_with", lambda prefix: [f"{prefix}aa", f"{prefix}bb"])
    assert_problem(client.get("/alerts/0123"), 409, "2 alerts begin with 0123: 0123aa, 0123bb")


def test_what_people_do_is_an_event_of_theirs_and_the_answer_is_the_new_state(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    raised(empty_store)
    until = datetime.now(UTC) + timedelta(days=7)
    done: list[tuple[str, dict[str, Any], str]] = [
        ("acknowledged", {"note": "I look"}, "acknowledged"),
        ("assigned", {"assignee": "bob"}, "acknowledged"),
        ("due", {"due": "2027-01-31"}, "acknowledged"),
        ("confirmed", {}, "confirmed"),
        ("noted", {"note": "see 12345"}, "confirmed"),
        ("ignored", {"note": "so be it", "until": until.isoformat()}, "ignored"),
        ("ignored", {"note": "for good"}, "ignored"),
        ("reopened", {}, "open"),
        ("wrong", {"note": "throttled"}, "wrong"),
    ]
    for saw, (action, said, status) in enumerate(done):
        answer = change(client, action, saw, **said)
        assert answer.status_code == 201, answer.text
        assert answer.headers["Location"] == f"/api/v1/alerts/{ALERT}"
        assert answer.json()["alert"]["status"] == status
        assert answer.json() == client.get(f"/alerts/{ALERT}").json()
    events = empty_store.alert_events(ALERT)
    assert [event.number for event in events] == list(range(len(done) + 1))
    assert {event.author for event in events[1:]} == {"alice"}
    assert all(one.at < other.at for one, other in pairwise(events[1:]))
    alert = client.get(f"/alerts/{ALERT}").json()["alert"]
    assert (alert["assignee"], alert["due"], alert["ignored_until"]) == ("bob", "2027-01-31", None)


def test_what_happened_unseen_is_a_conflict_that_says_who_did_what(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    raised(empty_store)
    assert change(client, "acknowledged", 0, who="bob").status_code == 201
    assert change(client, "ignored", 1, who="bob", note="known", until="2100-01-01T00:00:00Z").status_code == 201
    late = change(client, "wrong", 0, note="throttled")
    assert_problem(late, 409, "meanwhile bob acknowledged it; bob ignored it until 2100-01-01: known")
    assert "send 2 as the last event seen" in late.json()["remedy"]
    assert_problem(
        change(client, "wrong", 7, note="throttled"), 409, "there is no event 7 of this alert: the newest is 2"
    )
    assert [event.author for event in empty_store.alert_events(ALERT)] == ["alice", "bob", "bob"]
    assert change(client, "wrong", 2, note="throttled").status_code == 201


def test_instructions_counted_meanwhile_are_no_conflict(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    raised(empty_store)
    explained = next_event(empty_store.alert_events(ALERT), AlertAction.EXPLAINED, ANALYST)
    add_event(empty_store, explained)
    first = change(client, "acknowledged", 0, note="I ask upstream")
    assert (first.status_code, first.json()["alert"]["status"]) == (201, "acknowledged")
    assert change(client, "acknowledged", 0, note="I ask upstream").json() == first.json()
    assert [event.action for event in empty_store.alert_events(ALERT)] == ["raised", "explained", "acknowledged"]
    assert_problem(change(client, "wrong", 1, note="throttled"), 409, "meanwhile alice acknowledged it")


def test_the_same_again_of_the_same_person_is_no_conflict_and_happens_once(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    raised(empty_store)
    first = change(client, "noted", 0, note="see 12345")
    again = change(client, "noted", 0, note="see 12345")
    assert (again.status_code, again.json()) == (201, first.json())
    assert_problem(change(client, "noted", 0, note="see 12346"), 409, "alice added a note: see 12345")
    assert_problem(change(client, "noted", 0, note="see 12345", who="bob"), 409)
    assert len(empty_store.alert_events(ALERT)) == 2


@pytest.mark.parametrize(
    ("action", "said", "says"),
    [
        ("raised", {}, "body.action"),
        ("grew", {}, "body.action"),
        ("fixed", {}, "body.action"),
        ("ignored", {}, "`ignored` needs a reason"),
        ("wrong", {"note": " "}, "`wrong` needs a reason"),
        ("noted", {}, "`noted` needs a note"),
        ("ignored", {"note": "so", "until": "2020-01-01T00:00:00Z"}, "2020-01-01 00:00 UTC has passed"),
        ("ignored", {"note": "so", "until": "2027-01-01T00:00:00"}, "body.until"),
        ("ignored", {"note": "so", "until": "9999-01-01T00:00:00Z"}, "body.until"),
        ("acknowledged", {"until": "2100-01-01T00:00:00Z"}, "`until` belongs to `ignored`, not to `acknowledged`"),
        ("noted", {"note": "x" * 4001}, "body.note"),
        ("due", {"due": "soon"}, "body.due"),
        ("noted", {"note": "x", "author": "root"}, "body.author"),
        ("noted", {"note": "x", "saw": -1}, "body.saw"),
    ],
)
def test_what_is_nothing_whole_is_refused_in_words(
    client: httpx2.Client, empty_store: ClickHouseStore, action: str, said: dict[str, Any], says: str
) -> None:
    raised(empty_store)
    assert_problem(change(client, action, **{"saw": 0, **said}), 422, says)
    assert len(empty_store.alert_events(ALERT)) == 1


def test_what_makes_no_sense_of_an_alert_as_it_is_is_refused_with_what_may_be_done(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    raised(empty_store, (AlertAction.FIXED, {"fixed_in": "1.2"}))
    refused = change(client, "acknowledged", 1)
    assert_problem(refused, 409, f"alert {ALERT} is fixed in 1.2: it cannot be acknowledged")
    assert refused.json()["remedy"] == "it can be reopened, assigned, noted, due"
    assert_problem(change(client, "reopened", 0), 409, "meanwhile alice reported it fixed in 1.2")
    assert change(client, "reopened", 1).status_code == 201
    assert_problem(change(client, "reopened", 2), 409, "is open: it cannot be reopened")
    assert_problem(change(client, "noted", 0, of="0" * 16, note="x"), 404, "there is no alert 0000000000000000")


def test_who_may_not_ask_for_runs_may_not_handle_alerts(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    raised(empty_store)
    body = {"action": "acknowledged", "saw": 0}
    assert_problem(client.post(f"/alerts/{ALERT}/events", json=body), 401)
    assert_problem(client.post(f"/alerts/{ALERT}/events", json=body, headers=token("a run")), 403)
    assert len(empty_store.alert_events(ALERT)) == 1


def test_of_two_who_write_at_once_one_learns_of_the_other_and_each_number_is_one_event(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    raised(empty_store)
    together = threading.Barrier(2)
    written: list[AlertEvent] = []
    statuses: list[int] = []
    add = empty_store.add_alert_event

    def noting(event: AlertEvent) -> None:
        written.append(event)
        add(event)

    empty_store.add_alert_event = noting  # type: ignore[method-assign]

    def write(name: str) -> None:
        for saw in range(5):
            together.wait(60)
            statuses.append(change(client, "noted", saw, who=name, note=f"{name} {saw}").status_code)

    threads = [threading.Thread(target=write, args=(name,)) for name in ("alice", "bob")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [201] * 5 + [409] * 5
    assert [event.number for event in written] == [1, 2, 3, 4, 5]
    assert empty_store.alert_events(ALERT)[1:] == written


def test_a_finding_raises_an_alert_grows_it_and_is_reported_once(empty_store: ClickHouseStore) -> None:
    with one_at_a_time:
        first = add_finding(empty_store, a_cause(), a_finding())
        assert add_finding(empty_store, a_cause(), a_finding()) is None
        more = add_finding(empty_store, a_cause(), a_finding("two", case_id=ECDSA))
        assert add_finding(empty_store, a_cause(), a_finding()) is None
        other = add_finding(empty_store, a_cause("1.2"), a_finding())
    found = [one for one in (first, more, other) if one]
    assert [(one.action, one.number, one.author) for one in found] == [
        ("raised", 0, ANALYST),
        ("grew", 1, ANALYST),
        ("raised", 0, ANALYST),
    ]
    assert empty_store.alert_events(ALERT) == [first, more]


def test_what_was_found_and_not_written_is_found_again(
    empty_store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed before the event is written, the next one who looks raises the same alert."""

    def killed(_: AlertEvent) -> None:
        raise InterruptedError

    with monkeypatch.context() as dying:
        dying.setattr(empty_store, "add_alert_event", killed)
        with pytest.raises(InterruptedError):
            add_finding(empty_store, a_cause(), a_finding())
    assert empty_store.alert_events(ALERT) == []
    event = add_finding(empty_store, a_cause(), a_finding())
    assert event is not None
    assert empty_store.alert_events(ALERT) == [event]


def test_an_event_is_behind_all_others_even_where_the_clock_was_set_back(
    empty_store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    class SetBack(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> "SetBack":
            return cls(2026, 1, 1, 11, 59, 59, 123456, tzinfo=tz)

    monkeypatch.setattr(alert_events, "datetime", SetBack)
    raised(empty_store)
    for number in (1, 2):
        events = empty_store.alert_events(ALERT)
        add_event(empty_store, next_event(events, AlertAction.NOTED, "alice", note="x"))
        assert empty_store.alert_events(ALERT)[-1].at == NOON + timedelta(milliseconds=number)


def test_every_event_is_put_into_words() -> None:
    until = NOON + timedelta(days=40)
    events = [
        an_alert_event(),
        an_alert_event(AlertAction.GREW, 1),
        an_alert_event(AlertAction.FIXED, 2, fixed_in="1.2", author=ANALYST),
        an_alert_event(AlertAction.FIXED, 3),
        an_alert_event(AlertAction.ACKNOWLEDGED, 4, note="I look"),
        an_alert_event(AlertAction.CONFIRMED, 5),
        an_alert_event(AlertAction.IGNORED, 6, until=until),
        an_alert_event(AlertAction.IGNORED, 7),
        an_alert_event(AlertAction.WRONG, 8),
        an_alert_event(AlertAction.REOPENED, 9),
        an_alert_event(AlertAction.ASSIGNED, 10, assignee="bob"),
        an_alert_event(AlertAction.ASSIGNED, 11),
        an_alert_event(AlertAction.NOTED, 12),
        an_alert_event(AlertAction.DUE, 13, due=NOON.date()),
        an_alert_event(AlertAction.DUE, 14),
        an_alert_event(AlertAction.EXPLAINED, 15, author=ANALYST),
    ]
    assert {event.action for event in events} == set(AlertAction)
    assert [event_words(event) for event in events] == [
        "alice raised it",
        "alice added new findings",
        "kexbench reported it fixed in 1.2",
        "alice reported it fixed",
        "alice acknowledged it: I look",
        "alice confirmed it",
        "alice ignored it until 2026-02-10 12:00: because",
        "alice ignored it permanently: because",
        "alice marked it as a false positive: because",
        "alice reopened it",
        "alice assigned it to bob",
        "alice unassigned it",
        "alice added a note: because",
        "alice set the due date to 2026-01-01",
        "alice removed the due date",
        "kexbench counted it function by function",
    ]


def test_screenings_are_listed_newest_first_and_of_each_run(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    empty_store.add_run(a_run("unjudged"))
    for minutes, run_id in enumerate(("one", "two", "three")):
        empty_store.add_screening(a_screening(run_id, minutes=minutes))
    page = client.get("/screenings", params={"limit": 2}).json()
    assert [one["run_id"] for one in page["screenings"]] == ["three", "two"]
    rest = client.get("/screenings", params={"before": page["next_before"]}).json()
    assert ([one["run_id"] for one in rest["screenings"]], rest["next_before"]) == (["one"], None)
    assert client.get("/runs/one/screening").json() == a_screening("one").model_dump(mode="json")
    assert_problem(client.get("/runs/unjudged/screening"), 404, "run unjudged was not screened")
    assert_problem(client.get("/runs/unknown/screening"), 404, "there is no run unknown")
