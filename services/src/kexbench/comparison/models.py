"""What a page or a table shows of a cell: its estimate, its change, and why something is missing."""

from datetime import datetime

from pydantic import Field

from kexbench.domain.cases import Case, kinds_of
from kexbench.domain.components import ComponentChange
from kexbench.domain.dimensions import Kind
from kexbench.domain.frozen import Frozen
from kexbench.domain.library_commits import LibraryCommit
from kexbench.domain.samples import Disturbed, Negotiated, OutcomeKind
from kexbench.domain.upgrades import CellVerdict, SideMove


class SubjectView(Frozen):
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


class Estimate(Frozen):
    """A median over invocations with its 95% interval by order statistics."""

    value: float = Field(description="in the metric's unit, per handshake")
    low: float | None = Field(description="null with fewer than six invocations: they carry no 95% interval")
    high: float | None
    invocations: int


class Change(Frozen):
    """The cost against another subject: a ratio of 1.02 is 2% more."""

    against: str = Field(description="the subject compared with")
    ratio: float
    low: float = Field(description="95% interval of the ratio")
    high: float
    paired: bool = Field(description="true: interleaved in the same invocations; false: weaker, across jobs")
    verdict: CellVerdict = Field(
        description="among all cases, on all host kinds, in which the two are compared: in a run by its numbers, else "
        "by all that is stored; that of the upgrade. `unlike`: the two did not do the same, so nothing is claimed"
    )
    resolves: float | None = Field(description="the smallest change that so many invocations detect, as a share")
    warnings: list[str] = Field(description="why the two are not quite alike", examples=[["different build profile"]])
    components: list[ComponentChange] = Field(
        description="what the library stands on that changed along with it, so that the change may be theirs"
    )
    client: SideMove | None = Field(None, description="the client's CPU time alone; only in a run's `cpu_ns`")
    server: SideMove | None = Field(None, description="the server's CPU time alone; only in a run's `cpu_ns`")


class OutcomeView(Frozen):
    """Why there is no number."""

    kind: OutcomeKind | Disturbed = Field(
        description="`disturbed`: other programs ran in between, so that these invocations have other numbers only"
    )
    reason: str
    detail: str | None
    invocations: int = Field(description="in how many invocations")


class Ratio(Frozen):
    """A ratio of costs with its 95% interval."""

    ratio: float
    low: float
    high: float


class Cell(Frozen):
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


class CaseView(Case):
    """A case with its identity and what a person reads."""

    id: str = Field(description="the case id", examples=["tlsv1.2_ecdhe-rsa_rsa-2048_p-256_aes-128-gcm"])
    title: str = Field(examples=["TLS 1.2 ECDHE-RSA, RSA 2048, P-256"])
    kinds: list[Kind] = Field(description="what pages filter by")

    @classmethod
    def of(cls, case: Case) -> "CaseView":
        return cls(**case.model_dump(), id=case.case_id, title=case.label, kinds=kinds_of(case))
