"""The sender: what is due gets to its channel and is noted, through trouble of channels, of the API, and kills."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from threading import Event

import pytest

from kexbench.api.alert_models import ToSend
from kexbench.api.notifications import next_message, note_sending
from kexbench.client import ApiClient, Unreachable, token_in
from kexbench.domain.notifications import ChannelRule, Sending, SendingState
from kexbench.notifier import Outbox, Sender
from kexbench.notify.apprise_channel import KEY_HEADER, AppriseChannel
from kexbench.notify.port import Channel, Letter
from kexbench.queue.troubles import Rounds, Troubles
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.port import StoreError
from tests.api.cluster import cluster_app
from tests.builders import NOON, a_notification
from tests.notify.conftest import SECRET, Webhook, hook
from tests.notify.fake import FakeChannel
from tests.serving import serving

__all__ = ["hook"]
TEAM, OTHER = ChannelRule(name="crypto-team"), ChannelRule(name="other")
PAGES = "https://kexbench.example"


@dataclass
class Stage:
    """Implements Outbox as the API does, but with a clock of its own; and a channel that notes what it is sent."""

    store: ClickHouseStore
    now: datetime = NOON
    rules: tuple[ChannelRule, ...] = (TEAM, OTHER)
    channel: FakeChannel = field(default_factory=FakeChannel)
    other: FakeChannel = field(default_factory=FakeChannel)
    said: list[str] = field(default_factory=list)
    troubles: Troubles = field(default_factory=Troubles)

    def next_message(self) -> ToSend | None:
        return next_message(self.store, self.rules, self.now)

    def note_sending(self, sending: Sending) -> None:
        note_sending(self.store, sending)

    def sender(self, outbox: Outbox | None = None, **channels: Channel) -> Sender:
        known = channels or {"crypto-team": self.channel, "other": self.other}
        return Sender(outbox or self, known, PAGES, self.said.append, self.troubles)

    def happens(self, *numbers: int, channel: str = "crypto-team") -> None:
        self.store.add_notifications([a_notification(number, channel=channel, minutes=0) for number in numbers])

    def keys(self) -> list[str]:
        return [letter.key for letter in self.channel.letters]


@pytest.fixture
def stage(empty_store: ClickHouseStore) -> Stage:
    return Stage(empty_store)


class DyingOutbox:
    """Implements Outbox, and dies where a process may be killed."""

    def __init__(self, inner: Outbox, notes: int) -> None:
        self.inner = inner
        self.notes = notes
        self.next_message = inner.next_message

    def note_sending(self, sending: Sending) -> None:
        if not self.notes:
            raise InterruptedError
        self.notes -= 1
        self.inner.note_sending(sending)


def test_what_is_due_gets_to_its_channel_once_with_links_to_the_pages(stage: Stage) -> None:
    stage.happens(0, 1)
    stage.happens(0, channel="other")
    sender = stage.sender()
    for _ in range(2):
        assert sender.once()
    assert sorted(letter.title for letter in stage.channel.letters) == ["thing 0", "thing 1"]
    assert f"{PAGES}/alerts/" in stage.channel.letters[0].text
    assert len(stage.other.letters) == 1
    assert stage.said == []


def test_a_channel_that_refuses_holds_up_no_other_and_is_tried_again_later(stage: Stage) -> None:
    stage.happens(0)
    stage.happens(0, channel="other")
    stage.channel.refusal = "no such room"
    sender = stage.sender()
    assert sender.once()
    assert (stage.keys(), len(stage.other.letters)) == ([], 1)
    assert [(trouble.part, trouble.reason) for trouble in stage.troubles.now()] == [
        ("channel crypto-team", "no such room")
    ]
    stage.channel.refusal = ""
    stage.now += timedelta(minutes=2)
    assert sender.once()
    assert stage.troubles.now() == []
    assert stage.keys() == [a_notification(0).notification_id]


@pytest.mark.parametrize("notes", [0, 1])
def test_killed_between_a_message_and_its_note_the_next_one_sends_it_again_with_the_same_key(
    stage: Stage, notes: int
) -> None:
    stage.happens(0, 1)
    with pytest.raises(InterruptedError):
        stage.sender(DyingOutbox(stage, notes)).once()
    first = stage.keys()
    assert len(first) == notes + 1
    stage.now += timedelta(minutes=11)
    assert stage.sender().once()
    again = stage.keys()[len(first) :]
    assert again.count(first[-1]) == 1, "nobody knew whether it arrived"
    assert not set(again) & set(first[:-1])
    assert set(stage.keys()) == {a_notification(number).notification_id for number in (0, 1)}


def test_what_could_not_be_noted_is_noted_before_anything_else_and_not_sent_again(stage: Stage) -> None:
    stage.happens(0, 1)

    class Away(DyingOutbox):
        def note_sending(self, sending: Sending) -> None:
            if self.notes:
                self.notes -= 1
                raise Unreachable("no route to host")
            self.inner.note_sending(sending)

    sender = stage.sender(Away(stage, notes=3))
    for _ in range(3):
        assert not sender.once()
    assert len(stage.keys()) == 1
    assert stage.said == ["notifications: no route to host"]
    stage.now += timedelta(days=1)
    assert sender.once()
    assert sorted(stage.keys()) == sorted(a_notification(number).notification_id for number in (0, 1))


def test_a_round_in_which_a_channel_refused_is_a_failed_one(stage: Stage) -> None:
    stage.happens(0)
    troubles, ending = Troubles(lambda: stage.now), Event()
    sender = Sender(stage, {"other": stage.other}, PAGES, stage.said.append, troubles)

    class EndingClock(Event):
        def wait(self, timeout: float | None = None) -> bool:
            ending.set()
            return True

        def is_set(self) -> bool:
            return ending.is_set()

    sender.run(EndingClock(), 1)
    assert troubles.rounds() == {"notifier": Rounds(None, failures=1)}
    ending.clear()
    sender.run(EndingClock(), 1)
    assert troubles.rounds() == {"notifier": Rounds(NOON, failures=0)}, "nothing is due yet; it began anew"


def test_a_channel_that_only_the_api_knows_is_reported_as_a_reason(stage: Stage) -> None:
    stage.happens(0)
    assert stage.sender(None, other=stage.other).once()
    (sending,) = [one for one in stage.store.sendings([], NOON) if one.state is SendingState.FAILED]
    assert "give both processes the same channels" in sending.said


def test_it_ends_between_two_messages_when_it_is_asked_to(stage: Stage) -> None:
    ending = Event()

    class Last(FakeChannel):
        def send(self, letter: Letter) -> None:
            super().send(letter)
            ending.set()

    last = Last()
    stage.happens(0, 1, 2)
    sender = stage.sender(None, **{"crypto-team": last})
    sender.run(ending, 3600)
    assert len(last.letters) == 1
    waiting = stage.store.open_notifications(20)
    assert len(waiting) == 2


@pytest.fixture
def api(stage: Stage, tmp_path: Path) -> Iterator[ApiClient]:
    """Of a cluster, over a socket."""
    (tmp_path / "token").write_text("dispatcher")
    app = cluster_app(stage.store, tmp_path / "api", channels=stage.rules)
    with serving(app) as url, closing(ApiClient(url, token_in(tmp_path / "token"), patience_s=None)) as found:
        yield found


def test_a_store_that_refuses_is_reported_and_nothing_is_sent(
    stage: Stage, api: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise StoreError("the store refused a query")

    monkeypatch.setattr(stage.store, "unnotified_events", refuse)
    stage.happens(0)
    assert not stage.sender(api).once()
    assert stage.said == ["notifications: the store refused a query; try again; nothing was lost"]
    assert stage.keys() == []


def test_over_the_api_a_webhook_is_notified_with_the_key_and_nobody_reads_its_address(
    stage: Stage, api: ApiClient, hook: Webhook
) -> None:
    stage.happens(0)
    channel = AppriseChannel(hook.address())
    sender = stage.sender(api, **{"crypto-team": channel})
    hook.status, hook.answer = 403, SECRET.encode()
    assert sender.once()
    assert len(hook.posted) == 1
    listed = api.send("GET", "/notifications").text
    assert "error=403" in listed
    assert SECRET not in listed + "".join(stage.said)
    (posted,) = hook.posted
    assert posted.headers[KEY_HEADER] == a_notification(0).notification_id
    assert sender.once(), "nothing is due before a minute has passed"
    assert len(hook.posted) == 1
