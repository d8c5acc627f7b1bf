"""Lets several threads write at once, or a reader see a moment at which nothing is written."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class WriteTurns:
    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._writing = 0
        self._is_still = False

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Waits while a reader has the store still."""
        with self._changed:
            self._changed.wait_for(lambda: not self._is_still)
            self._writing += 1
        try:
            yield
        finally:
            with self._changed:
                self._writing -= 1
                self._changed.notify_all()

    @contextmanager
    def still(self) -> Iterator[None]:
        """Waits for what is being written, and lets nobody else write. The thread must not write meanwhile."""
        with self._changed:
            self._changed.wait_for(lambda: not self._is_still)
            self._is_still = True
            self._changed.wait_for(lambda: not self._writing)
        try:
            yield
        finally:
            with self._changed:
                self._is_still = False
                self._changed.notify_all()
