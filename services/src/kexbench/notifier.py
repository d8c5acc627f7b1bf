"""Sends due notifications: takes one message at a time from the outbox, hands it to its channel, and records the
result. Works in a thread of `kexbench serve`, on a cluster in one of the dispatcher."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from threading import Event, Thread
from typing import Protocol

from kexbench import traces
from kexbench.api.alert_models import ToSend
from kexbench.client import ApiError
from kexbench.domain.notifications import SAID_MAX, Sending, SendingState
from kexbench.notify.letters import letter_of
from kexbench.notify.port import Channel, ChannelError
from kexbench.queue.troubles import Troubles, always, line_of
from kexbench.wiring import Installation

AT_A_TIME = 100
"""Messages between two checks whether to end."""
PACE_S = 20.0
"""Between two polls of the outbox."""


class Outbox(Protocol):
    """Both methods raise ApiError, and both can be repeated."""

    def next_message(self) -> ToSend | None:
        """Start the next due message."""
        ...

    def note_sending(self, sending: Sending) -> None:
        """Record the result of a started message."""
        ...


class Sender:
    """Keeps only results that it could not record yet: it records them before sending anything else."""

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
        self._troubles = troubles or Troubles()
        self._channels = channels
        self._pages_url = pages_url
        self._say = say
        self._unrecorded: list[Sending] = []
        self._has_failed = False
        self._reported = ""
        """The last reported error of the outbox, so that each is reported once."""

    def run(self, ending: Event, interval_s: float, acts: Callable[[], bool] = always) -> None:
        self._troubles.begin_rounds("notifier")
        while not ending.is_set():
            if acts():
                self._troubles.guard_round("notifier", "notifications", partial(self._round, ending))
            ending.wait(interval_s)

    def _round(self, ending: Event) -> bool:
        """Whether the outbox answered and no channel refused a message."""
        self._has_failed = False
        return self.once(ending) and not self._has_failed

    def once(self, ending: Event | None = None) -> bool:
        """Send due messages. Returns whether the outbox answered. Refused messages are recorded and tried again."""
        try:
            self._record()
            for _ in range(AT_A_TIME):
                if (ending and ending.is_set()) or (started := self._outbox.next_message()) is None:
                    break
                self._unrecorded.append(self._send(started))
                self._record()
        except ApiError as error:
            if self._reported != str(error):
                self._say(f"notifications: {error}")
            self._reported = str(error)
            return False
        self._reported = ""
        return True

    def _record(self) -> None:
        while self._unrecorded:
            self._outbox.note_sending(self._unrecorded[0])
            del self._unrecorded[0]

    def _send(self, started: ToSend) -> Sending:
        """Send a started message. Returns the sending with its result."""
        sending = started.sending
        part = f"channel {sending.channel}"
        try:
            channel = self._channels.get(sending.channel)
            if channel is None:
                raise ChannelError("the sending process has no such channel: give both processes the same channels")
            with ExitStack() as spans:
                for run_id in started.run_ids:
                    spans.enter_context(traces.span("notify", run_id, channel=sending.channel))
                channel.send(letter_of(sending.message_id, started.notifications, self._pages_url))
        except ChannelError as error:
            self._has_failed = True
            self._troubles.set(part, line_of(error))
            return sending.model_copy(update={"state": SendingState.FAILED, "said": str(error)[:SAID_MAX]})
        self._troubles.forget(part)
        return sending.model_copy(update={"state": SendingState.SENT})


@contextmanager
def notifying(
    installation: Installation,
    outbox: Outbox,
    say: Callable[[str], None],
    troubles: Troubles | None = None,
    acts: Callable[[], bool] = always,
) -> Iterator[None]:
    """Run a sender in a thread for as long as the context lasts; none if there is no channel. It sends while this
    process `acts`. Raises DocumentError for faulty channels."""
    sender, ending = sender_of(installation, outbox, say, troubles), Event()
    if sender is None:
        yield
        return
    thread = Thread(target=sender.run, args=(ending, PACE_S, acts), name="notifier")
    thread.start()
    try:
        yield
    finally:
        ending.set()
        thread.join()


def sender_of(
    installation: Installation, outbox: Outbox, say: Callable[[str], None], troubles: Troubles | None = None
) -> Sender | None:
    """None if there is no channel. Raises DocumentError for faulty channels."""
    if not installation.channels():
        return None  # opening channels takes seconds
    return Sender(outbox, installation.opened_channels(), installation.settings.pages_url, say, troubles)
