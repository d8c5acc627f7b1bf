"""Removes batches that are older than configured, for as long as the service lasts."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from threading import Event, Thread

from kexbench.answers.pruning import is_measuring, prune_step
from kexbench.queue.troubles import Troubles
from kexbench.store.port import Store

PAUSE_S = 3600.0
"""Between two checks for batches that became old."""
_BUSY_S = 60.0
"""Until it tries again, while this machine measures and after a fault."""


class Pruner:
    def __init__(
        self,
        store: Store,
        keep: timedelta,
        troubles: Troubles,
        *,
        measures_here: bool,
        may_write: Callable[[], bool] = lambda: True,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """`measures_here`: this machine measures too, and must not be disturbed. `may_write`: no other process does it
        now."""
        self._may_write = may_write
        self._store = store
        self._keep = keep
        self._troubles = troubles
        self._measures_here = measures_here
        self._clock = clock

    def once(self) -> float:
        """One step. Returns the seconds until the next one."""
        with self._troubles.guard("pruning"):
            if not self._may_write():
                return _BUSY_S
            if self._measures_here and is_measuring(self._store):
                return _BUSY_S
            now = self._clock()
            step = prune_step(self._store, _midnight(now - self._keep), now)
            return PAUSE_S if step.is_last else 0.0
        return _BUSY_S

    @contextmanager
    def working(self) -> Iterator[None]:
        ending = Event()

        def work() -> None:
            while not ending.wait(self.once()):
                pass

        thread = Thread(target=work, name="pruning")
        thread.start()
        try:
            yield
        finally:
            ending.set()
            thread.join()


def _midnight(moment: datetime) -> datetime:
    """The last one before. Each removal rewrites a part of the store, so there is one a day."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)
