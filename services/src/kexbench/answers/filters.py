"""What answers can be filtered by, and which runs are left out of overviews."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import HostKind
from kexbench.domain.samples import Metric
from kexbench.store.evidence import Evidence
from kexbench.store.port import (
    Store,
)


class MetricView(Frozen):
    metric: Metric
    title: str = Field(examples=["Server CPU time"])
    unit: Literal["ns", "bytes", "count"]
    stored: bool = Field(
        description="whether any number is stored, or was and is withdrawn; many machines have no hardware counters"
    )


class FirstLookView(Frozen):
    run_id: str
    spec_name: str
    measured_at: datetime


class RunsAside(Frozen):
    """Runs with results that are not part of the history of versions."""

    first_looks: int = Field(description="runs with a few short invocations: `kexbench run --quick`")
    newest: list[FirstLookView] = Field(description="the last measured of them first")
    shows_first_looks: bool = Field(
        description="whether overviews show them: as long as no other run has results. Otherwise they are left out"
    )
    others: int = Field(
        description="runs of bisections, backfills, searches for causes, interoperability and qualifications, which "
        "overviews always leave out"
    )


class Filters(Frozen):
    """The values to filter by."""

    host_kinds: list[HostKind]
    libraries: list[str]
    metrics: list[MetricView]
    aside: RunsAside


Unit = Literal["ns", "bytes", "count"]
_TITLES: dict[Metric, tuple[str, Unit]] = {
    Metric.CPU_NS: ("CPU time, both sides", "ns"),
    Metric.CLIENT_CPU_NS: ("Client CPU time", "ns"),
    Metric.SERVER_CPU_NS: ("Server CPU time", "ns"),
    Metric.WALL_NS: ("Wall time", "ns"),
    Metric.ELAPSED_NS: ("Wall time of everything, all threads together", "ns"),
    Metric.ALONE_NS: ("Wall time of everything, each of the threads alone in turn", "ns"),
    Metric.FIRST_NS: ("First handshake after a pause", "ns"),
    Metric.CONNECTION_CPU_NS: ("CPU time of a whole connection, both sides", "ns"),
    Metric.CLIENT_CONNECTION_CPU_NS: ("Client CPU time of a whole connection", "ns"),
    Metric.SERVER_CONNECTION_CPU_NS: ("Server CPU time of a whole connection", "ns"),
    Metric.CLIENT_OBJECTS_CPU_NS: ("Client CPU time of making and freeing objects", "ns"),
    Metric.SERVER_OBJECTS_CPU_NS: ("Server CPU time of making and freeing objects", "ns"),
    Metric.CLIENT_TRANSFER_CPU_NS: ("Client CPU time of receiving application data", "ns"),
    Metric.SERVER_TRANSFER_CPU_NS: ("Server CPU time of sending application data", "ns"),
    Metric.HANDSHAKE_P50_NS: ("Time until the handshake with a web server is done, median", "ns"),
    Metric.HANDSHAKE_P99_NS: ("Time until the handshake with a web server is done, 99th percentile", "ns"),
    Metric.RESPONSE_P50_NS: ("Time until a web server's response is complete, median", "ns"),
    Metric.RESPONSE_P99_NS: ("Time until a web server's response is complete, 99th percentile", "ns"),
    Metric.CLIENT_BYTES: ("Bytes sent by the client", "bytes"),
    Metric.SERVER_BYTES: ("Bytes sent by the server", "bytes"),
    Metric.CLIENT_RECORDS: ("Records sent by the client", "count"),
    Metric.SERVER_RECORDS: ("Records sent by the server", "count"),
    Metric.ROUND_TRIPS: ("Round trips before application data", "count"),
    Metric.CLIENT_ALLOCATIONS: ("Heap allocations of the client", "count"),
    Metric.SERVER_ALLOCATIONS: ("Heap allocations of the server", "count"),
    Metric.HEAP_PEAK_BYTES: ("Peak heap, both sides", "bytes"),
    Metric.CLIENT_HELD_BYTES: ("Heap held by an open client connection", "bytes"),
    Metric.SERVER_HELD_BYTES: ("Heap held by an open server connection", "bytes"),
    Metric.CLIENT_INSTRUCTIONS: ("Instructions of the client", "count"),
    Metric.SERVER_INSTRUCTIONS: ("Instructions of the server", "count"),
    Metric.CLIENT_CYCLES: ("Cycles of the client", "count"),
    Metric.SERVER_CYCLES: ("Cycles of the server", "count"),
    Metric.CLIENT_BRANCH_MISSES: ("Branch misses of the client", "count"),
    Metric.SERVER_BRANCH_MISSES: ("Branch misses of the server", "count"),
    Metric.CLIENT_CACHE_MISSES: ("Cache misses of the client", "count"),
    Metric.SERVER_CACHE_MISSES: ("Cache misses of the server", "count"),
    Metric.COUNTED_INSTRUCTIONS: ("Instructions counted by callgrind, both sides", "count"),
    Metric.CLIENT_COUNTED_INSTRUCTIONS: ("Instructions of the client, counted by callgrind", "count"),
    Metric.SERVER_COUNTED_INSTRUCTIONS: ("Instructions of the server, counted by callgrind", "count"),
    Metric.OBJECTS_COUNTED_INSTRUCTIONS: ("Instructions of making and freeing objects, counted by callgrind", "count"),
}


def metric_views(stored: set[str]) -> list[MetricView]:
    """All metrics, in the order shown; `stored` are those with numbers."""
    return [metric_view(metric, stored=metric in stored) for metric in _TITLES]


def metric_view(metric: Metric, *, stored: bool = True) -> MetricView:
    title, unit = _TITLES[metric]
    return MetricView(metric=metric, title=title, unit=unit, stored=stored)


MOST_FIRST_LOOKS = 5
"""Older ones are found on the page of runs."""


def _runs_aside(store: Store) -> RunsAside:
    evidence = store.evidence()
    measured_at = evidence.measured_at(evidence.asides)
    first_looks = sorted(
        evidence.first_looks & measured_at.keys(), key=lambda run_id: measured_at[run_id], reverse=True
    )
    names = {run.run_id: run.plan.spec_name for run in store.runs_named(first_looks[:MOST_FIRST_LOOKS])}
    return RunsAside(
        first_looks=len(first_looks),
        newest=[
            FirstLookView(run_id=run_id, spec_name=names[run_id], measured_at=measured_at[run_id])
            for run_id in first_looks[:MOST_FIRST_LOOKS]
            if run_id in names  # unreadable runs have no name
        ],
        shows_first_looks=bool(first_looks) and evidence.shows_first_looks,
        others=len(measured_at) - len(first_looks),
    )


def filters(store: Store) -> Filters:
    """Host kinds with the newest samples come first."""
    return Filters(
        host_kinds=store.host_kinds(),
        libraries=sorted(store.libraries()),
        metrics=metric_views(store.metrics() | store.withdrawn_metrics()),
        aside=store.kept_value(("runs aside",), Evidence.of_all, lambda: _runs_aside(store)),
    )
