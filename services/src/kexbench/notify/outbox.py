"""What is to be sent now, and how far each notification is: of what was written, what was tried, and the clock. Pure.

At least once: what was sent is never due again, and what was begun or failed is, after waits that grow. Messages count
against a channel's limit from the moment that they are begun, since what failed may have arrived all the same.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from kexbench.domain.notifications import ChannelRule, Notification, Sending, SendingState

MAX_TRIES = 20
"""Nearly three days of them."""
FIRST_WAIT, LONGEST_WAIT = timedelta(minutes=1), timedelta(hours=6)
LEASE = timedelta(minutes=10)
"""So long a try that was begun may still be under way. Longer than any channel's patience."""
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
Rules = Mapping[str, ChannelRule]
"""By the channel's name."""
_RANK = {SendingState.BEGUN: 0, SendingState.FAILED: 1, SendingState.SENT: 2}


@dataclass(frozen=True)
class Message:
    """Notifications that are sent together at one channel, oldest first."""

    channel: str
    notifications: tuple[Notification, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(one.notification_id for one in self.notifications)

    @property
    def message_id(self) -> str:
        return Sending.id_of(self.ids)


@dataclass(frozen=True)
class Standing:
    """How far a notification is. `detail` says why it isn't there yet, for people."""

    state: Literal["waiting", "sent", "given up"]
    tries: int
    at: datetime | None
    """When it was sent or tried last; None if it never was."""
    detail: str


class Tries:
    """What was tried, in whatever order it is told and however often."""

    def __init__(self, sendings: Iterable[Sending]) -> None:
        newest: dict[tuple[str, datetime], Sending] = {}
        for one in sendings:
            known = newest.get((one.message_id, one.at))
            if known is None or _RANK[known.state] < _RANK[one.state]:
                newest[one.message_id, one.at] = one
        self.every = sorted(newest.values(), key=lambda one: (one.at, one.message_id))
        self._of: dict[str, list[Sending]] = defaultdict(list)
        for one in self.every:
            for notification_id in one.notification_ids:
                self._of[notification_id].append(one)

    def of(self, notification: Notification) -> Sequence[Sending]:
        return self._of.get(notification.notification_id, ())

    def sent_at(self, notification: Notification) -> datetime | None:
        return next((one.at for one in self.of(notification) if one.state is SendingState.SENT), None)

    def is_open(self, notification: Notification) -> bool:
        return self.sent_at(notification) is None and len(self.of(notification)) < MAX_TRIES

    def ready_at(self, notification: Notification) -> datetime:
        """When an open one may be tried."""
        tried = self.of(notification)
        return tried[-1].at + wait_after(tried) if tried else notification.created_at


def wait_after(tried: Sequence[Sending]) -> timedelta:
    """A minute, then twice as long each time."""
    doublings = min(len(tried) - 1, 10)
    wait = min(FIRST_WAIT * (1 << doublings), LONGEST_WAIT)
    return max(wait, LEASE) if tried[-1].state is SendingState.BEGUN else wait


def due(
    notifications: Iterable[Notification], sendings: Iterable[Sending], rules: Rules, now: datetime
) -> list[Message]:
    """The messages that may be sent now. Of channels that nobody has a rule of, none."""
    tries = Tries(sendings)
    waiting: dict[str, dict[str, Notification]] = defaultdict(dict)
    for one in notifications:
        if tries.is_open(one):
            waiting[one.channel][one.notification_id] = one
    found = []
    for name, rule in sorted(rules.items()):
        begun = [one for one in tries.every if one.channel == name and one.at > now - HOUR]
        if (room := rule.most_per_hour - len(begun)) > 0:
            ready = _digest if rule.digest_hour is not None else _singly
            found += ready(rule, list(waiting[name].values()), tries, now, room)
    return found


def _singly(
    rule: ChannelRule, waiting: Sequence[Notification], tries: Tries, now: datetime, room: int
) -> list[Message]:
    """Each by itself, what was tried least first; where there are more than there is room for, the last message has
    all the others."""
    ready = [one for one in waiting if tries.ready_at(one) <= now]
    ready.sort(key=lambda one: (len(tries.of(one)), _age(one)))
    alone = ready if len(ready) <= room else ready[: room - 1]
    messages = [Message(rule.name, (one,)) for one in alone]
    if rest := sorted(ready[len(alone) :], key=_age):
        messages.append(Message(rule.name, tuple(rest)))
    return messages


def _digest(
    rule: ChannelRule, waiting: Sequence[Notification], tries: Tries, now: datetime, _room: int
) -> list[Message]:
    """All that happened before the last time of the digest, in one message, unless one was sent since."""
    assert rule.digest_hour is not None
    time = now.replace(hour=rule.digest_hour, minute=0, second=0, microsecond=0)
    time = time if time <= now else time - DAY
    was_sent = any(
        one.channel == rule.name and one.state is SendingState.SENT and one.at >= time for one in tries.every
    )
    members = sorted((one for one in waiting if one.created_at < time), key=_age)
    if was_sent or not members or any(tries.ready_at(one) > now for one in members):
        return []
    return [Message(rule.name, tuple(members))]


def _age(notification: Notification) -> tuple[datetime, str]:
    return notification.created_at, notification.notification_id


def standing_of(notification: Notification, tries: Tries, rules: Rules) -> Standing:
    """How far a notification is, for people."""
    tried, rule = tries.of(notification), rules.get(notification.channel)
    at = tried[-1].at if tried else None
    said = next((one.said for one in reversed(tried) if one.said), "")
    if (sent_at := tries.sent_at(notification)) is not None:
        return Standing("sent", len(tried), sent_at, "")
    if not tries.is_open(notification):
        return Standing("given up", len(tried), at, f"after {len(tried)} tries: {said or 'each ended on the way'}")
    if rule is None:
        detail = f"no channel {notification.channel} is configured: name it among the channels"
    elif tried:
        again = tries.ready_at(notification)
        detail = f"tried {_times(len(tried))}, again at {again:%Y-%m-%d %H:%M} UTC" + (f": {said}" if said else "")
    elif rule.digest_hour is not None:
        detail = f"for the digest at {rule.digest_hour:02}:00 UTC"
    else:
        detail = ""
    return Standing("waiting", len(tried), at, detail)


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"
