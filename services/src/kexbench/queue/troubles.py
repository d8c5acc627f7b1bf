"""Faults of background loops, such as the queue's. A fault does not end its loop: it is logged, kept here while it
lasts, and shown by `/health`."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from kexbench.store.port import StoreError

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Trouble:
    """`part` has not worked since `since`. `reason` is one line."""

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
        """The texts of `expected` errors explain the fault. Other errors are bugs, and are logged with a traceback."""
        self._clock = clock
        self._expected = expected
        self._parts: dict[str, Trouble] = {}

    @contextmanager
    def guard(self, part: str) -> Iterator[None]:
        """An error of the block becomes a trouble of `part`. It ends when the block succeeds."""
        try:
            yield
        except Exception as error:
            expected = isinstance(error, self._expected)
            self.set(part, _line(error) if expected else reason_of(error), exc_info=not expected)
        else:
            self.forget(part)

    def set(self, part: str, reason: str, *, exc_info: bool = False) -> None:
        """The part does not work, until `forget` says otherwise. Logged when the reason changes."""
        before = self._parts.get(part)
        self._parts[part] = Trouble(part, before.since if before else self._clock(), reason)
        if before is None or before.reason != reason:
            _log.warning("%s: %s", part, reason, exc_info=exc_info)

    def add(self, part: str, reason: str) -> None:
        """Add a trouble that lasts until the process ends: it needs an action by the operator."""
        before = self._parts.get(part)
        self._parts[part] = Trouble(part, self._clock(), f"{before.reason} {reason}" if before else reason)

    def forget(self, part: str) -> None:
        """The part works again, or no longer exists."""
        if self._parts.pop(part, None):
            _log.warning("%s: works again", part)

    def now(self) -> list[Trouble]:
        return sorted(self._parts.copy().values(), key=lambda trouble: trouble.part)


def reason_of(error: Exception) -> str:
    """The error in one line, with its type unless it is a StoreError."""
    return _line(error) if isinstance(error, StoreError) else f"{type(error).__name__}: {_line(error)}"


def with_remedy(error: StoreError) -> str:
    return f"{_line(error)}; {error.remedy}" if error.remedy else _line(error)


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
