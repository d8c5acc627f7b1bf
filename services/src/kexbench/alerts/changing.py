"""What people do to an alert: which changes its status allows, and what they have to know first."""

from collections.abc import Iterator, Sequence
from datetime import date

from pydantic import Field, ValidationError

from kexbench.alerts.events import add_event, event_words, next_event
from kexbench.alerts.reading import PeoplesAction, events_of
from kexbench.domain.alerts import (
    ASSIGNEE_MAX,
    NOTE_MAX,
    AlertAction,
    AlertEvent,
    actions_in,
    alert_of,
)
from kexbench.domain.frozen import Frozen
from kexbench.domain.moments import Moment
from kexbench.domain.numbers import Count
from kexbench.domain.refusals import Refusal, RefusalReason
from kexbench.queue.runs import one_at_a_time
from kexbench.store.port import AlertStore


class AlertChange(Frozen):
    """A change of an alert. Leave out fields that the action does not use."""

    action: PeoplesAction
    note: str = Field("", max_length=NOTE_MAX, description="required for `ignored`, `wrong` and `noted`")
    until: Moment | None = Field(None, description="for `ignored`: when it opens again; null for never")
    assignee: str = Field("", max_length=ASSIGNEE_MAX, description="for `assigned`; empty for nobody")
    due: date | None = Field(None, description="for `due`; null for no date")
    saw: Count = Field(
        description="the number of the last event that was read: the change fails if there are later ones"
    )


def _requested_event(events: Sequence[AlertEvent], author: str, change: AlertChange) -> AlertEvent:
    """The requested event. Raises Refusal if it is not valid."""
    try:
        event = next_event(events, change.action, author, **change.model_dump(exclude={"action", "saw"}))
    except ValidationError as error:
        faults = "; ".join(fault["msg"].removeprefix("Value error, ") for fault in error.errors())
        raise Refusal(RefusalReason.UNUSABLE, faults) from None
    if event.until and event.until <= event.at:
        detail = f"{event.until:%Y-%m-%d %H:%M} UTC has passed: the alert would be open again at once"
        raise Refusal(RefusalReason.UNUSABLE, detail, "give a future time, or none to ignore it permanently")
    return event


def _repeats(events: Sequence[AlertEvent], saw: int, event: AlertEvent) -> bool:
    """Whether the same author already did this, having seen as much: the answer was lost."""
    next_event = next(_unseen(events, saw), None)
    fields = {"number", "at"}
    return next_event is not None and next_event.model_dump(exclude=fields) == event.model_dump(exclude=fields)


def _unseen(events: Sequence[AlertEvent], saw: int) -> Iterator[AlertEvent]:
    """Those that a person has to know before a change. Counts of instructions come on their own and decide nothing."""
    return (event for event in events if event.number > saw and event.action is not AlertAction.EXPLAINED)


def _check_seen(events: Sequence[AlertEvent], saw: int) -> None:
    """Raises Refusal with the events since then."""
    newest = events[-1].number
    if saw > newest:
        detail = f"there is no event {saw} of this alert: the newest is {newest}"
        raise Refusal(RefusalReason.CONFLICT, detail, "read it again, then send the number of its last event")
    if missed := list(_unseen(events, saw)):
        detail = f"meanwhile {'; '.join(event_words(event) for event in missed)}"
        remedy = f"read it again; to repeat the change, send {newest} as the last event seen"
        raise Refusal(RefusalReason.CONFLICT, detail, remedy)


def _check_action(events: Sequence[AlertEvent], event: AlertEvent) -> None:
    """Raises Refusal if the status of the alert does not allow the action."""
    current = alert_of(events, event.at)
    if event.action not in actions_in(current.status):
        possible = ", ".join(actions_in(current.status))
        since = f" in {current.fixed_in}" if current.fixed_in else ""
        detail = f"alert {current.alert_id} is {current.status}{since}: it cannot be {event.action}"
        raise Refusal(RefusalReason.CONFLICT, detail, f"it can be {possible}")


def change_alert(store: AlertStore, alert_id: str, author: str, change: AlertChange) -> list[AlertEvent]:
    """All its events, once a change is stored. A change that its author sent before changes nothing. Raises Refusal."""
    with one_at_a_time:
        events = events_of(store, alert_id)
        event = _requested_event(events, author, change)
        if not _repeats(events, change.saw, event):
            _check_seen(events, change.saw)
            _check_action(events, event)
            add_event(store, event)
            events = [*events, event]
    return events
