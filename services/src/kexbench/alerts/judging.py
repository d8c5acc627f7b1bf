"""A thread that judges ended runs, so that the queue goes on meanwhile: with a large store a verdict takes seconds."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from queue import Full, Queue
from threading import Event, Thread

_log = logging.getLogger(__name__)


class Judging:
    """Calls a function again and again, as often as requested, but never twice at once.

    Nothing is handed over: which runs are to be judged follows from the store. So one waiting request stands for all,
    and after a failure or a restart the next request judges what was left.
    """

    def __init__(self, judge: Callable[[], None]) -> None:
        """`judge` handles its own errors. An error that it raises is logged, and the thread goes on."""
        self._judge = judge
        self._requests: Queue[None] = Queue(maxsize=1)
        self._ending = Event()

    def request(self) -> None:
        """Judge once more. Returns at once."""
        with suppress(Full):  # the waiting one has not begun, so it will see the same
            self._requests.put_nowait(None)

    @contextmanager
    def working(self) -> Iterator[None]:
        """Judge for as long as the context lasts, which ends when what is being judged is judged."""
        thread = Thread(target=self._work, name="judging")
        thread.start()
        try:
            yield
        finally:
            self._ending.set()
            self.request()
            thread.join()

    def _work(self) -> None:
        while True:
            self._requests.get()
            if self._ending.is_set():
                return
            try:
                self._judge()
            except Exception:
                _log.exception("judging failed")
