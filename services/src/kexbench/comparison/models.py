"""A cell as pages and tables show it: its estimate, its change, or why something is missing."""

from datetime import datetime

from pydantic import Field

from kexbench.domain.cases import Case, kinds_of
from kexbench.domain.components import ComponentChange
from kexbench.domain.dimensions import Kind
from kexbench.domain.frozen import Frozen
from kexbench.domain.library_commits import LibraryCommit
from kexbench.domain.samples import Absence, Negotiated, OutcomeKind
from kexbench.domain.upgrades import CellVerdict, SideMove, SpreadMove, UpgradeEnd


class SubjectView(Frozen):
    """A library in a version and build, as measured."""

    subject: str = Field(
        description="unique name: library, version, source and build profile",
        examples=["openssl@3.5.7~debian/trixie~1f3c"],
    )
    library: str = Field(examples=["openssl"])
    version: str = Field(examples=["3.5.7"])
    version_key: str = Field(description="sorts as text by version, then commits by their history")
    source: str = Field(examples=["debian/trixie"])
    build_profile: str = Field(description="id of how it was built; different profiles never join in a series")
    build_profile_label: str = Field(examples=["debian shared x86_64"])
    kit_id: str
    commit: LibraryCommit | None = Field(description="commit that it was built from; null if there is none")


class Estimate(Frozen):
    """A median over invocations with its 95% confidence interval from order statistics."""

    value: float = Field(description="in the metric's unit, per handshake")
    low: float | None = Field(description="null with fewer than six invocations: too few for a 95% confidence interval")
    high: float | None
    invocations: int


class Change(Frozen):
    """The cost after an upgrade relative to the cost before: a ratio of 1.02 is 2% more."""

    before: UpgradeEnd = Field(
        description="the nearest lower version of the library that was measured beside it, whatever its build profile"
    )
    after: UpgradeEnd
    ratio: float
    low: float = Field(description="95% confidence interval of the ratio")
    high: float
    paired: bool = Field(description="true: interleaved in the same invocations; false: weaker, across jobs")
    verdict: CellVerdict = Field(
        description="verdict of the upgrade, among all cases and host kinds in which the two are compared: in a run by "
        "its numbers, otherwise by all stored results. `unlike`: the two did different work, so nothing is claimed"
    )
    resolves: float | None = Field(description="smallest detectable change, as a share")
    warnings: list[str] = Field(description="why the comparison is weaker", examples=[["different build profile"]])
    components: list[ComponentChange] = Field(
        description="components below the library that changed along with it, and may have caused the change"
    )
    spread: SpreadMove | None = Field(None, description="how much costs vary from invocation to invocation")
    client: SideMove | None = Field(None, description="CPU time of the client; only in a run's `cpu_ns`")
    server: SideMove | None = Field(None, description="CPU time of the server; only in a run's `cpu_ns`")


class OutcomeView(Frozen):
    """Why there is no number."""

    kind: OutcomeKind | Absence = Field(
        description="`disturbed`: few batches were undisturbed, so these invocations lack the numbers of each side; "
        "`withdrawn`: an earlier release stored a false number, which is not shown"
    )
    reason: str
    detail: str | None
    invocations: int = Field(description="number of invocations")


class Ratio(Frozen):
    """A ratio of costs with its 95% confidence interval."""

    ratio: float
    low: float
    high: float


class ChangePoint(Frozen):
    """A lasting change of the level of a series, with the change in cost between the two versions next to it."""

    index: int = Field(description="of the first point after the change")
    before: UpgradeEnd = Field(
        description="the last version before the change; of the same build profile, since a series has only one"
    )
    after: UpgradeEnd = Field(description="the first version after the change")
    ratio: float | None = Field(
        description="the cost of `after` relative to `before`: 1.02 is 2% more; null if the two are not compared"
    )
    low: float | None = Field(description="95% confidence interval of the ratio")
    high: float | None
    verdict: CellVerdict | None = Field(description="verdict of the upgrade; null if the two share no case")
    z: float = Field(description="the change of the level in standard errors")


class Cell(Frozen):
    """One case of one subject: an estimate, or the outcome that explains its absence. With both, some
    invocations failed, in the same run or in a newer run without numbers."""

    case_id: str
    subject: str
    estimate: Estimate | None
    change: Change | None = Field(description="from the previous version of the library, if there is one")
    apart_from: UpgradeEnd | None = Field(
        None,
        description="the previous version, if it was measured in another run that shares no subject with this "
        "one's: the two are not compared",
    )
    outcome: OutcomeView | None
    sides_outcome: OutcomeView | None = Field(
        None, description="only in a run: why some or all invocations have no numbers for client and server"
    )
    to_sentinel: Ratio | None = Field(description="cost relative to the sentinel in the same invocations")
    negotiated: Negotiated | None = Field(description="what the library chose, in cases that leave it a choice")
    run_id: str
    measured_at: datetime


class CaseView(Case):
    """A case with its id and title."""

    id: str = Field(description="the case id", examples=["tlsv1.2_ecdhe-rsa_rsa-2048_p-256_aes-128-gcm"])
    title: str = Field(examples=["TLS 1.2 ECDHE-RSA, RSA 2048, P-256"])
    kinds: tuple[Kind, ...] = Field(description="filters of the pages")

    @classmethod
    def of(cls, case: Case) -> "CaseView":
        return cls(**case.model_dump(), id=case.case_id, title=case.label, kinds=tuple(kinds_of(case)))
