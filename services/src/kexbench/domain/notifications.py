"""Notifications of alerts, their channels, and the attempts to send them.

Texts are stored as written, along with every attempt. Due messages follow from both (`notify/outbox.py`).
"""

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, model_validator

from kexbench.domain.alerts import CHANNEL_NAME, AlertEvent, AlertKind
from kexbench.domain.canonical import content_hash
from kexbench.domain.frozen import Frozen
from kexbench.domain.moments import Moment

SAID_MAX = 1000
"""Maximum length of a channel's answer."""
ChannelName = Annotated[str, Field(pattern=CHANNEL_NAME)]


class Happening(StrEnum):
    """What people are notified of. All except two are actions of alert events."""

    RAISED = "raised"
    GREW = "grew"
    FIXED = "fixed"
    EXPLAINED = "explained"
    STALE = "stale"
    """Raised for a spec without new results."""
    ACKNOWLEDGED = "acknowledged"
    CONFIRMED = "confirmed"
    IGNORED = "ignored"
    WRONG = "wrong"
    REOPENED = "reopened"
    ASSIGNED = "assigned"
    NOTED = "noted"
    DUE = "due"
    IMPROVED = "improved"
    """Something costs less: not an alert, sent only in digests."""


AT_ONCE = (Happening.RAISED, Happening.EXPLAINED, Happening.FIXED, Happening.STALE)
"""The default events of a channel without a digest."""
BY_DAY = (*AT_ONCE, Happening.GREW, Happening.IMPROVED)
"""The default events of a channel with a digest."""


def happening_of(event: AlertEvent) -> Happening:
    is_stale = event.cause is not None and event.cause.kind is AlertKind.STALE
    return Happening.STALE if is_stale else Happening(event.action)


class ChannelRule(Frozen):
    """What a channel sends, and when. Its address is a secret, which only the sender reads."""

    name: ChannelName
    events: tuple[Happening, ...] = AT_ONCE
    digest_hour: int | None = Field(None, ge=0, le=23, description="UTC; null: events are sent immediately")
    most_per_hour: int = Field(20, ge=1, description="messages; further events wait")

    @model_validator(mode="after")
    def _is_quiet(self) -> Self:
        if Happening.IMPROVED in self.events and self.digest_hour is None:
            raise ValueError("`improved` is sent only in a digest: set digest: daily")
        return self


class Link(Frozen):
    text: str
    path: str = Field(description="path of a page, from the root")


class Wording(Frozen):
    """An event in words, for a channel with markup and for one without."""

    title: str
    text: str = Field(description="without any markup")
    markdown: str
    links: tuple[Link, ...]


class Notification(Wording):
    """One event for one channel. The id follows from both, so that each notification is stored once."""

    notification_id: str
    channel: str = Field(description="its name; the channel may not exist")
    happening: Happening
    alert_id: str = Field(description="empty where there is no alert")
    number: int = Field(description="of the alert's event")
    together: str = Field("", description="what this and others are about that make one message; empty for none")
    created_at: Moment = Field(description="when it happened")

    @staticmethod
    def id_of(alert_id: str, number: int, channel: str) -> str:
        return content_hash([alert_id, number, channel])


class SendingState(StrEnum):
    BEGUN = "begun"
    """Recorded before sending. It is not known if the message arrived."""
    SENT = "sent"
    FAILED = "failed"


class Sending(Frozen):
    """An attempt to send a message with one or more notifications. Recorded before and after, with the same time."""

    message_id: str = Field(description="the same for each attempt with these notifications")
    channel: str
    notification_ids: tuple[str, ...] = Field(min_length=1)
    at: Moment = Field(description="when it began")
    state: SendingState
    said: str = Field("", max_length=SAID_MAX, description="why it failed, without secrets")

    @staticmethod
    def id_of(notification_ids: tuple[str, ...]) -> str:
        """A message with one notification has its id."""
        alone = len(notification_ids) == 1
        return notification_ids[0] if alone else content_hash(sorted(notification_ids))
