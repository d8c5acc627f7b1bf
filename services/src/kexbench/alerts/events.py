"""The one place where something happens to alerts, whoever does it, and the words for what happened."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any

from kexbench.domain.alerts import ANALYST, Alert, AlertAction, AlertEvent, Cause, Finding, alert_of
from kexbench.domain.moments import Moment
from kexbench.store.port import AlertStore, Store

_TICK = timedelta(milliseconds=1)
"""As fine as the store's times are."""
_DONE = {
    AlertAction.GREW: "found more of it",
    AlertAction.WRONG: "called it wrong",
    AlertAction.NOTED: "noted",
}


def add_event(store: AlertStore, event: AlertEvent) -> None:
    """Write what happened. What is to be told of it, whoever sends notifications finds by the event itself, so that a
    kill in between loses nothing. For who holds `one_at_a_time`."""
    store.add_alert_event(event)


def add_finding(store: Store, cause: Cause, finding: Finding) -> AlertEvent | None:
    """Raise the alert of a cause, or let it grow. None, and nothing happens, where the same was found before. For who
    holds `one_at_a_time`."""
    events = store.alert_events(cause.alert_id)
    if any(event.finding == finding for event in events):
        return None
    if events:
        event = next_event(events, AlertAction.GREW, ANALYST, finding=finding)
    else:
        event = AlertEvent(
            alert_id=cause.alert_id,
            number=0,
            at=_behind([], datetime.now(UTC)),
            author=ANALYST,
            action=AlertAction.RAISED,
            cause=cause,
            finding=finding,
        )
    add_event(store, event)
    return event


def next_event(events: Sequence[AlertEvent], action: AlertAction, author: str, **said: Any) -> AlertEvent:
    """What happens to an alert behind all that happened, even where the clock was set back; `said` are fields of the
    event. Raises ValidationError where the action does not go with them."""
    return AlertEvent(
        alert_id=events[0].alert_id,
        number=events[-1].number + 1,
        at=_behind(events, datetime.now(UTC)),
        author=author,
        action=action,
        **said,
    )


def alerts_of(store: AlertStore, alert_ids: Sequence[str], now: datetime) -> list[Alert]:
    """Alerts as they are now, in the order of their ids."""
    by_alert = groupby(store.events_of_alerts(alert_ids), key=lambda event: event.alert_id)
    found = {alert_id: alert_of(events, now) for alert_id, events in by_alert}
    return [found[alert_id] for alert_id in alert_ids]


def event_words(event: AlertEvent) -> str:
    """Who did what, and what they said: `alice ignored it until 2026-02-01: it is the new compiler`."""
    done = f"{event.author} {_done(event)}"
    return f"{done}: {event.note}" if event.note else done


def _done(event: AlertEvent) -> str:
    if event.action is AlertAction.FIXED:
        return f"found it fixed in {event.fixed_in}" if event.fixed_in else "found it fixed"
    if event.action is AlertAction.IGNORED:
        return f"ignored it until {moment_words(event.until)}" if event.until else "ignored it for good"
    if event.action is AlertAction.ASSIGNED:
        return f"assigned it to {event.assignee or 'nobody'}"
    if event.action is AlertAction.DUE:
        return f"set it due {event.due:%Y-%m-%d}" if event.due else "took its due date away"
    return _DONE.get(event.action, f"{event.action} it")


def moment_words(moment: datetime) -> str:
    """A day alone, where it is the beginning of one."""
    moment = moment.astimezone(UTC)
    return f"{moment:%Y-%m-%d}" if (moment.hour, moment.minute) == (0, 0) else f"{moment:%Y-%m-%d %H:%M}"


def _behind(events: Sequence[AlertEvent], now: datetime) -> Moment:
    now = now.replace(microsecond=now.microsecond // 1000 * 1000)
    return max([now, *(event.at + _TICK for event in events)])
