"""What people read of each metric."""

from typing import Literal

from kexbench.api.models import MetricView
from kexbench.domain.samples import Metric

Unit = Literal["ns", "bytes", "count"]
_TITLES: dict[Metric, tuple[str, Unit]] = {
    Metric.CPU_NS: ("CPU time, both sides", "ns"),
    Metric.CLIENT_CPU_NS: ("Client CPU time", "ns"),
    Metric.SERVER_CPU_NS: ("Server CPU time", "ns"),
    Metric.WALL_NS: ("Wall time", "ns"),
    Metric.ELAPSED_NS: ("Wall time of everything, all threads together", "ns"),
    Metric.FIRST_NS: ("First handshake after a pause", "ns"),
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
}


def metric_views(stored: set[str]) -> list[MetricView]:
    """All metrics in the order of their meaning; `stored` are those that have numbers."""
    return [
        MetricView(metric=metric, title=title, unit=unit, stored=metric in stored)
        for metric, (title, unit) in _TITLES.items()
    ]
