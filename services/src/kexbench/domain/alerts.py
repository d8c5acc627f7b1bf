"""Alerts: regressions with one cause. An alert is a sequence of numbered events, and its state follows from them."""

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from enum import StrEnum
from math import inf
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from kexbench.domain.canonical import content_hash
from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import HostKind
from kexbench.domain.intervals import Ratio
from kexbench.domain.kits import Library
from kexbench.domain.metrics import WATCHED, Metric
from kexbench.domain.moments import Moment
from kexbench.domain.profiles import Culprit
from kexbench.domain.runs import RunReason, RunState
from kexbench.domain.upgrades import Side
from kexbench.domain.verdicts import RELEVANT

ANALYST = "kexbench"
"""The author of automatic events."""
NOTE_MAX = 4000
ASSIGNEE_MAX = 200
CHANNEL_NAME = r"^[a-z0-9-]{1,63}$"


class AlertRule(Frozen):
    """The alert settings of a spec."""

    metrics: tuple[Metric, ...] = Field(WATCHED, description="what is screened")
    relevant: float = Field(
        RELEVANT, description="smaller regressions are not reported, as a share; exact metrics have limits of their own"
    )
    notify: tuple[str, ...] = Field((), description="names of channels")
    confirm_invocations: int = Field(30, description="invocations of a confirmation run")
    stale_after_s: int | None = Field(None, description="alert if no run finishes within this time; null for never")


class AlertKind(StrEnum):
    UPGRADE = "upgrade"
    """A version of a library costs more than the one before."""
    STALE = "stale"
    """A spec has no new results."""


class Breakage(Frozen):
    """Why a spec has no newer results: the state of its newest run."""

    state: RunState | None = Field(description="of the newest run; null where none has begun since")
    reason: RunReason | None = None
    unbuilt: tuple[str, ...] = Field((), description="references that do not build")


class Cause(Frozen):
    """What regressions of one alert have in common."""

    kind: AlertKind
    library: Library | None = Field(description="of an upgrade")
    metric: Metric | None = Field(None, description="of an upgrade: what became more")
    before: str = Field(description="upgrade: the version before; stale spec: empty")
    after: str = Field(description="upgrade: the version that costs more; stale spec: why, as text")
    breakage: Breakage | None = Field(None, description="of a stale spec; null in alerts of earlier releases")

    @model_validator(mode="before")
    @classmethod
    def _with_metric(cls, written: Any) -> Any:
        """Alerts of earlier releases name no metric: they were of CPU time."""
        if not isinstance(written, dict) or written.get("kind") != AlertKind.UPGRADE:
            return written
        return {"metric": Metric.CPU_NS, **written}

    @property
    def alert_id(self) -> str:
        """Independent of texts, so that rewording one does not start another alert. One of CPU time has the id that
        earlier releases gave it."""
        after = self.breakage.model_dump(mode="json") if self.breakage else self.after
        others = [] if self.metric in (None, Metric.CPU_NS) else [self.metric]
        return content_hash([self.kind, self.library, self.before, after, *others], length=16)


class AlertCell(Frozen):
    """One case on one host kind in which the alert's metric is more."""

    spec_name: str
    case_id: str
    title: str
    pool: str
    cpu_model: str
    before: float | None = Field(
        None, description="median over invocations, in the unit of the metric; null in alerts of earlier releases"
    )
    after: float | None = None
    move: Ratio | None = Field(description="null where the value before was 0")
    side: Side = Field(description="which side's CPU time moved; both for any other metric")

    @property
    def host_kind(self) -> HostKind:
        return HostKind(self.pool, self.cpu_model)

    @property
    def size(self) -> float:
        """What cells are ordered by."""
        return self.move.ratio if self.move else inf


class Finding(Frozen):
    """The result of one analysis. For an upgrade it comes from the confirmation run alone, or from the screened run if
    the metric is exact."""

    spec_names: tuple[str, ...]
    sentence: str = Field(description="what changed, by how much, how certain, on which side, and common factors")
    cells: tuple[AlertCell, ...]
    run_ids: tuple[str, ...] = Field(description="the one that decided first")
    notify: tuple[str, ...] = Field(description="names of channels")
    subjects: tuple[str, str] | None = Field(
        None, description="of an upgrade: the unique names of both ends, since others may have the same versions"
    )


class AlertAction(StrEnum):
    """What an event does. Only the analyst uses the first four."""

    RAISED = "raised"
    GREW = "grew"
    """More cells with the same cause. A fixed alert is open again."""
    FIXED = "fixed"
    EXPLAINED = "explained"
    """A run counted both versions, function by function."""
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
"""The actions that decide the status."""
SETTLED: tuple[Status, ...] = ("fixed", "ignored", "wrong")
"""Nobody needs to act."""
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
"""The statuses that allow each action of people. Ignoring again changes the date or the reason."""
_OF_ONE_ACTION = {
    "until": AlertAction.IGNORED,
    "assignee": AlertAction.ASSIGNED,
    "due": AlertAction.DUE,
    "fixed_in": AlertAction.FIXED,
    "culprits": AlertAction.EXPLAINED,
}
_WITH_A_NOTE = {
    AlertAction.IGNORED: "a reason in its note",
    AlertAction.WRONG: "a reason in its note",
    AlertAction.NOTED: "a note",
}


class AlertEvent(Frozen):
    """An event of an alert. `number` counts from 0. A person who adds an event names the last one they saw, so that
    nobody overrides an event they have not read."""

    alert_id: str
    number: int = Field(ge=0)
    at: Moment
    author: str
    action: AlertAction
    note: str = Field("", max_length=NOTE_MAX)
    cause: Cause | None = Field(None, description="of `raised`")
    finding: Finding | None = Field(None, description="of `raised` and `grew`")
    fixed_in: str = Field("", description="of `fixed`: the version that recovered; empty for none")
    culprits: tuple[Culprit, ...] = Field((), description="of `explained`: the functions that most of the change is in")
    until: Moment | None = Field(None, description="of `ignored`: when the alert is open again; null for never")
    assignee: str = Field("", max_length=ASSIGNEE_MAX, description="of `assigned`; empty for nobody")
    due: date | None = Field(None, description="of `due`; null for no day")

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.action is AlertAction.RAISED) != (self.number == 0):
            raise ValueError("the first event must be `raised`, and no other event may be")
        if (self.action is AlertAction.RAISED) != (self.cause is not None):
            raise ValueError("`raised` must have a cause, and no other event may have one")
        if self.cause and self.cause.alert_id != self.alert_id:
            raise ValueError(f"the cause belongs to alert {self.cause.alert_id}, not {self.alert_id}")
        if (self.action in (AlertAction.RAISED, AlertAction.GREW)) != (self.finding is not None):
            raise ValueError("`raised` and `grew` must have a finding, and no other event may have one")
        for field, action in _OF_ONE_ACTION.items():
            if getattr(self, field) and self.action is not action:
                raise ValueError(f"`{field}` belongs to `{action}`, not to `{self.action}`")
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
        None, description="of an upgrade: the unique names of both ends in the newest finding; null where unknown"
    )
    assignee: str
    due: date | None
    ignored_until: Moment | None = Field(description="of an ignored alert; null for permanently")
    fixed_in: str = Field(description="of a fixed alert: the version that recovered")
    culprits: tuple[Culprit, ...] = Field((), description="the functions that most of the change is in, once counted")


def alert_of(events: Iterable[AlertEvent], now: datetime) -> Alert:
    """The state after the events, which may arrive in any order and repeatedly. Raises ValueError without the first
    event."""
    ordered = _in_order(events)
    if not ordered or ordered[0].cause is None:
        raise ValueError("an alert begins with the event that raised it")
    first, last = ordered[0], ordered[-1]
    assert first.cause is not None
    findings = [event.finding for event in ordered if event.finding]
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
        spec_names=_each_once(name for finding in findings for name in finding.spec_names),
        cells=_cells(findings),
        run_ids=_each_once(run_id for finding in findings for run_id in finding.run_ids),
        notify=_each_once(name for finding in findings for name in finding.notify),
        subjects=next((finding.subjects for finding in reversed(findings) if finding.subjects), None),
        assignee=newest.get(AlertAction.ASSIGNED, first).assignee,
        due=newest.get(AlertAction.DUE, first).due,
        ignored_until=decided.until if status == "ignored" else None,
        fixed_in=decided.fixed_in if status == "fixed" else "",
        culprits=newest[AlertAction.EXPLAINED].culprits if AlertAction.EXPLAINED in newest else (),
    )


def _fullest(ordered: Sequence[AlertEvent]) -> Finding:
    """The finding with the most cells since the alert was last reopened, and the newest of several: it knows best what
    the cells have in common."""
    findings: list[Finding] = []
    fixed = False
    for event in ordered:
        if event.finding:
            findings = [event.finding] if fixed else [*findings, event.finding]
            fixed = False
        fixed = fixed or event.action is AlertAction.FIXED
    return max(reversed(findings), key=lambda finding: len(finding.cells))


def status_of(steps: Iterable[tuple[AlertAction, datetime | None]], now: datetime) -> Status:
    """The status after actions in order, each with the time at which it expires. A fixed alert that grows is open: its
    new cells may not be fixed. An ignored alert is open again once its time has come."""
    status: Status = "open"
    expires: datetime | None = None
    for action, until in steps:
        if action in _STATUS:
            status, expires = _STATUS[action], until
        elif action is AlertAction.GREW and status == "fixed":
            status = "open"
    return "open" if expires is not None and expires <= now else status


def actions_in(status: Status) -> tuple[AlertAction, ...]:
    """What people may do to an alert of this status."""
    return tuple(action for action, statuses in _ALLOWED.items() if status in statuses)


def _in_order(events: Iterable[AlertEvent]) -> list[AlertEvent]:
    """The events in order, each once. If two have the same number, the earlier one counts, in any order of arrival."""
    by_number: dict[int, AlertEvent] = {}
    for event in events:
        earlier = by_number.setdefault(event.number, event)
        if earlier != event:
            by_number[event.number] = min(
                earlier, event, key=lambda candidate: (candidate.at, candidate.model_dump_json())
            )
    return [event for _, event in sorted(by_number.items())]


def _cells(findings: Iterable[Finding]) -> tuple[AlertCell, ...]:
    """The last cell of each case on a host kind; a cell that two specs measure counts once."""
    cells = {(cell.case_id, cell.pool, cell.cpu_model): cell for finding in findings for cell in finding.cells}
    return tuple(cells.values())


def _each_once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
