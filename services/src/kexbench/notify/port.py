"""The interface of a channel, and its error."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Letter:
    """A message as people read it. Two copies with the same key are the same message."""

    key: str
    title: str
    text: str
    markdown: str


class ChannelError(Exception):
    """A message did not arrive, or may not have arrived. The text says why and contains no secret. `details`: the
    channel's answer, only for those who operate the channel."""

    def __init__(self, text: str, details: str = "") -> None:
        super().__init__(text)
        self.details = details


class Channel(Protocol):
    def send(self, letter: Letter) -> None:
        """Returns once the channel has accepted the letter. Raises ChannelError."""
        ...
