"""The shapes of requests and answers about alerts and screenings."""

from datetime import date, datetime
from typing import Literal

from pydantic import Field

from kexbench.domain.alerts import ASSIGNEE_MAX, NOTE_MAX, Alert, AlertAction, AlertEvent, Cause, Status
from kexbench.domain.frozen import Frozen
from kexbench.domain.intervals import Ratio
from kexbench.domain.kits import Library
from kexbench.domain.moments import Moment
from kexbench.domain.notifications import Happening, Link, Notification, Sending
from kexbench.domain.numbers import Count
from kexbench.domain.runs import RunState
from kexbench.domain.screenings import ReplayedUpgrade, Screening
from kexbench.domain.upgrades import UpgradeEnd
from kexbench.notify.outbox import Rules, Tries, standing_of

PeoplesAction = Literal[
    AlertAction.ACKNOWLEDGED,
    AlertAction.CONFIRMED,
    AlertAction.IGNORED,
    AlertAction.WRONG,
    AlertAction.REOPENED,
    AlertAction.ASSIGNED,
    AlertAction.NOTED,
    AlertAction.DUE,
]


class AlertSummary(Frozen):
    """An alert without its cells, which may be hundreds."""

    alert_id: str
    cause: Cause
    status: Status
    version: int = Field(description="the number of its last event")
    raised_at: datetime
    changed_at: datetime
    sentence: str
    spec_names: list[str]
    cells: int
    cpu_models: list[str] = Field(description="the CPU models that it was found on")
    most: Ratio | None = Field(description="the change of the cell that became slowest; null without cells")
    assignee: str = Field(description="empty for nobody")
    due: date | None
    ignored_until: datetime | None = Field(description="if it is ignored; null means permanently")
    fixed_in: str = Field(description="if it is fixed: the version that fixed it")

    @classmethod
    def of(cls, alert: Alert) -> "AlertSummary":
        slowest = max(alert.cells, key=lambda cell: cell.move.ratio, default=None)
        return cls(
            **alert.model_dump(exclude={"cause", "cells", "run_ids", "notify", "subjects", "culprits"}),
            cause=alert.cause,
            cells=len(alert.cells),
            cpu_models=list(dict.fromkeys(cell.cpu_model for cell in alert.cells)),
            most=slowest.move if slowest else None,
        )


class UnderConfirmation(Frozen):
    """A suspicion that a run of its own is to confirm. It may become an alert."""

    library: Library
    before: UpgradeEnd
    after: UpgradeEnd
    spec_name: str
    cells: int = Field(description="cells that look slower")
    screened_run: str = Field(description="the run that raised the suspicion")
    confirmation_run: str
    state: RunState = Field(description="of the confirmation run")
    expected_end_at: datetime | None = Field(description="of the confirmation run; null unless it is being measured")


class AlertPage(Frozen):
    alerts: list[AlertSummary]
    confirming: list[UnderConfirmation] = Field(description="suspicions under way, whatever is filtered by")
    counts: dict[Status, int] = Field(description="the number of alerts by status, of this library and kind")
    next_before: datetime | None = Field(description="pass as `before` for the next page; null at the end")


class AlertDetail(Frozen):
    """An alert in its current state, and all its events."""

    alert: Alert
    events: list[AlertEvent] = Field(description="in order")
    actions: list[PeoplesAction] = Field(description="what can be done to it now")


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


class ScreeningPage(Frozen):
    screenings: list[Screening]
    next_before: datetime | None = Field(description="pass as `before` for the next page; null at the end")


class RuleDryRun(Frozen):
    """What a rule would have suspected in the past."""

    spec_name: str
    runs: int = Field(description="runs of the spec that were screened")
    upgrades: int = Field(description="upgrades that these runs measured, each counted once")
    told: list[ReplayedUpgrade] = Field(description="upgrades that the rule suspects, newest first")


class NotificationView(Frozen):
    """A notification for one channel, and whether it was sent."""

    notification_id: str
    channel: str
    happening: Happening
    alert_id: str = Field(description="empty if it is about no alert")
    created_at: datetime
    title: str
    text: str
    links: list[Link]
    state: Literal["waiting", "sent", "given up"]
    tries: int
    at: datetime | None = Field(description="when it was sent, or last tried; null if never")
    detail: str = Field(description="why it is not sent yet, and when it is tried again")

    @staticmethod
    def of(notification: Notification, tries: Tries, rules: Rules) -> "NotificationView":
        standing = standing_of(notification, tries, rules)
        return NotificationView(
            notification_id=notification.notification_id,
            channel=notification.channel,
            happening=notification.happening,
            alert_id=notification.alert_id,
            created_at=notification.created_at,
            title=notification.title,
            text=notification.text,
            links=list(notification.links),
            state=standing.state,
            tries=standing.tries,
            at=standing.at,
            detail=standing.detail,
        )


class NotificationPage(Frozen):
    notifications: list[NotificationView]
    channels: list[str] = Field(description="names of the configured channels")
    next_before: datetime | None = Field(description="pass as `before` for the next page; null at the end")


class ToSend(Frozen):
    """A started message. The sender has to send it, and to record the result."""

    sending: Sending
    notifications: list[Notification] = Field(description="oldest first; all are sent as one message")
