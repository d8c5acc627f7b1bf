"""Sends what is due: takes one message after the other from the outbox, hands it to its channel, and says what came of
it. In a thread of `kexbench serve`, and on a cluster of the dispatcher's process."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Event, Thread
from typing import Protocol

from kexbench.api.alert_models import ToSend
from kexbench.api.troubles import Troubles
from kexbench.client import ApiError
from kexbench.domain.notifications import SAID_MAX, Sending, SendingState
from kexbench.notify.letters import letter_of
from kexbench.notify.port import Channel, ChannelError
from kexbench.wiring import Installation

AT_A_TIME = 100
"""So many messages, then it looks whether it shall end."""
PACE_S = 20.0
"""Between two looks at the outbox."""


class Outbox(Protocol):
    """Both raise ApiError, and both can be repeated."""

    def next_message(self) -> ToSend | None:
        """Begin the next message that is due."""
        ...

    def note_sending(self, sending: Sending) -> None:
        """Say what came of a message that was begun."""
        ...


class Sender:
    """Keeps nothing but what it could not note yet: that is noted before anything else is sent."""

    def __init__(
        self,
        outbox: Outbox,
        channels: Mapping[str, Channel],
        pages_url: str,
        say: Callable[[str], None],
        troubles: Troubles | None = None,
    ) -> None:
        """`channels` by their names; `pages_url` is where people reach the dashboard."""
        self._outbox = outbox
        self._guard = (troubles or Troubles()).guard
        self._channels = channels
        self._pages_url = pages_url
        self._say = say
        self._unnoted: list[Sending] = []
        self._trouble = ""
        """What was said last of an outbox that can't be asked, so that it is said once."""

    def run(self, ending: Event, interval_s: float) -> None:
        while not ending.is_set():
            with self._guard("notifications"):
                self.once(ending)
            ending.wait(interval_s)

    def once(self, ending: Event | None = None) -> bool:
        """Send what is due; whether the outbox could be asked. What a channel refuses is noted and tried again."""
        try:
            self._note()
            for _ in range(AT_A_TIME):
                if (ending and ending.is_set()) or (begun := self._outbox.next_message()) is None:
                    break
                self._unnoted.append(self._sent(begun))
                self._note()
        except ApiError as error:
            if self._trouble != str(error):
                self._say(f"notifications: {error}")
            self._trouble = str(error)
            return False
        self._trouble = ""
        return True

    def _note(self) -> None:
        while self._unnoted:
            self._outbox.note_sending(self._unnoted[0])
            del self._unnoted[0]

    def _sent(self, begun: ToSend) -> Sending:
        """The sending with what came of it."""
        sending = begun.sending
        try:
            channel = self._channels.get(sending.channel)
            if channel is None:
                raise ChannelError("who sends knows no channel of this name: give both processes the same channels")
            channel.send(letter_of(sending.message_id, begun.notifications, self._pages_url))
        except ChannelError as error:
            self._say(f"channel {sending.channel}: {error}")
            return sending.model_copy(update={"state": SendingState.FAILED, "said": str(error)[:SAID_MAX]})
        return sending.model_copy(update={"state": SendingState.SENT})


@contextmanager
def notifying(
    installation: Installation, outbox: Outbox, say: Callable[[str], None], troubles: Troubles | None = None
) -> Iterator[None]:
    """A sender that works for as long as the context lasts, in a thread; none where there is no channel. Raises
    DocumentError for wrong channels."""
    sender, ending = sender_of(installation, outbox, say, troubles), Event()
    if sender is None:
        yield
        return
    thread = Thread(target=sender.run, args=(ending, PACE_S), name="notifier")
    thread.start()
    try:
        yield
    finally:
        ending.set()
        thread.join()


def sender_of(
    installation: Installation, outbox: Outbox, say: Callable[[str], None], troubles: Troubles | None = None
) -> Sender | None:
    """None where there is no channel. Raises DocumentError for wrong channels."""
    if not installation.channels():
        return None  # opening them takes seconds
    return Sender(outbox, installation.opened_channels(), installation.settings.pages_url, say, troubles)
