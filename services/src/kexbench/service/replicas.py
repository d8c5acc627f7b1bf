"""Several processes that serve one store on a server: one of them writes, and the others hand writes on to it
(docs/adr/0050)."""

import logging
import threading
import time
from collections.abc import Callable

from kexbench.execution.argo.cluster import ClusterError
from kexbench.execution.leases import Leases, LeaseView
from kexbench.queue.troubles import Troubles
from kexbench.store.lock import StoreLock
from kexbench.store.port import Schema, Store

LEASE_S = 15
MARGIN_S = 5.0
"""The writer stops so long before others may take the lease: for a statement that is under way, and for clocks that
differ."""
PACE_S = 2.0
"""Between two looks at the lease."""
_log = logging.getLogger(__name__)
_PART = "lease"


def _seconds() -> float:
    """Goes on while the machine sleeps, as `time.monotonic` does not."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Replica:
    """One of these processes. Implements `Writing`; safe for threads."""

    def __init__(
        self,
        leases: Leases,
        name: str,
        identity: str,
        store: Store,
        open_store: Callable[[], None],
        alone: StoreLock,
        troubles: Troubles,
        clock: Callable[[], float] = _seconds,
    ) -> None:
        """`name` is the lease's. `identity` ends with the address of this process, behind a space. `open_store`
        prepares the store for writing. `alone` is the lock that a process holds which knows of no others. `clock`
        returns seconds that never go back."""
        self._leases = leases
        self._name = name
        self._identity = identity
        self._store = store
        self._open_store = open_store
        self._alone = alone
        self._troubles = troubles
        self._clock = clock
        self._until_s = 0.0
        """Until then no other process can hold the lease, by this clock."""
        self._term = 0
        """Counts how often the lease was taken."""
        self._opened_in = 0
        """The term in which the store was opened."""
        self._opening: threading.Thread | None = None
        self._seen = LeaseView()
        self._seen_at_s = clock()
        self._schema: Schema | None = None
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._work, name="lease")

    def may_write(self) -> bool:
        return self._clock() < self._until_s

    def leads(self) -> bool:
        return self.may_write() and self._opened_in == self._term

    def answers(self) -> bool:
        return self._schema == "same"

    def writer_url(self) -> str | None:
        holder = self._seen.holder
        return holder.rpartition(" ")[2] if holder and holder != self._identity else None

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        """Let another process write at once. Call it when the store is closed."""
        self._ending.set()
        if self._thread.ident is not None:
            self._thread.join()
        if self._opening:
            self._opening.join()
        self._until_s = 0.0
        try:
            self._leases.release(self._name, self._identity)
        except ClusterError as error:
            _log.warning("%s", error)

    def once(self) -> None:
        """Look at the lease, and take or renew it if it is ours or nobody's."""
        try:
            self._look()
        except ClusterError as error:
            self._troubles.set(_PART, " ".join(str(error).split()))
        else:
            self._troubles.forget(_PART)
        with self._troubles.guard("schema"):
            self._schema = self._store.schema()

    def _look(self) -> None:
        view = self._leases.view(self._name)
        if view != self._seen:
            self._seen, self._seen_at_s = view, self._clock()
        was_ours = self.may_write()
        if view.holder == self._identity or self._is_free(view):
            began_s = self._clock()
            if self._leases.hold(self._name, self._identity, LEASE_S):
                if not was_ours:
                    self._term += 1
                    _log.warning("this process writes to the store from now on", extra={"event": "writer"})
                self._until_s = began_s + LEASE_S - MARGIN_S
                self._begin_to_open()
                return
        self._until_s = 0.0
        if was_ours:
            _log.warning("another process writes to the store: %s", view.holder, extra={"event": "writer lost"})

    def _is_free(self, view: LeaseView) -> bool:
        """Also by the time that has passed here, since the clocks of two machines differ. A process of an older release
        than the store's cannot write."""
        is_over = not view.holder or self._clock() - self._seen_at_s > LEASE_S
        return is_over and self._schema in ("same", "older") and self._nobody_is_alone()

    def _nobody_is_alone(self) -> bool:
        if not self._alone.acquire():
            self._troubles.set("alone", "a process that knows of no others serves this home: end it")
            return False
        self._alone.release()
        self._troubles.forget("alone")
        return True

    def _begin_to_open(self) -> None:
        """In a thread of its own, since a migration may outlast the lease, which is renewed meanwhile."""
        if self._opened_in != self._term and not (self._opening and self._opening.is_alive()):
            self._opening = threading.Thread(target=self._open, args=(self._term,), name="opening the store")
            self._opening.start()

    def _open(self, term: int) -> None:
        with self._troubles.guard("opening the store"):
            self._open_store()
            self._schema = self._store.schema()
            self._opened_in = term

    def _work(self) -> None:
        while not self._ending.is_set():
            self.once()
            self._ending.wait(PACE_S)
