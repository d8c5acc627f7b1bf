"""The shapes of the API's answers. The OpenAPI document and the TypeScript client come from here."""

from datetime import datetime
from typing import Any, Literal

from pydantic import ConfigDict, Field

from kexbench.comparison.models import CaseView, Cell, Estimate, SubjectView
from kexbench.domain.frozen import Frozen
from kexbench.domain.kits import Library
from kexbench.domain.library_commits import LibraryCommit
from kexbench.domain.samples import Metric
from kexbench.domain.upgrades import UpgradeEnd


class Candidate(Frozen):
    """A subject that an ambiguous question may mean."""

    asked: str = Field(description="what was asked for", examples=["3.5.7"])
    subject: str = Field(description="its unique name, which asks for it alone")
    version: str
    source: str
    build_profile_label: str


class Problem(Frozen):
    """RFC 9457 problem details, sent as application/problem+json with every error."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    remedy: str | None = None
    errors: list[dict[str, Any]] | None = None
    candidates: list[Candidate] | None = Field(None, description="what an ambiguous question may mean")

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "type": "about:blank",
                "title": "Not Found",
                "status": 404,
                "detail": "there is no run 20260101-120000-1f3c",
                "remedy": "GET /api/v1/runs lists the runs",
            }
        }
    )


class TroubleView(Frozen):
    """A part of the service that does not work."""

    part: str = Field(examples=["queue"])
    since: datetime
    reason: str


class Health(Frozen):
    status: Literal["ok", "impaired"] = Field(description="`impaired` where something beside the API does not work")
    version: str
    engine: str | None = Field(
        description="the store's engine and version, as it was opened; null where it could not be asked",
        examples=["chDB 26.9.1"],
    )
    troubles: list[TroubleView] = Field(description="what does not work now")


class HostKind(Frozen):
    """Machines that are compared with each other: one CPU model and microcode in one pool."""

    pool: str = Field(examples=["local"])
    cpu_model: str = Field(examples=["AMD EPYC 9R14, microcode 0xa101154"])


class MetricView(Frozen):
    metric: Metric
    title: str = Field(examples=["Server CPU time"])
    unit: Literal["ns", "bytes", "count"]
    stored: bool = Field(description="whether there is any number; hardware counters are absent on many machines")


class Filters(Frozen):
    """What there is to choose from."""

    host_kinds: list[HostKind]
    libraries: list[str]
    metrics: list[MetricView]


class Matrix(Frozen):
    """Case x version for a host kind: the newest numbers of each cell."""

    host_kind: HostKind | None = Field(description="null while nothing is stored")
    metric: Metric
    cases: list[CaseView]
    subjects: list[SubjectView] = Field(description="by library, then version order")
    cells: list[Cell]


class SeriesPoint(Frozen):
    subject: str
    version: str
    version_key: str
    commit: LibraryCommit | None = Field(description="that it was built from; null where it is of no commit")
    run_id: str
    measured_at: datetime
    estimate: Estimate
    invocation_levels: list[float] = Field(
        description="what a handshake cost in each invocation, over all of its batches, in the metric's unit"
    )


class ChangePoint(Frozen):
    """Where the level of a series moved for good."""

    index: int = Field(description="of the first point after it")
    ratio: float = Field(description="the level after it relative to the one before: 1.02 is 2% more")
    z: float = Field(description="the step in standard errors of its size")


class SeriesLine(Frozen):
    """A series: case x pool x library x build profile x metric over versions."""

    library: str
    build_profile: str
    build_profile_label: str
    points: list[SeriesPoint] = Field(description="in version order")
    change_points: list[ChangePoint] = Field(description="in the order of the points")
    through_sentinel: bool = Field(
        description="whether changes were looked for, and in costs relative to the sentinel, so that what the machine "
        "did is not among them; the points are as measured"
    )


class Series(Frozen):
    case: CaseView
    host_kind: HostKind
    metric: Metric
    lines: list[SeriesLine]


class StoredInvocation(Frozen):
    job_id: str
    attempt: int
    case_id: str
    invocation: int


class ReferenceRowView(Frozen):
    """A case beside its published figure. Rates are handshakes per CPU-second, client and server together."""

    case_id: str
    published_rate: float
    published_ratio: float = Field(description="to the baseline's published rate")
    rate: float | None
    rate_low: float | None
    rate_high: float | None
    ratio: float | None = Field(description="to the baseline's measured rate; above 1 is faster")
    ratio_low: float | None
    ratio_high: float | None


class SideCosts(Frozen):
    """Where the CPU time of a handshake goes: medians over invocations, in nanoseconds."""

    client_cpu_ns: float
    server_cpu_ns: float


class SwapView(Frozen):
    """Two cases that stand the other way round than published, with what each costs on either side."""

    faster_here: str
    slower_here: str
    ratio: float = Field(description="of the rates")
    ratio_low: float | None
    ratio_high: float | None
    faster_costs: SideCosts | None = Field(description="null where no invocation tells the two sides apart")
    slower_costs: SideCosts | None


class ReferenceColumn(Frozen):
    subject: str
    rows: list[ReferenceRowView]
    swaps: list[SwapView]


class ReferenceTableView(Frozen):
    title: str
    baseline: str
    columns: list[ReferenceColumn] = Field(description="one for each subject")


class ReferenceView(Frozen):
    """Published tables and what was measured here."""

    title: str
    notes: str
    tables: list[ReferenceTableView]


class UpgradeView(Frozen):
    """A version and the one before it that has a case on a host kind in common with it."""

    library: Library
    before: UpgradeEnd
    after: UpgradeEnd
    measured_at: datetime = Field(description="when `after` was measured last")
    cells: int = Field(description="cases, on each host kind, that both have numbers of")


class UpgradePage(Frozen):
    upgrades: list[UpgradeView]
    next_before: datetime | None = Field(description="pass as `before` for the next page; null at the end")


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
