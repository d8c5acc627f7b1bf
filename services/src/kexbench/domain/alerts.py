"""Alerts: regressions of one cause. What happens to one is a sequence of numbered events; its state follows from them."""

from collections.abc import Callable, Iterable
from datetime import date, datetime
from enum import StrEnum
from typing import Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from kexbench.domain.canonical import content_hash
from kexbench.domain.kits import Library
from kexbench.domain.moments import Moment
from kexbench.domain.upgrades import Move, Side

ANALYST = "kexbench"
"""The author of what nobody did by hand."""
NOTE_MAX = 4000
ASSIGNEE_MAX = 200
Said = TypeVar("Said")


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class AlertRule(_Frozen):
    """What a spec says of its alerts."""

    relevant: float = Field(0.005, description="smaller regressions are not told, as a share")
    notify: tuple[str, ...] = Field((), description="names of channels")
    confirm_invocations: int = Field(30, description="of the run that has to confirm a suspicion")
    stale_after_s: int | None = Field(None, description="without a finished run for so long it is told; null never")


class AlertKind(StrEnum):
    UPGRADE = "upgrade"
    """A version of a library costs more than the one before."""
    STALE = "stale"
    """Something that should be measured no longer is."""


class Cause(_Frozen):
    """What makes regressions one alert."""

    kind: AlertKind
    library: Library | None = Field(description="of an upgrade")
    before: str = Field(description="of an upgrade the version before, else empty")
    after: str = Field(description="of an upgrade the version that costs more; of what is stale, what broke it")

    @property
    def alert_id(self) -> str:
        return content_hash([self.kind, self.library, self.before, self.after], length=16)


class AlertCell(_Frozen):
    """One case on one host kind that costs more."""

    spec_name: str
    case_id: str
    title: str
    pool: str
    cpu_model: str
    move: Move
    side: Side = Field(description="which side's CPU time moved")


class Finding(_Frozen):
    """What one analysis found: of an upgrade what a confirming run showed, all of it from that run."""

    spec_names: tuple[str, ...]
    sentence: str = Field(description="what moved, how much, how sure, on which side, and what the cells share")
    cells: tuple[AlertCell, ...]
    run_ids: tuple[str, ...] = Field(description="the confirming run first")
    notify: tuple[str, ...] = Field(description="names of channels")


class AlertAction(StrEnum):
    """What an event does. The first three are the analyst's alone."""

    RAISED = "raised"
    GREW = "grew"
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
SETTLED: tuple[Status, ...] = ("fixed", "ignored", "wrong")
"""Nobody has to do anything."""


class AlertEvent(_Frozen):
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
    fixed_in: str = Field("", description="of `fixed`: the version that recovered")
    until: Moment | None = Field(None, description="of `ignored`: when it is open again; null for never")
    assignee: str = Field("", max_length=ASSIGNEE_MAX, description="of `assigned`; empty for nobody")
    due: date | None = Field(None, description="of `due`; null for no day")

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.action is AlertAction.RAISED) != (self.cause is not None):
            raise ValueError("`raised`, and nothing else, has a cause")
        if (self.action in (AlertAction.RAISED, AlertAction.GREW)) != (self.finding is not None):
            raise ValueError("`raised` and `grew`, and nothing else, have a finding")
        if self.action in (AlertAction.IGNORED, AlertAction.WRONG) and not self.note.strip():
            raise ValueError(f"`{self.action}` needs a reason in its note")
        return self


class Alert(_Frozen):
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
    assignee: str
    due: date | None
    ignored_until: Moment | None
    fixed_in: str


def alert_of(events: Iterable[AlertEvent], now: datetime) -> Alert:
    """The state that events lead to, in whatever order they arrive and however often each. An alert that was ignored
    until a moment that has come is open. ValueError without the first event."""
    ordered = [event for _, event in sorted({event.number: event for event in events}.items())]
    if not ordered or ordered[0].cause is None:
        raise ValueError("an alert begins with the event that raised it")
    first, last = ordered[0], ordered[-1]
    assert first.cause is not None
    found = [event.finding for event in ordered if event.finding]
    deciding = [event for event in ordered if event.action in _STATUS][-1]
    ignored_until = deciding.until if deciding.action is AlertAction.IGNORED else None
    is_over = ignored_until is not None and ignored_until <= now
    return Alert(
        alert_id=first.alert_id,
        cause=first.cause,
        status="open" if is_over else _STATUS[deciding.action],
        version=last.number,
        raised_at=first.at,
        changed_at=last.at,
        sentence=found[-1].sentence,
        spec_names=_each_once(name for one in found for name in one.spec_names),
        cells=_cells(found),
        run_ids=_each_once(run_id for one in found for run_id in one.run_ids),
        notify=_each_once(name for one in found for name in one.notify),
        assignee=_newest(ordered, AlertAction.ASSIGNED, lambda event: event.assignee, ""),
        due=_newest(ordered, AlertAction.DUE, lambda event: event.due, None),
        ignored_until=ignored_until,
        fixed_in=deciding.fixed_in,
    )


def _cells(found: Iterable[Finding]) -> tuple[AlertCell, ...]:
    """Of each case on a host kind what was found last; one that two specs measure counts once."""
    cells = {(cell.case_id, cell.pool, cell.cpu_model): cell for finding in found for cell in finding.cells}
    return tuple(cells.values())


def _newest(
    events: Iterable[AlertEvent], action: AlertAction, said: Callable[[AlertEvent], Said], otherwise: Said
) -> Said:
    return next((said(event) for event in reversed(list(events)) if event.action is action), otherwise)


def _each_once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
