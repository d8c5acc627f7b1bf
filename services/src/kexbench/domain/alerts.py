"""Alerts: regressions of one cause. What happens to one is a sequence of numbered events; its state follows from them."""

from collections.abc import Iterable
from datetime import date, datetime
from enum import StrEnum
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from kexbench.domain.canonical import content_hash
from kexbench.domain.kits import Library
from kexbench.domain.moments import Moment
from kexbench.domain.upgrades import Move, Side

ANALYST = "kexbench"
"""The author of what nobody did by hand."""
NOTE_MAX = 4000
ASSIGNEE_MAX = 200


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
    raise NotImplementedError
