"""What a store tells of notifications: as they were written, which are open, and which events have none yet."""

from datetime import timedelta

from kexbench.domain.alerts import AlertAction
from kexbench.domain.notifications import Link, SendingState
from kexbench.store.port import Store
from tests.builders import NOON, a_cause, a_notification, a_sending, an_alert_event

HOSTILE = "it's {so:String} 'x' \\ \n «Z» ; DROP TABLE notifications; --"


def test_an_empty_store_has_nothing_to_tell(store: Store) -> None:
    assert (store.notifications(5), store.open_notifications(20), store.notified(["x"])) == ([], [], set())
    assert (store.unnotified_events(NOON), store.sendings(["x"]), store.sendings([], NOON)) == (
        [],
        [],
        [],
    )
    store.add_notifications([])
    assert store.notifications(5) == []


def test_notifications_and_attempts_come_back_as_they_were_however_often_they_are_written(store: Store) -> None:
    said = {"title": HOSTILE, "text": HOSTILE, "markdown": HOSTILE, "links": (Link(text=HOSTILE, path="/x"),)}
    first, second = a_notification(0).model_copy(update=said), a_notification(1)
    begun, failed = (
        a_sending(first, second, state=state, said=words)
        for state, words in ((SendingState.BEGUN, ""), (SendingState.FAILED, HOSTILE))
    )
    for _ in range(3):
        store.add_notifications([first, second])
        store.add_sending(begun)
        store.add_sending(failed)
        assert store.notifications(5) == [second, first]
        assert store.notified([first.notification_id, "x"]) == {first.notification_id}
        of_first = store.sendings([first.notification_id])
        assert sorted(of_first, key=lambda one: one.state) == [begun, failed]
    assert store.sendings(["x"]) == []
    assert len(store.sendings(["x"], NOON)) == 2
    assert store.sendings(["x"], NOON + timedelta(seconds=1)) == []


def test_a_notification_is_open_until_it_is_sent_by_itself_or_with_others_or_was_tried_often(store: Store) -> None:
    alone, together, failing, begun = (a_notification(number) for number in range(4))
    store.add_notifications([begun, failing, together, alone])
    for sending in (a_sending(alone), a_sending(together, a_notification(9), minutes=1)):
        store.add_sending(sending.model_copy(update={"state": SendingState.BEGUN}))
        assert store.open_notifications(3) == [alone, together, failing, begun]
    for sending in (a_sending(alone), a_sending(together, a_notification(9), minutes=1)):
        store.add_sending(sending)
    assert store.open_notifications(3) == [failing, begun]
    for minutes in range(3):
        assert failing in store.open_notifications(3)
        for state in (SendingState.BEGUN, SendingState.FAILED):
            store.add_sending(a_sending(failing, state=state, minutes=minutes))
    assert store.open_notifications(3) == [begun]


def test_an_event_is_unnotified_until_a_channel_has_a_notification_of_it_unless_it_is_old(store: Store) -> None:
    alert_id = a_cause().alert_id
    for event in (an_alert_event(), an_alert_event(AlertAction.NOTED, 1), an_alert_event(AlertAction.FIXED, 2)):
        store.add_alert_event(event)
    assert store.unnotified_events(NOON) == [(alert_id, 0), (alert_id, 1), (alert_id, 2)]
    store.add_notifications([a_notification(1)])
    assert store.unnotified_events(NOON) == [(alert_id, 0), (alert_id, 2)]
    assert store.unnotified_events(NOON + timedelta(seconds=1)) == [(alert_id, 2)]


def test_notifications_are_read_page_by_page_newest_first_without_gaps(store: Store) -> None:
    written = [a_notification(number, minutes=number // 3) for number in range(7)]
    store.add_notifications(written)
    seen: list[str] = []
    page = store.notifications(2)
    while page:
        seen += [one.notification_id for one in page]
        page = store.notifications(2, page[-1].created_at)
    assert sorted(seen) == sorted(one.notification_id for one in written)
