"""The outbox in the API: what happened is written for each channel, handed out once, and listed with how far it is."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from kexbench.api.alert_models import ToSend
from kexbench.api.notifications import enqueue_missing, next_message, note_sending
from kexbench.api.problems import ProblemError
from kexbench.domain.alerts import AlertAction
from kexbench.domain.notifications import BY_DAY, ChannelRule, SendingState
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.cluster import ClusterApi, cluster_api
from tests.api.conftest import ClientOf, assert_problem
from tests.builders import NOON, a_notification, a_screening, an_alert_event

TEAM, DAILY = ChannelRule(name="crypto-team"), ChannelRule(name="daily", events=BY_DAY, digest_hour=7)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def api(empty_store: ClickHouseStore, client_of: ClientOf, tmp_path: Path) -> ClusterApi:
    return cluster_api(empty_store, client_of, tmp_path, channels=(TEAM,))


def listed(api: ClusterApi, **query: Any) -> Any:
    answer = api.http.get("/notifications", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def taken(store: ClickHouseStore, now: datetime = NOON, *rules: ChannelRule) -> ToSend:
    found = next_message(store, rules or (TEAM,), now)
    assert found is not None
    return found


@pytest.mark.parametrize("who", ["submitter", "builder one", "pod one job uid", "schedule nightly"])
def test_nobody_but_the_dispatcher_is_handed_messages_and_tells_of_them(api: ClusterApi, who: str) -> None:
    api.store.add_alert_event(an_alert_event())
    sending = taken(api.store).sending.model_dump(mode="json")
    assert_problem(api.ask(who, "POST", "/notifications/next"), 403)
    assert_problem(api.ask(who, "POST", "/notifications/sendings", sending), 403)


def test_what_happened_is_handed_out_once_and_listed_as_sent_once_that_is_said(api: ClusterApi) -> None:
    event = an_alert_event().model_copy(update={"at": datetime.now(UTC)})
    api.store.add_alert_event(event)
    begun = ToSend.model_validate_json(api.ask("dispatcher", "POST", "/notifications/next").content)
    assert api.ask("dispatcher", "POST", "/notifications/next").json() is None
    (waiting,) = listed(api)["notifications"]
    assert (waiting["state"], waiting["tries"], waiting["alert_id"]) == ("waiting", 1, event.alert_id)
    sent = begun.sending.model_copy(update={"state": SendingState.SENT}).model_dump(mode="json")
    for _ in range(2):
        assert api.ask("dispatcher", "POST", "/notifications/sendings", sent).status_code == 204
    found = listed(api)
    assert found["channels"] == ["crypto-team"]
    (notification,) = found["notifications"]
    assert (notification["state"], notification["detail"], notification["title"]) == (
        "sent",
        "",
        begun.notifications[0].title,
    )


def test_what_was_not_begun_cannot_have_been_sent(api: ClusterApi) -> None:
    api.store.add_alert_event(an_alert_event())
    begun = taken(api.store).sending
    other = begun.model_copy(update={"at": NOON + MINUTE, "state": SendingState.SENT}).model_dump(mode="json")
    assert_problem(api.ask("dispatcher", "POST", "/notifications/sendings", other), 422, "was not started at this time")


def test_notifications_are_read_page_by_page(api: ClusterApi) -> None:
    api.store.add_notifications([a_notification(number) for number in range(5)])
    first = listed(api, limit=3)
    second = listed(api, limit=3, before=first["next_before"])
    assert [one["title"] for one in first["notifications"] + second["notifications"]] == [
        f"thing {number}" for number in (4, 3, 2, 1, 0)
    ]
    assert second["next_before"] is None


def test_an_event_that_was_stored_is_announced_whatever_was_killed_behind_it(empty_store: ClickHouseStore) -> None:
    events = [an_alert_event(), an_alert_event(AlertAction.NOTED, 1), an_alert_event(AlertAction.FIXED, 2)]
    for event in reversed(events):
        empty_store.add_alert_event(event)
        for _ in range(2):
            enqueue_missing(empty_store, (TEAM,), NOON)
    found = empty_store.notifications(10)
    assert [(one.number, one.created_at) for one in found] == [(2, events[2].at), (0, events[0].at)]


def test_each_event_is_announced_as_the_alert_was_then(empty_store: ClickHouseStore) -> None:
    for event in (an_alert_event(), an_alert_event(AlertAction.FIXED, 1, fixed_in="1.2")):
        empty_store.add_alert_event(event)
    enqueue_missing(empty_store, (TEAM,), NOON)
    fixed, raised = empty_store.notifications(10)
    assert {"1.1", "1.0", "+5.0%"} <= set(raised.title.replace(":", "").replace(",", "").split())
    assert {"1.2", "1.0"} <= set(fixed.title.split())


def test_who_names_a_channel_is_notified_of_the_last_days_and_not_of_the_past(empty_store: ClickHouseStore) -> None:
    empty_store.add_alert_event(an_alert_event())
    enqueue_missing(empty_store, (TEAM,), NOON + timedelta(days=4))
    assert empty_store.notifications(10) == []
    enqueue_missing(empty_store, (TEAM,), NOON + timedelta(days=2))
    assert len(empty_store.notifications(10)) == 1


def test_improvements_are_written_for_digests_once(empty_store: ClickHouseStore) -> None:
    for run_id, minutes in (("one", 0), ("two", 5)):
        screening = a_screening(run_id, minutes=minutes)
        upgrade = screening.upgrades[0].model_copy(update={"less": 1})
        empty_store.add_screening(screening.model_copy(update={"upgrades": (upgrade,)}))
        enqueue_missing(empty_store, (TEAM, DAILY), NOON + timedelta(hours=1))
    (found,) = empty_store.notifications(10)
    assert (found.channel, found.created_at) == ("daily", NOON)


def test_what_was_begun_and_never_ended_is_handed_out_again_with_the_same_key(empty_store: ClickHouseStore) -> None:
    empty_store.add_alert_event(an_alert_event())
    first = taken(empty_store)
    assert next_message(empty_store, (TEAM,), NOON + 9 * MINUTE) is None
    again = taken(empty_store, NOON + 11 * MINUTE)
    assert again.sending.message_id == first.sending.message_id
    assert again.notifications == first.notifications
    assert again.sending.at != first.sending.at


def test_messages_of_a_day_are_one_and_count_as_sent_together(empty_store: ClickHouseStore) -> None:
    for event in (an_alert_event(), an_alert_event(AlertAction.FIXED, 1)):
        empty_store.add_alert_event(event.model_copy(update={"at": NOON + event.number * MINUTE}))
    rule = DAILY.model_copy(update={"name": "crypto-team"})
    assert next_message(empty_store, (rule,), NOON + timedelta(hours=18)) is None
    begun = taken(empty_store, NOON + timedelta(hours=19), rule)
    assert [one.number for one in begun.notifications] == [0, 1]
    note_sending(empty_store, begun.sending.model_copy(update={"state": SendingState.SENT}))
    assert next_message(empty_store, (rule,), NOON + timedelta(days=5)) is None


def test_the_limit_holds_across_processes(empty_store: ClickHouseStore) -> None:
    """Each asks the same outbox."""
    empty_store.add_notifications([a_notification(number, minutes=0) for number in range(9)])
    rule = TEAM.model_copy(update={"most_per_hour": 3})
    found = [next_message(empty_store, (rule,), NOON + number * MINUTE) for number in range(60)]
    assert [len(one.notifications) for one in found if one] == [1, 1, 7]


def test_a_message_that_names_nothing_known_is_refused(empty_store: ClickHouseStore) -> None:
    empty_store.add_alert_event(an_alert_event())
    begun = taken(empty_store).sending
    with pytest.raises(ProblemError, match="was not started"):
        note_sending(empty_store, begun.model_copy(update={"message_id": "x"}))
