"""The outbox of notifications. The sender takes one message at a time.

A request for the next message first writes the missing notifications of recent events. So every stored event is
notified, even if the process that stored it was killed right afterwards.
"""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from itertools import groupby
from typing import Annotated, cast

from fastapi import Depends, Query, Request

from kexbench.api.access import ADMITTED
from kexbench.api.alert_models import NotificationPage, NotificationView, ToSend
from kexbench.api.caching import KeptRoute
from kexbench.api.dependencies import TheNotificationStore, TheStore
from kexbench.api.gate import api_router
from kexbench.api.problems import ProblemError
from kexbench.api.reading import Before
from kexbench.api.uploading import router as uploads
from kexbench.domain.alerts import Alert, AlertEvent, alert_of
from kexbench.domain.moments import in_milliseconds
from kexbench.domain.notifications import ChannelRule, Happening, Notification, Sending, SendingState
from kexbench.notify.outbox import HOUR, MAX_TRIES, Tries, due
from kexbench.notify.writing import improvements_of, notifications_of
from kexbench.queue.runs import one_at_a_time
from kexbench.store.port import NotificationStore, Store

router = api_router(route_class=KeptRoute, tags=["notifications"], responses=uploads.responses)
LASTING = timedelta(days=3)
"""Older events are no longer notified. A new channel receives nothing older either."""
_SCREENINGS = 200
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
    """Notifications about alerts, newest first, with their delivery states."""
    page = store.notifications(limit, before)
    tries = Tries(store.sendings([notification.notification_id for notification in page]))
    rules = {rule.name: rule for rule in channels}
    return NotificationPage(
        notifications=[NotificationView.of(notification, tries, rules) for notification in page],
        channels=sorted(rules),
        next_before=page[-1].created_at if len(page) >= limit else None,
    )


@router.post("/notifications/next", operation_id="next_notification", dependencies=ADMITTED)
def next_notification(store: TheStore, channels: TheChannels) -> ToSend | None:
    """Start the next due message, which then counts as tried. Null if none is due."""
    return next_message(store, channels, datetime.now(UTC))


@router.post("/notifications/sendings", operation_id="note_what_was_sent", status_code=204, dependencies=ADMITTED)
def note_what_was_sent(store: TheNotificationStore, sending: Sending) -> None:
    """Record the result of a started message. Repeating it changes nothing."""
    note_sending(store, sending)


def note_sending(store: NotificationStore, sending: Sending) -> None:
    """Raises a 422 problem if the message was not started here."""
    begun = sending.model_copy(update={"state": SendingState.BEGUN, "said": ""})
    if begun not in store.sendings(sending.notification_ids):
        detail = f"message {sending.message_id} was not started at this time"
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, detail)
    store.add_sending(sending)


def next_message(store: Store, channels: Channels, now: datetime) -> ToSend | None:
    """Start the next due message. Simultaneous callers get different messages."""
    with one_at_a_time:
        enqueue_missing(store, channels, now)
        waiting = store.open_notifications(MAX_TRIES)
        if not waiting:
            return None
        sendings = store.sendings([notification.notification_id for notification in waiting], now - 24 * HOUR)
        messages = due(waiting, sendings, {rule.name: rule for rule in channels}, now)
        if not messages:
            return None
        message = messages[0]
        sending = Sending(
            message_id=message.message_id,
            channel=message.channel,
            notification_ids=message.ids,
            at=in_milliseconds(now),
            state=SendingState.BEGUN,
        )
        store.add_sending(sending)
        run_ids = _runs_of(store, message.notifications)
        return ToSend(sending=sending, notifications=list(message.notifications), run_ids=run_ids)


def _runs_of(store: Store, notifications: Collection[Notification]) -> list[str]:
    """The runs of the findings that notifications report."""
    reported = {(notification.alert_id, notification.number) for notification in notifications if notification.alert_id}
    events = store.events_of_alerts({alert_id for alert_id, _ in reported}) if reported else []
    findings = [event.finding for event in events if event.finding and (event.alert_id, event.number) in reported]
    return sorted({run_id for finding in findings for run_id in finding.run_ids})


def enqueue(store: NotificationStore, channels: Channels, alert: Alert, event: AlertEvent) -> None:
    """Write the notifications of one event. `alert` is its state after the event. Repeating it changes nothing."""
    store.add_notifications(notifications_of(event, alert, channels))


def enqueue_missing(store: Store, channels: Channels, now: datetime) -> None:
    """Write the missing notifications of recent events and improvements."""
    _enqueue_events(store, channels, now)
    if any(Happening.IMPROVED in rule.events for rule in channels):
        _enqueue_improvements(store, channels, now)


def _enqueue_events(store: Store, channels: Channels, now: datetime) -> None:
    missing = set(store.unnotified_events(now - LASTING))
    events = store.events_of_alerts({alert_id for alert_id, _ in missing}) if missing else []
    for _, of_alert in groupby(events, key=lambda event: event.alert_id):
        history: list[AlertEvent] = []
        for event in of_alert:
            history.append(event)
            # An alert without its first event has no known cause.
            if history[0].cause and (event.alert_id, event.number) in missing:
                enqueue(store, channels, alert_of(history, event.at), event)


def _enqueue_improvements(store: Store, channels: Channels, now: datetime) -> None:
    screenings = [screening for screening in store.screenings(_SCREENINGS) if screening.at >= now - LASTING]
    improvements = [message for screening in screenings for message in improvements_of(screening, channels)]
    written = store.notified([message.notification_id for message in improvements]) if improvements else set()
    store.add_notifications([message for message in improvements if message.notification_id not in written])
