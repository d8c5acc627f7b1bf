"""The messages that are due, and the delivery state of each notification, from earlier tries and the clock. Pure.

Delivery is at least once: a failed or unfinished try is repeated after growing waits, a sent notification never. A
message counts against the channel's limit from its start, since a failed one may have arrived all the same.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from kexbench.domain.notifications import ChannelRule, Notification, Sending, SendingState

MAX_TRIES = 20
"""Tries of a notification. They take nearly three days."""
FIRST_WAIT, LONGEST_WAIT = timedelta(minutes=1), timedelta(hours=6)
LEASE = timedelta(minutes=10)
"""How long a started try may still be running. Longer than the timeout of any channel."""
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
Rules = Mapping[str, ChannelRule]
"""Rules by the name of their channel."""
_RANK = {SendingState.BEGUN: 0, SendingState.FAILED: 1, SendingState.SENT: 2}


@dataclass(frozen=True)
class Message:
    """Notifications that one channel sends together, oldest first."""

    channel: str
    notifications: tuple[Notification, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(notification.notification_id for notification in self.notifications)

    @property
    def message_id(self) -> str:
        return Sending.id_of(self.ids)


@dataclass(frozen=True)
class Standing:
    """The delivery state of a notification. `detail` says why it is not sent yet."""

    state: Literal["waiting", "sent", "given up"]
    tries: int
    at: datetime | None
    """When it was sent or tried last, or None if it was never tried."""
    detail: str


class Tries:
    """The tries of messages. `sendings` may be in any order and contain duplicates."""

    def __init__(self, sendings: Iterable[Sending]) -> None:
        newest: dict[tuple[str, datetime], Sending] = {}
        for sending in sendings:
            other = newest.get((sending.message_id, sending.at))
            if other is None or _RANK[other.state] < _RANK[sending.state]:
                newest[sending.message_id, sending.at] = sending
        self.sendings = sorted(newest.values(), key=lambda sending: (sending.at, sending.message_id))
        self._by_notification: dict[str, list[Sending]] = defaultdict(list)
        for sending in self.sendings:
            for notification_id in sending.notification_ids:
                self._by_notification[notification_id].append(sending)

    def of(self, notification: Notification) -> Sequence[Sending]:
        return self._by_notification.get(notification.notification_id, ())

    def sent_at(self, notification: Notification) -> datetime | None:
        return next((sending.at for sending in self.of(notification) if sending.state is SendingState.SENT), None)

    def is_open(self, notification: Notification) -> bool:
        return self.sent_at(notification) is None and len(self.of(notification)) < MAX_TRIES

    def ready_at(self, notification: Notification) -> datetime:
        """When an open notification may be tried next."""
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
    """The messages that may be sent now. Channels without a rule send none."""
    tries = Tries(sendings)
    waiting: dict[str, dict[str, Notification]] = defaultdict(dict)
    for notification in notifications:
        if tries.is_open(notification):
            waiting[notification.channel][notification.notification_id] = notification
    messages = []
    for name, rule in sorted(rules.items()):
        recent = [sending for sending in tries.sendings if sending.channel == name and sending.at > now - HOUR]
        if (room := rule.most_per_hour - len(recent)) > 0:
            ready = _digest if rule.digest_hour is not None else _singly
            messages += ready(rule, list(waiting[name].values()), tries, now, room)
    return messages


def _singly(
    rule: ChannelRule, waiting: Sequence[Notification], tries: Tries, now: datetime, room: int
) -> list[Message]:
    """One message for each notification, or for several of one upgrade; those with the fewest tries first. If there is
    not room for all, the last message has all the others."""
    ready = [notification for notification in waiting if tries.ready_at(notification) <= now]
    ready.sort(key=lambda notification: (len(tries.of(notification)), _age(notification)))
    groups: dict[str, list[Notification]] = defaultdict(list)
    for notification in ready:
        groups[notification.together or notification.notification_id].append(notification)
    each = list(groups.values())
    alone = each if len(each) <= room else each[: room - 1]
    others = [notification for group in each[len(alone) :] for notification in group]
    return [Message(rule.name, tuple(sorted(group, key=_age))) for group in (*alone, others) if group]


def _digest(
    rule: ChannelRule, waiting: Sequence[Notification], tries: Tries, now: datetime, _room: int
) -> list[Message]:
    """One message with everything from before the digest's last hour, unless one was sent since then."""
    assert rule.digest_hour is not None
    time = now.replace(hour=rule.digest_hour, minute=0, second=0, microsecond=0)
    time = time if time <= now else time - DAY
    sent = [row for row in tries.sendings if row.channel == rule.name and row.state is SendingState.SENT]
    members = sorted((notification for notification in waiting if notification.created_at < time), key=_age)
    was_sent = any(sending.at >= time for sending in sent)
    if was_sent or not members or any(tries.ready_at(member) > now for member in members):
        return []
    return [Message(rule.name, tuple(members))]


def _age(notification: Notification) -> tuple[datetime, str]:
    return notification.created_at, notification.notification_id


def standing_of(notification: Notification, tries: Tries, rules: Rules) -> Standing:
    """The delivery state of a notification, for people."""
    tried, rule = tries.of(notification), rules.get(notification.channel)
    at = tried[-1].at if tried else None
    error = next((sending.said for sending in reversed(tried) if sending.said), "")
    if (sent_at := tries.sent_at(notification)) is not None:
        return Standing("sent", len(tried), sent_at, "")
    if not tries.is_open(notification):
        return Standing("given up", len(tried), at, f"after {len(tried)} tries: {error or 'none of them finished'}")
    if rule is None:
        detail = f"channel {notification.channel} is not configured: add it to the channels"
    elif tried:
        retry_at = tries.ready_at(notification)
        detail = f"tried {_times(len(tried))}, again at {retry_at:%Y-%m-%d %H:%M} UTC" + (f": {error}" if error else "")
    elif rule.digest_hour is not None:
        detail = f"for the digest at {rule.digest_hour:02}:00 UTC"
    else:
        detail = ""
    return Standing("waiting", len(tried), at, detail)


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"
