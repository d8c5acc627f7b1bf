"""What of the outbox is due: nothing is lost, nothing is sent again, and nobody gets more than they said."""

import random
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kexbench.domain.notifications import BY_DAY, ChannelRule, Notification, Sending, SendingState
from kexbench.notify.outbox import HOUR, LEASE, LONGEST_WAIT, MAX_TRIES, Message, Tries, due, standing_of, wait_after
from tests.builders import NOON, a_notification, a_sending

MINUTE = timedelta(minutes=1)
TEAM = ChannelRule(name="crypto-team")
DAILY = ChannelRule(name="crypto-team", events=BY_DAY, digest_hour=7)


def due_at(
    minutes: float, notifications: Sequence[Notification], sendings: Sequence[Sending] = (), rule: ChannelRule = TEAM
) -> list[list[int]]:
    """The numbers of the notifications in each message that is due so many minutes after noon."""
    found = due(notifications, sendings, {rule.name: rule}, NOON + minutes * MINUTE)
    return [[one.number for one in message.notifications] for message in found]


def test_each_is_due_by_itself_as_it_happened_oldest_first() -> None:
    assert due_at(5, [a_notification(2), a_notification(0), a_notification(1)]) == [[0], [1], [2]]


def test_what_was_sent_is_never_due_again_and_what_failed_is_after_a_while() -> None:
    sent, failed = a_notification(0), a_notification(1)
    sendings = [a_sending(sent), a_sending(failed, state=SendingState.FAILED, minutes=5)]
    assert due_at(5.9, [sent, failed], sendings) == []
    assert due_at(6, [sent, failed], sendings) == [[1]]


def test_what_was_begun_may_be_under_way_and_is_due_once_it_can_no_longer_be_with_the_same_key() -> None:
    killed = a_notification(0)
    sendings = [a_sending(killed, state=SendingState.BEGUN, minutes=1)]
    assert due_at(10.9, [killed], sendings) == []
    (again,) = due([killed], sendings, {TEAM.name: TEAM}, NOON + MINUTE + LEASE)
    assert again.message_id == sendings[0].message_id == killed.notification_id


def test_waits_grow_to_six_hours_and_end_after_twenty_tries() -> None:
    failing = a_notification(0)
    sendings: list[Sending] = []
    waits = []
    for _ in range(MAX_TRIES):
        at = sendings[-1].at + wait_after(sendings) if sendings else NOON
        assert due([failing], sendings, {TEAM.name: TEAM}, at)
        sendings.append(a_sending(failing, state=SendingState.FAILED, minutes=(at - NOON) / MINUTE))
        waits.append(wait_after(sendings))
    assert waits[:4] == [MINUTE, 2 * MINUTE, 4 * MINUTE, 8 * MINUTE]
    assert waits == sorted(waits)
    assert waits[-1] == LONGEST_WAIT
    assert timedelta(days=2) < sendings[-1].at - NOON < timedelta(days=3)
    assert due_at(1e6, [failing], sendings) == []


def test_what_fails_always_holds_up_nothing_that_is_new() -> None:
    failing, new = a_notification(0), a_notification(1)
    sendings = [a_sending(failing, state=SendingState.FAILED, minutes=1)]
    assert due_at(60, [failing, new], sendings) == [[1], [0]]


def test_what_there_is_no_room_for_in_an_hour_is_put_into_the_last_message() -> None:
    rule = TEAM.model_copy(update={"most_per_hour": 3})
    notifications = [a_notification(number, minutes=0) for number in range(10)]
    messages = due(notifications, [], {rule.name: rule}, NOON)
    assert [len(message.notifications) for message in messages] == [1, 1, 8]
    assert due(notifications, [], {}, NOON) == [], "nobody knows the channel"


def test_tries_count_against_the_limit_whatever_came_of_them_for_an_hour() -> None:
    rule = TEAM.model_copy(update={"most_per_hour": 2})
    notifications = [a_notification(number, minutes=0) for number in range(3)]
    sendings = [a_sending(notifications[0]), a_sending(notifications[1], state=SendingState.FAILED, minutes=1)]
    assert due_at(59, notifications, sendings, rule) == []
    assert [len(message) for message in due_at(60, notifications, sendings, rule)] == [2], "there is room for one"
    assert len(due_at(61, notifications, sendings, rule)) == 2


def test_a_digest_has_all_that_happened_before_its_hour_once_a_day() -> None:
    at_seven = 19 * 60
    notifications = [
        a_notification(0, minutes=0),
        a_notification(1, minutes=60),
        a_notification(2, minutes=at_seven + 1),
    ]
    assert due_at(at_seven - 0.1, notifications, rule=DAILY) == []
    assert due_at(at_seven, notifications, rule=DAILY) == [[0, 1]]
    sent = [a_sending(*notifications[:2], minutes=at_seven + 3)]
    late = a_notification(3, minutes=30)
    assert due_at(at_seven + 60, [*notifications, late], sent, DAILY) == [], "one was sent today"
    assert due_at(at_seven + 24 * 60, [*notifications, late], sent, DAILY) == [[3, 2]]


def test_a_digest_that_failed_is_tried_again_as_a_whole_with_the_same_key() -> None:
    at_seven = 19 * 60
    notifications = [a_notification(0), a_notification(1)]
    (first,) = due(notifications, [], {DAILY.name: DAILY}, NOON + at_seven * MINUTE)
    failed = [a_sending(*notifications, state=SendingState.FAILED, minutes=at_seven)]
    assert due_at(at_seven + 0.5, notifications, failed, DAILY) == []
    (again,) = due(notifications, failed, {DAILY.name: DAILY}, NOON + (at_seven + 1) * MINUTE)
    assert again.message_id == first.message_id == failed[0].message_id


def test_each_shows_how_far_it_is() -> None:
    notification = a_notification(0)
    rules = {TEAM.name: TEAM}
    failed = a_sending(notification, state=SendingState.FAILED, said="no route to host")
    many = [
        a_sending(notification, state=SendingState.FAILED, minutes=number, said="no such room")
        for number in range(MAX_TRIES)
    ]

    def standing(sendings: Sequence[Sending], rules: dict[str, ChannelRule] = rules) -> tuple[str, str]:
        found = standing_of(notification, Tries(sendings), rules)
        return found.state, found.detail

    assert standing([]) == ("waiting", "")
    assert standing([], {DAILY.name: DAILY}) == ("waiting", "for the digest at 07:00 UTC")
    assert standing([], {}) == (
        "waiting",
        "channel crypto-team is not configured: add it to the channels",
    )
    assert standing([failed]) == ("waiting", "tried once, again at 2026-01-01 12:01 UTC: no route to host")
    assert standing([failed, a_sending(notification, minutes=1)]) == ("sent", "")
    assert standing(many) == ("given up", "after 20 tries: no such room")


States = st.sampled_from([SendingState.SENT, SendingState.FAILED, SendingState.BEGUN])


class World:
    """A channel in trouble for a while, and a process that is killed now and then, so that nobody knows."""

    def __init__(self, rule: ChannelRule, notifications: Sequence[Notification], seed: int) -> None:
        self.rule = rule
        self.pending = sorted(notifications, key=lambda one: one.created_at)
        self.random = random.Random(seed)
        self.sendings: list[Sending] = []
        self.arrived: Counter[str] = Counter()
        self.noted: set[str] = set()
        self.handed_over: list[datetime] = []

    def look(self, now: datetime, *, works: bool) -> None:
        known = [one for one in self.pending if one.created_at <= now]
        shuffled = self.random.sample(known, len(known))
        tried = self.random.sample(self.sendings, len(self.sendings))
        messages = due(shuffled, tried, {self.rule.name: self.rule}, now)
        assert messages == due(known, self.sendings, {self.rule.name: self.rule}, now), "order of arrival"
        for message in messages[:1]:
            self.send(message, now, works=works)

    def send(self, message: Message, now: datetime, *, works: bool) -> None:
        assert not self.noted & set(message.ids), "sent again after it was known to be sent"
        begun = a_sending(*message.notifications, state=SendingState.BEGUN, minutes=(now - NOON) / MINUTE)
        self.sendings.append(begun)
        self.handed_over.append(now)
        fate = SendingState.SENT if works else self.random.choice(list(SendingState))
        if fate is not SendingState.FAILED:
            self.arrived.update(message.ids)
        if fate is not SendingState.BEGUN:
            self.sendings.append(begun.model_copy(update={"state": fate}))
        if fate is SendingState.SENT:
            self.noted |= set(message.ids)


@settings(deadline=None, max_examples=60)
@given(
    happened=st.lists(st.integers(0, 600), max_size=25),
    most_per_hour=st.integers(1, 5),
    digest_hour=st.one_of(st.none(), st.integers(0, 23)),
    troubled=st.integers(0, 300),
    seed=st.integers(0, 2**32),
)
def test_nothing_is_lost_nothing_is_sent_twice_once_that_is_known_and_the_limit_holds(
    happened: list[int], most_per_hour: int, digest_hour: int | None, troubled: int, seed: int
) -> None:
    """In trouble a message arrives or doesn't, and what came of it is noted or lost in a kill."""
    rule = ChannelRule(name="crypto-team", digest_hour=digest_hour, most_per_hour=most_per_hour)
    notifications = [a_notification(number, minutes=minutes) for number, minutes in enumerate(happened)]
    world = World(rule, notifications, seed)
    for minutes in [*range(0, troubled, 3), *range(troubled, 60 * 60, 20)]:
        world.look(NOON + minutes * MINUTE, works=minutes >= troubled)
    assert world.noted == {one.notification_id for one in notifications}
    assert all(world.arrived[one.notification_id] for one in notifications)
    for moment in world.handed_over:
        assert sum(moment - HOUR < other <= moment for other in world.handed_over) <= most_per_hour
    if not troubled:
        assert set(world.arrived.values()) <= {1}


@pytest.mark.parametrize("state", [SendingState.FAILED, SendingState.SENT])
def test_an_attempt_that_is_reported_twice_counts_once_in_whatever_order(state: SendingState) -> None:
    begun = a_sending(a_notification(0), state=SendingState.BEGUN)
    ended = begun.model_copy(update={"state": state})
    for sendings in ([begun, ended, begun], [ended, begun], [ended, ended]):
        assert Tries(sendings).sendings == [ended]
