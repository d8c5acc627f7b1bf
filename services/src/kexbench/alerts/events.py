"""The only place that writes events of alerts, and their texts."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any

from kexbench import traces
from kexbench.domain.alerts import ANALYST, Alert, AlertAction, AlertEvent, Cause, Finding, alert_of
from kexbench.domain.moments import Moment, in_milliseconds
from kexbench.store.port import AlertStore, Store

_TICK = timedelta(milliseconds=1)
"""The resolution of the store's times."""
_DONE = {
    AlertAction.GREW: "added new findings",
    AlertAction.EXPLAINED: "counted it function by function",
    AlertAction.WRONG: "marked it as a false positive",
    AlertAction.NOTED: "added a note",
}


def add_event(store: AlertStore, event: AlertEvent) -> None:
    """Store an event. The notifier finds it in the store, so a kill in between loses no notification. The caller holds
    `one_at_a_time`."""
    store.add_alert_event(event)


def add_finding(store: Store, cause: Cause, finding: Finding) -> AlertEvent | None:
    """Raise the alert of a cause, or add the finding to it. None if the alert already has the finding. The caller holds
    `one_at_a_time`."""
    events = store.alert_events(cause.alert_id)
    if any(event.finding == finding for event in events):
        return None
    if events:
        event = next_event(events, AlertAction.GREW, ANALYST, finding=finding)
    else:
        event = AlertEvent(
            alert_id=cause.alert_id,
            number=0,
            at=_after([], datetime.now(UTC)),
            author=ANALYST,
            action=AlertAction.RAISED,
            cause=cause,
            finding=finding,
        )
    add_event(store, event)
    for run_id in finding.run_ids:
        facts = {"alert_id": cause.alert_id, "action": str(event.action)}
        traces.add("raise alert", run_id, (event.at, event.at), facts)
    return event


def next_event(events: Sequence[AlertEvent], action: AlertAction, author: str, **fields: Any) -> AlertEvent:
    """The next event of an alert, later than all others even if the clock was set back. `fields` are fields of the
    event. Raises ValidationError if they do not fit the action."""
    return AlertEvent(
        alert_id=events[0].alert_id,
        number=events[-1].number + 1,
        at=_after(events, datetime.now(UTC)),
        author=author,
        action=action,
        **fields,
    )


def alerts_of(store: AlertStore, alert_ids: Sequence[str], now: datetime) -> list[Alert]:
    """Alerts as they are now, in the order of their ids."""
    return alerts_in(store.events_of_alerts(alert_ids), alert_ids, now)


def alerts_in(alert_events: Iterable[AlertEvent], alert_ids: Sequence[str], now: datetime) -> list[Alert]:
    """As `alerts_of`, from their events."""
    by_alert = groupby(alert_events, key=lambda event: event.alert_id)
    alerts = {alert_id: alert_of(events, now) for alert_id, events in by_alert}
    return [alerts[alert_id] for alert_id in alert_ids]


def event_words(event: AlertEvent) -> str:
    """The author, the action and the note: `alice ignored it until 2026-02-01: it is the new compiler`."""
    done = f"{event.author} {_done(event)}"
    return f"{done}: {event.note}" if event.note else done


def _done(event: AlertEvent) -> str:
    if event.action is AlertAction.FIXED:
        return f"reported it fixed in {event.fixed_in}" if event.fixed_in else "reported it fixed"
    if event.action is AlertAction.IGNORED:
        return f"ignored it until {moment_words(event.until)}" if event.until else "ignored it permanently"
    if event.action is AlertAction.ASSIGNED:
        return f"assigned it to {event.assignee}" if event.assignee else "unassigned it"
    if event.action is AlertAction.DUE:
        return f"set the due date to {event.due:%Y-%m-%d}" if event.due else "removed the due date"
    return _DONE.get(event.action, f"{event.action} it")


def moment_words(moment: datetime) -> str:
    """The date, and the time unless it is midnight UTC."""
    moment = moment.astimezone(UTC)
    return f"{moment:%Y-%m-%d}" if (moment.hour, moment.minute) == (0, 0) else f"{moment:%Y-%m-%d %H:%M}"


def _after(events: Sequence[AlertEvent], now: datetime) -> Moment:
    now = in_milliseconds(now)
    return max([now, *(event.at + _TICK for event in events)])
