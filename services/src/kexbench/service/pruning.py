"""Removes batches that are older than configured, for as long as the service lasts."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from threading import Event, Thread

from kexbench.api.troubles import Troubles
from kexbench.comparison.pruning import prune_step
from kexbench.domain.runs import RunState
from kexbench.store.port import Store

PAUSE_S = 3600.0
"""Between two checks for batches that became old."""
_BUSY_S = 60.0


class Pruner:
    def __init__(
        self,
        store: Store,
        keep: timedelta,
        troubles: Troubles,
        *,
        measures_here: bool,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """`measures_here`: this machine measures too, and must not be disturbed."""
        self._store = store
        self._keep = keep
        self._troubles = troubles
        self._measures_here = measures_here
        self._clock = clock

    def once(self) -> float:
        """One step. Returns the seconds until the next one."""
        with self._troubles.guard("pruning"):
            if self._measures_here and any(row.state is RunState.RUNNING for row in self._store.run_states()):
                return _BUSY_S
            now = self._clock()
            if not prune_step(self._store, now - self._keep, now).is_last:
                return 0.0
        return PAUSE_S

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
