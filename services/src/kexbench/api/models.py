"""The shapes of the API's answers. The OpenAPI document and the TypeScript client come from here."""

from datetime import datetime
from typing import Any, Literal

from pydantic import ConfigDict, Field

from kexbench.api.answer import Answer
from kexbench.domain.cases import Case, kinds_of
from kexbench.domain.components import ComponentChange
from kexbench.domain.dimensions import Kind
from kexbench.domain.library_commits import LibraryCommit
from kexbench.domain.samples import Disturbed, Metric, Negotiated, OutcomeKind


class Candidate(Answer):
    """A subject that an ambiguous question may mean."""

    asked: str = Field(description="what was asked for", examples=["3.5.7"])
    subject: str = Field(description="its unique name, which asks for it alone")
    version: str
    source: str
    build_profile_label: str


class Problem(Answer):
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


class TroubleView(Answer):
    """A part of the service that does not work."""

    part: str = Field(examples=["queue"])
    since: datetime
    reason: str


class Health(Answer):
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


class SubjectView(Answer):
    """A library at a version and build, as it was measured."""

    subject: str = Field(
        description="unique name: library, version, source and build profile",
        examples=["openssl@3.5.7~debian/trixie~1f3c"],
    )
    library: str = Field(examples=["openssl"])
    version: str = Field(examples=["3.5.7"])
    version_key: str = Field(description="sorts as text in version order, commits of one version by their history")
    source: str = Field(examples=["debian/trixie"])
    build_profile: str = Field(description="id of how it was built; different profiles never join silently")
    build_profile_label: str = Field(examples=["debian shared x86_64"])
    kit_id: str
    commit: LibraryCommit | None = Field(description="that it was built from; null where it is of no commit")


class HostKind(Answer):
    """Machines that are compared with each other: one CPU model and microcode in one pool."""

    pool: str = Field(examples=["local"])
    cpu_model: str = Field(examples=["AMD EPYC 9R14, microcode 0xa101154"])


class MetricView(Answer):
    metric: Metric
    title: str = Field(examples=["Server CPU time"])
    unit: Literal["ns", "bytes", "count"]
    stored: bool = Field(description="whether there is any number; hardware counters are absent on many machines")


class Filters(Answer):
    """What there is to choose from."""

    host_kinds: list[HostKind]
    libraries: list[str]
    metrics: list[MetricView]


class Estimate(Answer):
    """A median over invocations with its 95% interval by order statistics."""

    value: float = Field(description="in the metric's unit, per handshake")
    low: float | None = Field(description="null with fewer than six invocations: they carry no 95% interval")
    high: float | None
    invocations: int


CHANGE_VERDICT = (
    "more, less: the interval lies beyond 1 and the ratio differs by 0.5% or more; "
    "same: the interval lies within 0.5%; unresolved: anything else"
)
ChangeVerdict = Literal["more", "less", "same", "unresolved"]


class SideChange(Answer):
    """How the cost of one side changed: 1.02 is 2% more. Judged by the rule that both sides together are."""

    ratio: float
    low: float | None = Field(description="95% interval of the ratio")
    high: float | None
    verdict: ChangeVerdict = Field(description=CHANGE_VERDICT)


class Change(Answer):
    """The cost against another subject: a ratio of 1.02 is 2% more."""

    against: str = Field(description="the subject compared with")
    ratio: float
    low: float | None = Field(description="95% interval of the ratio")
    high: float | None
    paired: bool = Field(description="true: interleaved in the same invocations; false: weaker, across jobs")
    verdict: ChangeVerdict = Field(description=CHANGE_VERDICT)
    warnings: list[str] = Field(description="why the two are not quite alike", examples=[["different build profile"]])
    components: list[ComponentChange] = Field(
        description="what the library stands on that changed along with it, so that the change may be theirs"
    )
    client: SideChange | None = Field(None, description="the client's CPU time alone; only in a run's `cpu_ns`")
    server: SideChange | None = Field(None, description="the server's CPU time alone; only in a run's `cpu_ns`")


class OutcomeView(Answer):
    """Why there is no number."""

    kind: OutcomeKind | Disturbed = Field(
        description="`disturbed`: other programs ran in between, so that these invocations have other numbers only"
    )
    reason: str
    detail: str | None
    invocations: int = Field(description="in how many invocations")


class Ratio(Answer):
    """A ratio of costs with its 95% interval."""

    ratio: float
    low: float | None
    high: float | None


class Cell(Answer):
    """One case of one subject: an estimate, or the outcome that explains its absence. With both, some
    invocations failed: of the same run, or of a newer one that gave no numbers."""

    case_id: str
    subject: str
    estimate: Estimate | None
    change: Change | None = Field(description="against the version before it of the same library, where there is one")
    apart_from: str | None = Field(
        None,
        description="the version before it, where its numbers are of another run that shares no subject with this "
        "one's: nothing is compared",
    )
    outcome: OutcomeView | None
    sides_outcome: OutcomeView | None = Field(
        None, description="of a run, why some invocations or all do not tell the client and the server apart"
    )
    to_sentinel: Ratio | None = Field(description="cost relative to the frozen subject in the same invocations")
    negotiated: Negotiated | None = Field(description="what the library chose; of cases that leave it a choice")
    run_id: str
    measured_at: datetime


class Matrix(Answer):
    """Case x version for a host kind: the newest numbers of each cell."""

    host_kind: HostKind | None = Field(description="null while nothing is stored")
    metric: Metric
    cases: list[CaseView]
    subjects: list[SubjectView] = Field(description="by library, then version order")
    cells: list[Cell]


class SeriesPoint(Answer):
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


class ChangePoint(Answer):
    """Where the level of a series moved for good."""

    index: int = Field(description="of the first point after it")
    ratio: float = Field(description="the level after it relative to the one before: 1.02 is 2% more")
    z: float = Field(description="the step in standard errors of its size")


class SeriesLine(Answer):
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


class Series(Answer):
    case: CaseView
    host_kind: HostKind
    metric: Metric
    lines: list[SeriesLine]


class StoredInvocation(Answer):
    job_id: str
    attempt: int
    case_id: str
    invocation: int
