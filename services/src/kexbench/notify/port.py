"""What a channel is asked for, and how it says no."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Letter:
    """A message as people read it. The same key is the same message, should it arrive twice."""

    key: str
    title: str
    text: str
    markdown: str


class ChannelError(Exception):
    """A message did not get there, or nobody knows whether it did; the text says why, and holds no secret. `details`
    is what the other side answered, for who operates the channel and nobody else."""

    def __init__(self, text: str, details: str = "") -> None:
        super().__init__(text)
        self.details = details


class Channel(Protocol):
    def send(self, letter: Letter) -> None:
        """Returns once the channel has taken it. Raises ChannelError."""
        ...
