"""The shapes of what is told of alerts and judgements, and asked of them."""

from datetime import date, datetime
from typing import Literal

from pydantic import Field

from kexbench.domain.alerts import ASSIGNEE_MAX, NOTE_MAX, Alert, AlertAction, AlertEvent, Cause, Status
from kexbench.domain.frozen import Frozen
from kexbench.domain.judgements import Judgement, ReplayedUpgrade
from kexbench.domain.moments import Moment
from kexbench.domain.notifications import Happening, Link, Notification, Sending
from kexbench.domain.numbers import Count
from kexbench.domain.upgrades import Move
from kexbench.notify.outbox import Rules, Tries, standing_of
from kexbench.planning.documents import SPEC_MAX_CHARACTERS

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
    """An alert without what was found, which may be hundreds of cells."""

    alert_id: str
    cause: Cause
    status: Status
    version: int = Field(description="the number of its last event")
    raised_at: datetime
    changed_at: datetime
    sentence: str
    spec_names: list[str]
    cells: int
    cpu_models: list[str] = Field(description="that it was found on")
    most: Move | None = Field(description="of the cell that costs most more; null where it is of none")
    assignee: str = Field(description="empty for nobody")
    due: date | None
    ignored_until: datetime | None = Field(description="of one that is ignored; null for good")
    fixed_in: str = Field(description="of one that is fixed: the version that recovered")

    @classmethod
    def of(cls, alert: Alert) -> "AlertSummary":
        most = max(alert.cells, key=lambda cell: cell.move.ratio, default=None)
        return cls(
            **alert.model_dump(exclude={"cause", "cells", "run_ids", "notify", "subjects"}),
            cause=alert.cause,
            cells=len(alert.cells),
            cpu_models=list(dict.fromkeys(cell.cpu_model for cell in alert.cells)),
            most=most.move if most else None,
        )


class AlertPage(Frozen):
    alerts: list[AlertSummary]
    counts: dict[Status, int] = Field(description="how many there are of each status, of this library and kind")
    next_before: datetime | None = Field(description="pass as `before` for the next page; null at the end")


class AlertDetail(Frozen):
    """An alert as it is now, and everything that happened to it."""

    alert: Alert
    events: list[AlertEvent] = Field(description="in their order")
    actions: list[PeoplesAction] = Field(description="what may be done to it now")


class AlertChange(Frozen):
    """What somebody does to an alert. Fields that are not of the action are left out."""

    action: PeoplesAction
    note: str = Field("", max_length=NOTE_MAX, description="`ignored`, `wrong` and `noted` need one")
    until: Moment | None = Field(None, description="of `ignored`: when it is open again; null for never")
    assignee: str = Field("", max_length=ASSIGNEE_MAX, description="of `assigned`; empty for nobody")
    due: date | None = Field(None, description="of `due`; null for no day")
    saw: Count = Field(
        description="the number of the last event that was read: what came later is not overruled unread"
    )


class JudgementPage(Frozen):
    judgements: list[Judgement]
    next_before: datetime | None = Field(description="pass as `before` for the next page; null at the end")


class RuleWanted(Frozen):
    """A spec whose rule shall be tried over what is stored."""

    spec_text: str = Field(min_length=1, max_length=SPEC_MAX_CHARACTERS)
    spec_file: str = Field("spec.yaml", max_length=400, description="as faults name it")


class RuleDryRun(Frozen):
    """What a rule would have said, had it been there all along."""

    spec_name: str
    runs: int = Field(description="of the spec that were judged")
    upgrades: int = Field(description="that those measured, each counted once")
    told: list[ReplayedUpgrade] = Field(description="those of them that the rule suspects, the newest first")


class NotificationView(Frozen):
    """One thing that is told at one channel, and whether it got there."""

    notification_id: str
    channel: str
    happening: Happening
    alert_id: str = Field(description="empty where it is of no alert")
    created_at: datetime
    title: str
    text: str
    links: list[Link]
    state: Literal["waiting", "sent", "given up"]
    tries: int
    at: datetime | None = Field(description="when it was sent, or tried last; null if it never was")
    detail: str = Field(description="why it isn't there yet, and when it is tried again")

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
    channels: list[str] = Field(description="names of those that are configured")
    next_before: datetime | None = Field(description="pass as `before` for the next page; null at the end")


class ToSend(Frozen):
    """A message that was begun: who asked for it has to send it, and to say what came of it."""

    sending: Sending
    notifications: list[Notification] = Field(description="oldest first; several are one message")
