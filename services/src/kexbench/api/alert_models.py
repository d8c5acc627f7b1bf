"""The shapes of requests and answers about alerts and screenings."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from kexbench.domain.frozen import Frozen
from kexbench.domain.notifications import Happening, Link, Notification, Sending
from kexbench.domain.screenings import ReplayedUpgrade, Screening
from kexbench.notify.outbox import Rules, Tries, standing_of


class ScreeningPage(Frozen):
    screenings: list[Screening]
    next_before: datetime | None = Field(description="pass as `before` for the next page; null at the end")


class RuleDryRun(Frozen):
    """What a rule would have suspected in the past."""

    spec_name: str
    runs: int = Field(description="runs of the spec that were screened")
    upgrades: int = Field(description="upgrades that these runs measured, each counted once")
    suspected: list[ReplayedUpgrade] = Field(description="upgrades that the rule suspects, newest first")


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
    run_ids: list[str] = Field([], description="the runs that its alerts come from")
