"""What Prometheus reads from the store and from background loops. A failing part gives no values, and is a trouble.

Scrapes come a few times a minute for years: the events of runs are read again only after a write.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from kexbench.answers.fleet import fleet
from kexbench.domain.runs import RunState
from kexbench.queue.troubles import Troubles
from kexbench.store.port import RunStateRow, Store

NODES_AGE = timedelta(minutes=5)
"""The fleet is read again at most so often: what nodes measured in 90 days takes longer to read than a scrape may."""
WAITING = (RunState.QUEUED, RunState.BUILDING)


class _OfStore(Collector):
    part: str
    """The trouble's name."""

    def __init__(self, store: Store, troubles: Troubles) -> None:
        self._store = store
        self._troubles = troubles

    def describe(self) -> list[Metric]:
        """Without this, registering would query the store."""
        return []

    def collect(self) -> Iterator[Metric]:
        metrics: Sequence[Metric] = ()
        with self._troubles.guard(self.part):
            metrics = self._read()
        yield from metrics

    @abstractmethod
    def _read(self) -> Sequence[Metric]:
        """Raises StoreError."""


class RunMetrics(_OfStore):
    part = "metrics of runs"

    def __init__(self, store: Store, troubles: Troubles, clock: Callable[[], datetime]) -> None:
        super().__init__(store, troubles)
        self._clock = clock
        self._kept: tuple[str, Sequence[RunStateRow]] | None = None
        """The rows, and the store's newest write before they were read."""

    def _read(self) -> Sequence[Metric]:
        now, rows = self._clock(), {row.state: row for row in self._rows()}
        runs = GaugeMetricFamily("kexbench_runs", "Runs by their state.", labels=["state"])
        words = "Seconds that the longest unchanged open run has been in a state."
        unchanged = GaugeMetricFamily("kexbench_run_state_seconds", words, labels=["state"])
        for state in RunState:
            row = rows.get(state)
            runs.add_metric([state], row.runs if row else 0)
            if state.is_open:
                unchanged.add_metric([state], _seconds(row.since if row else now, now))
        words = "Seconds since the run was queued that has waited longest for its start; 0 if none waits."
        oldest = min((rows[state].queued_at for state in WAITING if state in rows), default=now)
        waiting = GaugeMetricFamily("kexbench_oldest_waiting_run_seconds", words, value=_seconds(oldest, now))
        return runs, unchanged, waiting

    def _rows(self) -> Sequence[RunStateRow]:
        newest = self._store.newest_write()
        if self._kept is None or self._kept[0] != newest:
            self._kept = newest, self._store.run_states()
        return self._kept[1]


class TableMetrics(_OfStore):
    part = "metrics of tables"

    def _read(self) -> Sequence[Metric]:
        sizes = GaugeMetricFamily("kexbench_store_bytes", "Size of the store's tables on disk.", labels=["table"])
        for size in self._store.sizes():
            sizes.add_metric([size.table], size.size_bytes)
        return [sizes]


class DiskMetrics(_OfStore):
    part = "metrics of disks"

    def _read(self) -> Sequence[Metric]:
        words = "Free space that the store may use on its disk."
        free = GaugeMetricFamily("kexbench_store_disk_free_bytes", words, labels=["disk"])
        size = GaugeMetricFamily("kexbench_store_disk_size_bytes", "Size of the store's disk.", labels=["disk"])
        for disk in self._store.disks():
            free.add_metric([disk.disk], disk.free_bytes)
            size.add_metric([disk.disk], disk.size_bytes)
        return free, size


class NodeMetrics(_OfStore):
    part = "metrics of nodes"

    def __init__(self, store: Store, troubles: Troubles, clock: Callable[[], datetime]) -> None:
        super().__init__(store, troubles)
        self._clock = clock
        self._kept: tuple[datetime, int] | None = None
        """When the nodes were counted, and their number."""

    def _read(self) -> Sequence[Metric]:
        now = self._clock()
        if self._kept is None or now - self._kept[0] >= NODES_AGE:
            nodes = [node for pool in fleet(self._store).pools for node in pool.nodes]
            self._kept = now, sum(node.differs is not None and node.set_aside is None for node in nodes)
        words = "Nodes that differ from their peers and whose results count."
        return [GaugeMetricFamily("kexbench_differing_nodes", words, value=self._kept[1])]


class LoopMetrics(Collector):
    """The loops of this process: on one machine those of the service, on a cluster those of the dispatcher."""

    def __init__(self, troubles: Troubles) -> None:
        self._troubles = troubles

    def collect(self) -> Iterator[Metric]:
        words = "When a background loop last succeeded; 0 if never since its process began."
        succeeded = GaugeMetricFamily("kexbench_loop_last_success_timestamp_seconds", words, labels=["loop"])
        failures = CounterMetricFamily("kexbench_loop_failures", "Failed rounds of a background loop.", labels=["loop"])
        for loop, rounds in self._troubles.rounds().items():
            succeeded.add_metric([loop], rounds.succeeded_at.timestamp() if rounds.succeeded_at else 0)
            failures.add_metric([loop], rounds.failures)
        yield succeeded
        yield failures


def _seconds(since: datetime, now: datetime) -> float:
    return max(0.0, (now - since).total_seconds())
