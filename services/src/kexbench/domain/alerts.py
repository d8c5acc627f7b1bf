"""Alerts: regressions of one cause. What happens to one is a sequence of numbered events; its state follows from it."""

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from enum import StrEnum
from typing import Literal, Self

from pydantic import Field, model_validator

from kexbench.domain.canonical import content_hash
from kexbench.domain.frozen import Frozen
from kexbench.domain.kits import Library
from kexbench.domain.moments import Moment
from kexbench.domain.upgrades import Move, Side
from kexbench.domain.verdicts import RELEVANT

ANALYST = "kexbench"
"""The author of what nobody did by hand."""
NOTE_MAX = 4000
ASSIGNEE_MAX = 200
CHANNEL_NAME = r"^[a-z0-9-]{1,63}$"


class AlertRule(Frozen):
    """What a spec says of its alerts."""

    relevant: float = Field(RELEVANT, description="smaller regressions are not told, as a share")
    notify: tuple[str, ...] = Field((), description="names of channels")
    confirm_invocations: int = Field(30, description="of the run that has to confirm a suspicion")
    stale_after_s: int | None = Field(None, description="without a finished run for so long it is told; null never")


class AlertKind(StrEnum):
    UPGRADE = "upgrade"
    """A version of a library costs more than the one before."""
    STALE = "stale"
    """Something that should be measured no longer is."""


class Cause(Frozen):
    """What makes regressions one alert."""

    kind: AlertKind
    library: Library | None = Field(description="of an upgrade")
    before: str = Field(description="of an upgrade the version before, else empty")
    after: str = Field(description="of an upgrade the version that costs more; of what is stale, what broke it")

    @property
    def alert_id(self) -> str:
        return content_hash([self.kind, self.library, self.before, self.after], length=16)


class AlertCell(Frozen):
    """One case on one host kind that costs more."""

    spec_name: str
    case_id: str
    title: str
    pool: str
    cpu_model: str
    move: Move
    side: Side = Field(description="which side's CPU time moved")


class Finding(Frozen):
    """What one analysis found: of an upgrade what a confirming run showed, all of it from that run."""

    spec_names: tuple[str, ...]
    sentence: str = Field(description="what moved, how much, how sure, on which side, and what the cells share")
    cells: tuple[AlertCell, ...]
    run_ids: tuple[str, ...] = Field(description="the confirming run first")
    notify: tuple[str, ...] = Field(description="names of channels")
    subjects: tuple[str, str] | None = Field(
        None, description="of an upgrade the unique names of both ends, since others may have their versions too"
    )


class AlertAction(StrEnum):
    """What an event does. The first three are the analyst's alone."""

    RAISED = "raised"
    GREW = "grew"
    """More was found of the same cause. What was fixed is open again."""
    FIXED = "fixed"
    ACKNOWLEDGED = "acknowledged"
    CONFIRMED = "confirmed"
    IGNORED = "ignored"
    WRONG = "wrong"
    REOPENED = "reopened"
    ASSIGNED = "assigned"
    NOTED = "noted"
    DUE = "due"


Status = Literal["open", "acknowledged", "confirmed", "fixed", "ignored", "wrong"]
_STATUS: dict[AlertAction, Status] = {
    AlertAction.RAISED: "open",
    AlertAction.FIXED: "fixed",
    AlertAction.ACKNOWLEDGED: "acknowledged",
    AlertAction.CONFIRMED: "confirmed",
    AlertAction.IGNORED: "ignored",
    AlertAction.WRONG: "wrong",
    AlertAction.REOPENED: "open",
}
DECIDING = (*_STATUS, AlertAction.GREW)
"""The actions that a status follows from."""
SETTLED: tuple[Status, ...] = ("fixed", "ignored", "wrong")
"""Nobody has to do anything."""
UNSETTLED: tuple[Status, ...] = ("open", "acknowledged", "confirmed")
_ALLOWED: dict[AlertAction, tuple[Status, ...]] = {
    AlertAction.ACKNOWLEDGED: ("open",),
    AlertAction.CONFIRMED: ("open", "acknowledged"),
    AlertAction.IGNORED: (*UNSETTLED, "ignored"),
    AlertAction.WRONG: (*UNSETTLED, "ignored"),
    AlertAction.REOPENED: ("acknowledged", "confirmed", *SETTLED),
    AlertAction.ASSIGNED: (*UNSETTLED, *SETTLED),
    AlertAction.NOTED: (*UNSETTLED, *SETTLED),
    AlertAction.DUE: (*UNSETTLED, *SETTLED),
}
"""The statuses in which people may do something. Ignored again: until another moment, for another reason."""
_OF_ONE_ACTION = {
    "until": AlertAction.IGNORED,
    "assignee": AlertAction.ASSIGNED,
    "due": AlertAction.DUE,
    "fixed_in": AlertAction.FIXED,
}
_WITH_A_NOTE = {
    AlertAction.IGNORED: "a reason in its note",
    AlertAction.WRONG: "a reason in its note",
    AlertAction.NOTED: "a note",
}


class AlertEvent(Frozen):
    """One thing that happened to an alert. `number` counts them from 0; who adds one says which was the last that they
    saw, so that nobody overrules what they have not read."""

    alert_id: str
    number: int = Field(ge=0)
    at: Moment
    author: str
    action: AlertAction
    note: str = Field("", max_length=NOTE_MAX)
    cause: Cause | None = Field(None, description="of `raised`")
    finding: Finding | None = Field(None, description="of `raised` and `grew`")
    fixed_in: str = Field("", description="of `fixed`: the version that recovered; empty where it is of none")
    until: Moment | None = Field(None, description="of `ignored`: when it is open again; null for never")
    assignee: str = Field("", max_length=ASSIGNEE_MAX, description="of `assigned`; empty for nobody")
    due: date | None = Field(None, description="of `due`; null for no day")

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.action is AlertAction.RAISED) != (self.number == 0):
            raise ValueError("`raised`, and nothing else, is the first event")
        if (self.action is AlertAction.RAISED) != (self.cause is not None):
            raise ValueError("`raised`, and nothing else, has a cause")
        if self.cause and self.cause.alert_id != self.alert_id:
            raise ValueError(f"the cause is that of alert {self.cause.alert_id}, not {self.alert_id}")
        if (self.action in (AlertAction.RAISED, AlertAction.GREW)) != (self.finding is not None):
            raise ValueError("`raised` and `grew`, and nothing else, have a finding")
        for field, action in _OF_ONE_ACTION.items():
            if getattr(self, field) and self.action is not action:
                raise ValueError(f"`{field}` is of `{action}`, not of `{self.action}`")
        if self.action in _WITH_A_NOTE and not self.note.strip():
            raise ValueError(f"`{self.action}` needs {_WITH_A_NOTE[self.action]}")
        return self


class Alert(Frozen):
    """An alert as it is now."""

    alert_id: str
    cause: Cause
    status: Status
    version: int = Field(description="the number of its last event")
    raised_at: Moment
    changed_at: Moment
    sentence: str
    spec_names: tuple[str, ...]
    cells: tuple[AlertCell, ...]
    run_ids: tuple[str, ...]
    notify: tuple[str, ...]
    subjects: tuple[str, str] | None = Field(
        None, description="of an upgrade the unique names of both ends, as they were found last; null where not known"
    )
    assignee: str
    due: date | None
    ignored_until: Moment | None = Field(description="of one that is ignored; null for good")
    fixed_in: str = Field(description="of one that is fixed: the version that recovered")


def alert_of(events: Iterable[AlertEvent], now: datetime) -> Alert:
    """The state that events lead to, in whatever order they arrive and however often each. ValueError without the
    first event."""
    ordered = _in_order(events)
    if not ordered or ordered[0].cause is None:
        raise ValueError("an alert begins with the event that raised it")
    first, last = ordered[0], ordered[-1]
    assert first.cause is not None
    found = [event.finding for event in ordered if event.finding]
    status = status_of(((event.action, event.until) for event in ordered), now)
    newest = {event.action: event for event in ordered}
    decided = next(event for event in reversed(ordered) if event.action in _STATUS)
    return Alert(
        alert_id=first.alert_id,
        cause=first.cause,
        status=status,
        version=last.number,
        raised_at=first.at,
        changed_at=last.at,
        sentence=_fullest(ordered).sentence,
        spec_names=_each_once(name for one in found for name in one.spec_names),
        cells=_cells(found),
        run_ids=_each_once(run_id for one in found for run_id in one.run_ids),
        notify=_each_once(name for one in found for name in one.notify),
        subjects=next((one.subjects for one in reversed(found) if one.subjects), None),
        assignee=newest.get(AlertAction.ASSIGNED, first).assignee,
        due=newest.get(AlertAction.DUE, first).due,
        ignored_until=decided.until if status == "ignored" else None,
        fixed_in=decided.fixed_in if status == "fixed" else "",
    )


def _fullest(ordered: Sequence[AlertEvent]) -> Finding:
    """Of what was found since the alert was last open again that with the most cells, the newest of several: it knows
    best what they share."""
    found: list[Finding] = []
    over = False
    for event in ordered:
        if event.finding:
            found = [event.finding] if over else [*found, event.finding]
            over = False
        over = over or event.action is AlertAction.FIXED
    return max(reversed(found), key=lambda one: len(one.cells))


def status_of(steps: Iterable[tuple[AlertAction, datetime | None]], now: datetime) -> Status:
    """What actions lead to, given in their order, each with when it is over. What is fixed and grows is open: of what
    was found since, nothing says that it is fixed. So is what was ignored until a moment that has come."""
    status: Status = "open"
    over: datetime | None = None
    for action, until in steps:
        if action in _STATUS:
            status, over = _STATUS[action], until
        elif action is AlertAction.GREW and status == "fixed":
            status = "open"
    return "open" if over is not None and over <= now else status


def actions_in(status: Status) -> tuple[AlertAction, ...]:
    """What people may do to an alert of this status."""
    return tuple(action for action, statuses in _ALLOWED.items() if status in statuses)


def _in_order(events: Iterable[AlertEvent]) -> list[AlertEvent]:
    """Each once. Should two have taken the same number, the earlier has it, whichever arrived first."""
    found: dict[int, AlertEvent] = {}
    for event in events:
        known = found.setdefault(event.number, event)
        if known != event:
            found[event.number] = min(known, event, key=lambda one: (one.at, one.model_dump_json()))
    return [event for _, event in sorted(found.items())]


def _cells(found: Iterable[Finding]) -> tuple[AlertCell, ...]:
    """Of each case on a host kind what was found last; one that two specs measure counts once."""
    cells = {(cell.case_id, cell.pool, cell.cpu_model): cell for finding in found for cell in finding.cells}
    return tuple(cells.values())


def _each_once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
