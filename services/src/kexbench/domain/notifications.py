"""Notifications: what people are told of alerts, where, and how often that was tried.

What was said is kept as it was written, and every try is kept beside it; what is due follows from both
(`notify/outbox.py`).
"""

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, model_validator

from kexbench.domain.alerts import CHANNEL_NAME, AlertEvent, AlertKind
from kexbench.domain.canonical import content_hash
from kexbench.domain.frozen import Frozen
from kexbench.domain.moments import Moment

SAID_MAX = 1000
"""Of what a channel answers."""
ChannelName = Annotated[str, Field(pattern=CHANNEL_NAME)]


class Happening(StrEnum):
    """What people are told of. All but two are what an event does to an alert."""

    RAISED = "raised"
    GREW = "grew"
    FIXED = "fixed"
    STALE = "stale"
    """Raised, of something that is no longer measured."""
    ACKNOWLEDGED = "acknowledged"
    CONFIRMED = "confirmed"
    IGNORED = "ignored"
    WRONG = "wrong"
    REOPENED = "reopened"
    ASSIGNED = "assigned"
    NOTED = "noted"
    DUE = "due"
    IMPROVED = "improved"
    """Something costs less: no alert, told in digests only."""


AT_ONCE = (Happening.RAISED, Happening.FIXED, Happening.STALE)
"""What a channel tells that says nothing else."""
BY_DAY = (Happening.RAISED, Happening.GREW, Happening.FIXED, Happening.STALE, Happening.IMPROVED)
"""The same of one that has a digest."""


def happening_of(event: AlertEvent) -> Happening:
    is_stale = event.cause is not None and event.cause.kind is AlertKind.STALE
    return Happening.STALE if is_stale else Happening(event.action)


class ChannelRule(Frozen):
    """What is told at a channel, and when. Its address is a secret, which only the sender reads."""

    name: ChannelName
    events: tuple[Happening, ...] = AT_ONCE
    digest_hour: int | None = Field(None, ge=0, le=23, description="UTC; null: everything is told as it happens")
    most_per_hour: int = Field(20, ge=1, description="messages; what is more waits")

    @model_validator(mode="after")
    def _is_quiet(self) -> Self:
        if Happening.IMPROVED in self.events and self.digest_hour is None:
            raise ValueError("`improved` is told in a digest only: say digest: daily")
        return self


class Link(Frozen):
    text: str
    path: str = Field(description="of the pages, from their root")


class Notification(Frozen):
    """One thing that happened, as it is told at one channel. Its id follows from both, so that it is written once."""

    notification_id: str
    channel: str = Field(description="there need be none of this name")
    happening: Happening
    alert_id: str = Field(description="empty where it is of no alert")
    number: int = Field(description="of the alert's event")
    created_at: Moment = Field(description="when it happened")
    title: str
    text: str = Field(description="without any markup")
    markdown: str
    links: tuple[Link, ...]

    @staticmethod
    def id_of(alert_id: str, number: int, channel: str) -> str:
        return content_hash([alert_id, number, channel])


class SendingState(StrEnum):
    BEGUN = "begun"
    """Nobody knows whether it arrived. Said before anything is sent."""
    SENT = "sent"
    FAILED = "failed"


class Sending(Frozen):
    """One try to send a message: one notification, or several together. Told twice, before and after, with the same
    moment."""

    message_id: str = Field(description="the same whenever these notifications are tried together")
    channel: str
    notification_ids: tuple[str, ...] = Field(min_length=1)
    at: Moment = Field(description="when it began")
    state: SendingState
    said: str = Field("", max_length=SAID_MAX, description="of what failed: the reason, in words and without secrets")

    @staticmethod
    def id_of(notification_ids: tuple[str, ...]) -> str:
        """A notification by itself lends its message its id."""
        alone = len(notification_ids) == 1
        return notification_ids[0] if alone else content_hash(sorted(notification_ids))
