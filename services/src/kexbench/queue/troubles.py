"""Faults of background loops, such as the queue's. A fault does not end its loop: it is logged, kept here while it
lasts, and shown by `/health`. Also the rounds of loops, for metrics."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

from kexbench.store.port import StoreError, StoreFull

_log = logging.getLogger(__name__)


Loop = Literal["watcher", "announcer", "notifier"]
ROOM = "room"
"""The part of a store whose disk is full, whichever parts cannot write."""


def always() -> bool:
    """For a process that no other one stands by for."""
    return True


@dataclass(frozen=True)
class Rounds:
    """Of one loop since its process began. `succeeded_at` is its last success, None before the first."""

    succeeded_at: datetime | None = None
    failures: int = 0


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
        self._full: set[str] = set()
        """The parts that cannot write because the store's disk is full."""
        self._rounds: dict[Loop, Rounds] = {}

    @contextmanager
    def guard(self, part: str, expected: tuple[type[Exception], ...] = ()) -> Iterator[None]:
        """An error of the block becomes a trouble of `part`. It ends when the block succeeds. `expected` are further
        errors whose texts explain the fault."""
        try:
            yield
        except StoreFull as error:
            self.set_full(part, error)
        except Exception as error:
            explains = isinstance(error, (*self._expected, *expected))
            self.set(part, line_of(error) if explains else reason_of(error), exc_info=not explains)
        else:
            self.forget(part)

    def set(self, part: str, reason: str, *, exc_info: bool = False) -> None:
        """The part does not work, until `forget` says otherwise. Logged when the reason changes."""
        before = self._parts.get(part)
        self._parts[part] = Trouble(part, before.since if before else self._clock(), reason)
        if before is None or before.reason != reason:
            _log.warning("%s: %s", part, reason, exc_info=exc_info, extra={"event": "trouble", "part": part})

    def set_full(self, part: str, error: StoreFull) -> None:
        """The part cannot write, until `forget` says otherwise. Logged once, since free bytes change all the time."""
        self._full.add(part)
        before = self._parts.get(ROOM)
        self._parts[ROOM] = Trouble(ROOM, before.since if before else self._clock(), with_remedy(error))
        if before is None:
            sizes = {"free_bytes": error.free_bytes, "needed_bytes": error.needed_bytes}
            fields = {"event": "trouble", "part": ROOM, **sizes}
            _log.warning("results wait where they were measured: %s", with_remedy(error), extra=fields)

    def has_room(self) -> None:
        """Something was stored, so every part can write again."""
        self._full.clear()
        self.forget(ROOM)

    def lacks_room(self) -> bool:
        return ROOM in self._parts

    def begin_rounds(self, loop: Loop) -> None:
        self._rounds[loop] = Rounds()

    def guard_round(self, loop: Loop, part: str, once: Callable[[], bool]) -> None:
        """One round of a loop, which returns whether it succeeded. Its errors become a trouble of `part`."""
        succeeded = False
        with self.guard(part):
            succeeded = once()
        before = self._rounds.get(loop, Rounds())
        change = {"succeeded_at": self._clock()} if succeeded else {"failures": before.failures + 1}
        self._rounds[loop] = replace(before, **change)

    def rounds(self) -> dict[Loop, Rounds]:
        return self._rounds.copy()

    def add(self, part: str, reason: str) -> None:
        """Add a trouble that lasts until the process ends: it needs an action by the operator."""
        before = self._parts.get(part)
        self._parts[part] = Trouble(part, self._clock(), f"{before.reason} {reason}" if before else reason)

    def forget(self, part: str) -> None:
        """The part works again, or no longer exists."""
        if part in self._full:
            self._full.discard(part)
            if not self._full:
                self.forget(ROOM)
        if self._parts.pop(part, None):
            _log.warning("%s: works again", part, extra={"event": "trouble ended", "part": part})

    def now(self) -> list[Trouble]:
        return sorted(self._parts.copy().values(), key=lambda trouble: trouble.part)


def reason_of(error: Exception) -> str:
    """The error in one line, with its type unless it is a StoreError."""
    return line_of(error) if isinstance(error, StoreError) else f"{type(error).__name__}: {line_of(error)}"


def with_remedy(error: StoreError) -> str:
    return f"{line_of(error)}; {error.remedy}" if error.remedy else line_of(error)


def line_of(error: Exception) -> str:
    return "; ".join(filter(None, map(str.strip, str(error).splitlines())))
