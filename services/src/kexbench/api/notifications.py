"""The outbox: what people are to be told of alerts is written here, and handed to the sender message by message.

Nobody has to remember to write a notification: whoever asks for the next message has all that happened lately written
first. So an event that was stored is told, whatever was killed behind it.
"""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from itertools import groupby
from typing import Annotated, cast

from fastapi import APIRouter, Depends, Query, Request

from kexbench.api.access import TheCaller, admit
from kexbench.api.alert_models import NotificationPage, NotificationView, ToSend
from kexbench.api.dependencies import TheNotificationStore, TheStore
from kexbench.api.gate import CountedRoute
from kexbench.api.problems import ProblemError
from kexbench.api.reading import Before
from kexbench.api.uploading import router as uploads
from kexbench.domain.alerts import Alert, AlertEvent, alert_of
from kexbench.domain.notifications import ChannelRule, Happening, Sending, SendingState
from kexbench.notify.outbox import HOUR, MAX_TRIES, Tries, due
from kexbench.notify.writing import improvements_of, notifications_of
from kexbench.queue.runs import one_at_a_time
from kexbench.store.port import NotificationStore, Store

router = APIRouter(route_class=CountedRoute, tags=["notifications"], responses=uploads.responses)
LASTING = timedelta(days=3)
"""What happened before, nobody is told of any more: neither those who name a channel later."""
_JUDGEMENTS = 200
Channels = Collection[ChannelRule]


def _channels(request: Request) -> Channels:
    return cast(Channels, request.app.state.channels)


TheChannels = Annotated[Channels, Depends(_channels)]


@router.get("/notifications", operation_id="notifications")
def notifications(
    store: TheNotificationStore,
    channels: TheChannels,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    before: Before = None,
) -> NotificationPage:
    """What people were or are to be told of alerts, newest first, and how far each is."""
    found = store.notifications(limit, before)
    tries = Tries(store.sendings([one.notification_id for one in found]))
    rules = {rule.name: rule for rule in channels}
    return NotificationPage(
        notifications=[NotificationView.of(one, tries, rules) for one in found],
        channels=sorted(rules),
        next_before=found[-1].created_at if len(found) >= limit else None,
    )


@router.post("/notifications/next", operation_id="next_notification")
def next_notification(store: TheStore, channels: TheChannels, caller: TheCaller) -> ToSend | None:
    """Begin the next message that is due; null where none is. It counts as tried from now on."""
    admit(caller, "dispatcher")
    return next_message(store, channels, datetime.now(UTC))


@router.post("/notifications/sendings", operation_id="note_what_was_sent", status_code=204)
def note_what_was_sent(store: TheNotificationStore, caller: TheCaller, sending: Sending) -> None:
    """Tell what came of a message that was begun. Repeating it changes nothing."""
    admit(caller, "dispatcher")
    note_sending(store, sending)


def note_sending(store: NotificationStore, sending: Sending) -> None:
    """Raises a 422 problem where it was not begun here."""
    begun = sending.model_copy(update={"state": SendingState.BEGUN, "said": ""})
    if begun not in store.sendings(sending.notification_ids):
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, f"message {sending.message_id} was not begun at this time")
    store.add_sending(sending)


def next_message(store: Store, channels: Channels, now: datetime) -> ToSend | None:
    """The next message that is due, begun; of several that ask at once each gets another."""
    with one_at_a_time:
        enqueue_missing(store, channels, now)
        waiting = store.open_notifications(MAX_TRIES)
        if not waiting:
            return None
        sendings = store.sendings([one.notification_id for one in waiting], now - 24 * HOUR)
        found = due(waiting, sendings, {rule.name: rule for rule in channels}, now)
        if not found:
            return None
        message = found[0]
        sending = Sending(
            message_id=message.message_id,
            channel=message.channel,
            notification_ids=message.ids,
            at=now.replace(microsecond=now.microsecond // 1000 * 1000),  # as the store keeps it
            state=SendingState.BEGUN,
        )
        store.add_sending(sending)
        return ToSend(sending=sending, notifications=list(message.notifications))


def enqueue(store: NotificationStore, channels: Channels, alert: Alert, event: AlertEvent) -> None:
    """Write what is to be told of one event; `alert` as the event left it. Writing it again changes nothing."""
    store.add_notifications(notifications_of(event, alert, channels))


def enqueue_missing(store: Store, channels: Channels, now: datetime) -> None:
    """Write what is to be told of all that happened lately and isn't written yet."""
    _enqueue_events(store, channels, now)
    if any(Happening.IMPROVED in rule.events for rule in channels):
        _enqueue_improvements(store, channels, now)


def _enqueue_events(store: Store, channels: Channels, now: datetime) -> None:
    untold = set(store.untold_events(now - LASTING))
    events = store.events_of_alerts({alert_id for alert_id, _ in untold}) if untold else []
    for _, of_alert in groupby(events, key=lambda event: event.alert_id):
        known: list[AlertEvent] = []
        for event in of_alert:
            known.append(event)
            if (
                known[0].cause and (event.alert_id, event.number) in untold
            ):  # of one without a beginning nothing is known
                enqueue(store, channels, alert_of(known, event.at), event)


def _enqueue_improvements(store: Store, channels: Channels, now: datetime) -> None:
    lately = [one for one in store.judgements(_JUDGEMENTS) if one.at >= now - LASTING]
    found = [one for judgement in lately for one in improvements_of(judgement, channels)]
    known = store.notified([one.notification_id for one in found]) if found else set()
    store.add_notifications([one for one in found if one.notification_id not in known])
