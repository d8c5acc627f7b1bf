"""An upgrade: one version of a library and a later one, compared in every cell that has both."""

from typing import Literal

from pydantic import Field

from kexbench.domain.components import ComponentChange
from kexbench.domain.frozen import Frozen
from kexbench.domain.kits import Library
from kexbench.domain.samples import Metric

Side = Literal["both", "client", "server"]
"""Whose CPU time: of both sides together, or of one."""
SIDES: dict[Side, Metric] = {"both": Metric.CPU_NS, "client": Metric.CLIENT_CPU_NS, "server": Metric.SERVER_CPU_NS}
CellVerdict = Literal["more", "less", "same", "unresolved", "unlike", "apart"]
"""`unlike`: the two did not do the same; `apart`: they were measured in different runs that share no subject. Of both
nothing is said of their costs."""
NOT_JUDGED: frozenset[CellVerdict] = frozenset({"unlike", "apart"})


class UpgradeEnd(Frozen):
    """A version as it was measured: one source, one build profile."""

    subject: str = Field(description="unique name", examples=["openssl@3.5.7~debian/trixie~1f3c"])
    version: str
    source: str = Field(examples=["debian/trixie"])
    build_profile_label: str
    label: str = Field(description="what people read", examples=["OpenSSL 3.5.7"])


class Move(Frozen):
    """The cost after the upgrade relative to the cost before, with its 95% interval: 1.02 is 2% more."""

    ratio: float
    low: float
    high: float


class SideMove(Move):
    """Of one side, with a verdict by the rule that both sides together have theirs by."""

    verdict: CellVerdict = Field(description="with the false discoveries of this side's cells in check")


class UpgradeCell(Frozen):
    """One case on one host kind."""

    case_id: str
    title: str
    pool: str
    cpu_model: str
    verdict: CellVerdict = Field(description="of both sides together, with the false discoveries of all cells in check")
    move: Move | None = Field(description="of both sides together; null with fewer than three invocations")
    client: SideMove | None
    server: SideMove | None
    q: float | None = Field(description="the false discovery rate at which it would count as moved")
    resolves: float | None = Field(description="the smallest change that so many invocations detect, as a share")
    paired: bool = Field(description="true: interleaved in the same invocations; false: weaker, across jobs or runs")
    before_ns: float | None = Field(description="CPU time of a handshake, both sides: median over invocations")
    after_ns: float | None
    invocations: int = Field(description="of the comparison; the fewer of the two where they are not paired")
    disturbed: int = Field(
        0,
        description="invocations of one version that do not tell the client and the server apart, since other programs "
        "ran in between; of the version that has more of them",
    )
    run_ids: tuple[str, ...] = Field(description="one, or two where the versions were measured in different runs")
    warnings: tuple[str, ...] = Field(description="why the two are not quite alike")
    components: tuple[ComponentChange, ...] = Field(
        (), description="what the library stands on that changed along with it, so that a move may be theirs"
    )


class Factor(Frozen):
    """A value of a dimension of the matrix that explains the moves: cells that have it moved, others did not."""

    dimension: str = Field(examples=["key exchange", "certificate key", "protocol", "group", "resumption", "side"])
    value: str = Field(examples=["DHE-RSA"])
    side: Side
    ratio: float = Field(description="of cells that have it, relative to those that have not")
    low: float
    high: float
    cells: int = Field(description="that have it")
    explained: float = Field(description="the share of all cells' variation that it accounts for")
    words: str = Field("", description="as in `what they share is …`", examples=["an RSA certificate"])
    alike: tuple[str, ...] = Field(
        (), description="what exactly the same cells have as well, so that nothing tells the two apart"
    )
    moved: int = Field(0, description="of the cells that have it, those that moved its way")


class MissingCell(Frozen):
    """A case that one of the two versions has no number of."""

    case_id: str
    title: str
    pool: str
    cpu_model: str
    version: str = Field(description="that has none")
    reason: str


class UpgradeReport(Frozen):
    library: Library
    before: UpgradeEnd
    after: UpgradeEnd
    relevant: float = Field(description="changes below this share are not called moved, however sure they are")
    sentence: str = Field(description="what became of the costs, and what the moves share")
    cells: tuple[UpgradeCell, ...] = Field(description="in the order of the matrix, then host kinds")
    factors: tuple[Factor, ...] = Field(description="what explains most first; none where nothing moved")
    missing: tuple[MissingCell, ...]
    defaults: tuple[str, ...] = Field(description="what those get who configure nothing, where that has changed")
    security: tuple[str, ...] = Field(description="what the versions after `before`, up to `after`, mend")

    def count(self, verdict: CellVerdict) -> int:
        return sum(cell.verdict == verdict for cell in self.cells)

    @property
    def regressed(self) -> bool:
        return self.count("more") > 0
