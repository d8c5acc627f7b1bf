"""The shapes of the API's answers. The OpenAPI document and the TypeScript client come from here."""

from datetime import date, datetime
from typing import Any, Literal

from pydantic import ConfigDict, Field

from kexbench.analysis.reference import RatioOrder
from kexbench.answers.batches import InvocationBatches
from kexbench.answers.cells import Cell
from kexbench.answers.cpus import CpuRow
from kexbench.answers.history import HistoryLine
from kexbench.answers.shapes import CaseView, Estimate, SubjectView
from kexbench.answers.trends import ChangePoint
from kexbench.answers.two_ends import ComparedCell
from kexbench.domain.cases import CaseDifference
from kexbench.domain.frozen import Frozen
from kexbench.domain.kits import Library
from kexbench.domain.library_commits import LibraryCommit
from kexbench.domain.moments import Moment
from kexbench.domain.samples import Metric, Side
from kexbench.domain.upgrades import UpgradeEnd
from kexbench.planning.mix import MIX_MAX_CHARACTERS


class Candidate(Frozen):
    """A subject that an ambiguous request may mean."""

    asked: str = Field(description="the requested version or source", examples=["3.5.7"])
    subject: str = Field(description="its unique name, which is never ambiguous")
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
    candidates: list[Candidate] | None = Field(None, description="the subjects that an ambiguous request may mean")

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "type": "about:blank",
                "title": "Not Found",
                "status": 404,
                "detail": "there is no run 20260101-120000-1f3c",
                "remedy": "kexbench runs list lists the runs",
            }
        }
    )


class CapacityRequest(Frozen):
    """A mix of connections, and the versions to serve it with."""

    mix: str = Field(max_length=MIX_MAX_CHARACTERS, description="the text of a document of kind TrafficMix")
    mix_file: str = Field("mix.yaml", max_length=400, description="its name in faults")
    version: str = Field(
        max_length=500,
        description="a library with a version, the beginning of one, or a source; or the unique name of a subject",
        examples=["openssl@3.0", "openssl@debian/trixie"],
    )
    to: str | None = Field(None, max_length=500, description="the version after an upgrade")
    pool: str | None = Field(None, max_length=200, description="only this pool")
    cpu_model: str | None = Field(None, max_length=200, description="only this CPU model")


class TroubleView(Frozen):
    """A part of the service that does not work."""

    part: str = Field(examples=["queue"])
    since: datetime
    reason: str


class Health(Frozen):
    status: Literal["ok", "impaired"] = Field(description="`impaired` if a background part does not work")
    version: str
    engine: str | None = Field(
        description="the store's engine and version when it was opened; null if it did not answer",
        examples=["chDB 26.9.1"],
    )
    troubles: list[TroubleView] = Field(description="the parts that do not work now")


class StoreTable(Frozen):
    table: str
    rows: int
    size_bytes: int = Field(description="on disk, compressed")


class PrunableView(Frozen):
    """Batch values that can be removed."""

    runs: int
    samples: int = Field(description="subjects and metrics in invocations")
    values: int
    size_bytes: int = Field(description="an estimate of what they take on disk")


class StoreView(Frozen):
    tables: list[StoreTable] = Field(description="the largest first")
    size_bytes: int = Field(description="of all tables")


class PruneWanted(Frozen):
    before: Moment = Field(description="remove the batch values of invocations before this time")


class PrunedView(Frozen):
    """What a step removed. Repeat the request until it is the last."""

    removed_values: int
    left_values: int
    left_partitions: int = Field(description="parts of the store with space to free")
    is_last: bool


class HostKind(Frozen):
    """Comparable machines: one CPU model and microcode in one pool."""

    pool: str = Field(examples=["local"])
    cpu_model: str = Field(examples=["AMD EPYC 9R14, microcode 0xa101154"])


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
    commit: LibraryCommit | None = Field(description="the commit that it was built from; null if there is none")
    run_id: str
    measured_at: datetime
    estimate: Estimate
    invocation_levels: list[float] = Field(
        description="the cost of a handshake in each invocation, over all its batches, in the metric's unit"
    )


class SeriesLine(Frozen):
    """A series: case x pool x library x build profile x metric over versions."""

    library: str
    build_profile: str
    build_profile_label: str
    points: list[SeriesPoint] = Field(description="in version order")
    change_points: list[ChangePoint] = Field(description="in the order of the points")
    through_sentinel: bool = Field(
        description="true if changes were searched for in costs relative to the sentinel, which excludes changes of "
        "the machine; the points are as measured"
    )


class Series(Frozen):
    case: CaseView
    host_kind: HostKind
    metric: Metric
    lines: list[SeriesLine]


class TrendPoint(Frozen):
    """A version of a trend. Trends have many points, so names are short and nothing is repeated."""

    subject: int = Field(description="place in the answer's subjects")
    run_id: str
    measured_at: datetime
    value: float = Field(description="median over invocations, in the metric's unit")
    low: float | None = Field(description="95% confidence interval; null with fewer than six invocations")
    high: float | None
    invocations: int


class Trend(Frozen):
    """A series: case x pool x library x build profile x metric over versions."""

    case_id: str
    host_kind: HostKind
    metric: Metric
    library: str
    build_profile_label: str
    points: list[TrendPoint] = Field(description="in version order")
    change_points: list[ChangePoint]
    through_sentinel: bool = Field(
        description="changes were searched for in costs relative to the sentinel, which excludes changes of the machine"
    )


class Release(Frozen):
    """A tracked version of a library, as the catalogue describes it."""

    library: Library
    version: str
    released: date | None
    security: list[str] = Field(description="security fixes")


class CaseChoice(Frozen):
    id: str
    title: str


class Trends(Frozen):
    """Any number of series."""

    choices: list[CaseChoice] = Field(description="all cases that have a trend, in the order of the matrix")
    cases: list[CaseView]
    subjects: list[SubjectView] = Field(description="by library, then version order")
    lines: list[Trend]
    left_out: int = Field(description="series beyond the limit of one answer")
    releases: list[Release] = Field(description="of the subjects, in version order")


class Cpus(Frozen):
    """A case on all CPUs."""

    choices: list[CaseChoice] = Field(description="all cases, in the order of the matrix")
    case: CaseView | None = Field(description="null if nothing is stored")
    metric: Metric
    base: HostKind | None = Field(description="the CPU that the others are relative to")
    host_kinds: list[HostKind] = Field(description="those that measured the case, the last one first")
    rows: list[CpuRow] = Field(description="by library, then host kind")


class RunChoice(Frozen):
    run_id: str
    measured_at: datetime


class ComparedEnd(Frozen):
    """What is compared, and what else could be."""

    subject: SubjectView
    pool: str | None = Field(description="null: on every host kind that both ends have")
    cpu_model: str | None
    run_id: str | None = Field(description="null: in the runs that compare the two best")
    case_id: str | None = Field(description="null: in every case that both ends have")
    host_kinds: list[HostKind] = Field(description="those that measured the subject, the last one first")
    runs: list[RunChoice] = Field(description="those that measured the subject, the last ones first")
    cases: list[CaseChoice] = Field(description="those that the subject was measured in")


class Comparison(Frozen):
    """Two ends, compared in every case that both measured, or in one case each."""

    subjects: list[SubjectView] = Field(description="all that can be compared, by library, then version order")
    base: ComparedEnd | None = Field(description="null if nothing fits")
    other: ComparedEnd | None = Field(description="its costs are given relative to those of `base`")
    cases: list[CaseView]
    cells: list[ComparedCell] = Field(description="in the order of the matrix, then host kinds")
    differences: list[CaseDifference] = Field(
        description="the dimensions in which two compared cases differ; else empty"
    )
    lines: list[HistoryLine] = Field(description="of the cells' histories")
    left_out: int = Field(description="cells beyond the limit of one answer")


class Distribution(Frozen):
    """The batches of one subject in one case, on one host kind in one run, by invocation."""

    case: CaseView
    subject: SubjectView
    metric: Metric
    host_kind: HostKind
    run_id: str
    invocations: list[InvocationBatches] = Field(description="in the order of measuring")
    left_out: int = Field(description="invocations beyond the limit of one answer")
    removed: int = Field(description="old invocations whose batches were removed")
    disturbed: int = Field(description="invocations without numbers of this metric, since their batches were disturbed")
    host_kinds: list[HostKind] = Field(description="all that have such numbers, the last one first")
    runs: list[RunChoice] = Field(description="those with such numbers on the host kind, the last ones first")


class StoredInvocation(Frozen):
    job_id: str
    attempt: int
    case_id: str
    invocation: int
    hopeless: list[str] = Field([], description="subjects that need not be tried again on its case")


class ReferenceRowView(Frozen):
    """A case with its published rate. Rates are handshakes per CPU-second, client and server together."""

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
    """Two cases whose order differs from the published order, with the costs of both sides."""

    faster_here: str
    slower_here: str
    ratio: float = Field(description="of the rates")
    ratio_low: float | None
    ratio_high: float | None
    faster_costs: SideCosts | None = Field(description="null if no invocation measured the sides separately")
    slower_costs: SideCosts | None


class ReferenceColumn(Frozen):
    subject: str
    rows: list[ReferenceRowView]
    swaps: list[SwapView]


class ReferenceTableView(Frozen):
    title: str
    baseline: str
    columns: list[ReferenceColumn] = Field(description="one for each subject")


class ReferenceRatioView(Frozen):
    """A published ratio of two cases' rates, and the one measured here; above 1, the case is the faster one."""

    case_id: str
    relative_to: str
    published_ratio: float
    ratio: float | None = Field(description="null where a case has fewer than three invocations")
    ratio_low: float | None
    ratio_high: float | None
    order: RatioOrder | None = Field(description="whether the case that was faster when published is faster here")


class ReferenceRatioColumn(Frozen):
    subject: str
    rows: list[ReferenceRatioView]


class ReferenceRatiosView(Frozen):
    title: str
    side: Side = Field(description="whose CPU time the measured ratios are of")
    columns: list[ReferenceRatioColumn] = Field(description="one for each subject")


class ReferenceView(Frozen):
    """Published figures and the results measured here."""

    title: str
    notes: str
    tables: list[ReferenceTableView]
    ratios: list[ReferenceRatiosView]


class ArticleRun(Frozen):
    """The newest finished run of an article's spec, on the host kind that it measured last."""

    run_id: str
    measured_at: datetime
    host_kind: HostKind
    cases: list[CaseView]
    subjects: list[SubjectView]
    reference: ReferenceView | None = Field(description="null if the spec of that run had no published figures")
    first_look: bool = Field(description="measured with few and short invocations: `kexbench run --quick`")


class ArticleView(Frozen):
    """An article whose measurements a spec of this project repeats."""

    name: str = Field(description="of the spec")
    title: str
    published: str = Field(description="where and when")
    question: str
    spec: str = Field(description="the file with the spec, in the repository")
    run: ArticleRun | None = Field(description="null if no run of the spec has finished")


class Articles(Frozen):
    articles: list[ArticleView]


class UpgradeView(Frozen):
    """A version and its predecessor that share a case on a host kind."""

    library: Library
    before: UpgradeEnd
    after: UpgradeEnd
    measured_at: datetime = Field(description="when `after` was measured last")
    cells: int = Field(description="cases, on each host kind, that both have results of")


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
