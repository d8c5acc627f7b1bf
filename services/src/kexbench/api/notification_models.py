"""What is told of notifications, and what the sender is handed."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from kexbench.api.answer import Answer
from kexbench.domain.notifications import Happening, Link, Notification, Sending
from kexbench.notify.outbox import Rules, Tries, standing_of


class NotificationView(Answer):
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


class NotificationPage(Answer):
    notifications: list[NotificationView]
    channels: list[str] = Field(description="names of those that are configured")
    next_before: datetime | None = Field(description="pass as `before` for the next page; null at the end")


class ToSend(Answer):
    """A message that was begun: who asked for it has to send it, and to say what came of it."""

    sending: Sending
    notifications: list[Notification] = Field(description="oldest first; several are one message")
