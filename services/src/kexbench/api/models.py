"""The shapes of the API's answers. The OpenAPI document and the TypeScript client come from here."""

from datetime import datetime
from typing import Any, Literal

from pydantic import ConfigDict, Field

from kexbench.comparison.models import Cell, Estimate, SubjectView
from kexbench.domain.cases import Case, kinds_of
from kexbench.domain.dimensions import Kind
from kexbench.domain.frozen import Frozen
from kexbench.domain.library_commits import LibraryCommit
from kexbench.domain.samples import Metric


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


class CaseView(Case):
    """A case with its identity and what a person reads."""

    id: str = Field(description="the case id", examples=["tlsv1.2_ecdhe-rsa_rsa-2048_p-256_aes-128-gcm"])
    title: str = Field(examples=["TLS 1.2 ECDHE-RSA, RSA 2048, P-256"])
    kinds: list[Kind] = Field(description="what pages filter by")

    @classmethod
    def of(cls, case: Case) -> "CaseView":
        return cls(**case.model_dump(), id=case.case_id, title=case.label, kinds=kinds_of(case))


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
