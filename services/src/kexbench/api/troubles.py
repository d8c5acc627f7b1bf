"""What is wrong with the loops that work beside the API, such as the queue's. A fault ends no loop: it is logged, kept
here for as long as it lasts, and shown in the answer to `/health`."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from kexbench.store.port import StoreError

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Trouble:
    """`part` does not work since `since`; `reason` is one line."""

    part: str
    since: datetime
    reason: str


class Troubles:
    """Safe for threads: each part is written by its own loop, and a reader gets a copy."""

    def __init__(
        self,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        expected: tuple[type[Exception], ...] = (StoreError,),
    ) -> None:
        """`expected` errors say in one line what is wrong; anything else is a fault of this program."""
        self._clock = clock
        self._expected = expected
        self._parts: dict[str, Trouble] = {}

    @contextmanager
    def guard(self, part: str) -> Iterator[None]:
        """Whatever the block raises is a trouble of `part`, which ends when the block comes through."""
        try:
            yield
        except Exception as error:
            before = self._parts.get(part)
            expected = isinstance(error, self._expected)
            reason = _line(error) if expected else reason_of(error)
            self._parts[part] = Trouble(part, before.since if before else self._clock(), reason)
            if before is None or before.reason != reason:
                _log.warning("%s: %s", part, reason, exc_info=not expected)
        else:
            self.forget(part)

    def add(self, part: str, reason: str) -> None:
        """A trouble that lasts as long as this process: somebody has to do something about it."""
        before = self._parts.get(part)
        self._parts[part] = Trouble(part, self._clock(), f"{before.reason} {reason}" if before else reason)

    def forget(self, part: str) -> None:
        """The part works, or is no more."""
        if self._parts.pop(part, None):
            _log.warning("%s: works again", part)

    def now(self) -> list[Trouble]:
        return sorted(self._parts.copy().values(), key=lambda trouble: trouble.part)


def reason_of(error: Exception) -> str:
    """In one line: what a fault of the store says, and of any other its kind too."""
    return _line(error) if isinstance(error, StoreError) else f"{type(error).__name__}: {_line(error)}"


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
