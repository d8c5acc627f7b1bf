"""An upgrade: two versions of a library, compared in every cell that has both."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from kexbench.domain.differences import Difference
from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import HostKind
from kexbench.domain.instruments import COUNTING, Instrument
from kexbench.domain.intervals import Ratio
from kexbench.domain.metrics import COUNTED, TIMED, Metric, Side

__all__ = ["Side"]

SIDES: dict[Side, Metric] = {metric.row.decides: metric for metric in TIMED if metric.row.decides}
SIDES_OF: dict[Instrument, dict[Side, Metric]] = {
    Instrument.TIME: SIDES,
    **{
        instrument: {
            metric.row.decides: metric
            for metric, counted in COUNTED.items()
            if metric.row.decides and counted.by is instrument
        }
        for instrument in COUNTING
    },
}
"""The metrics that decide, by the run's instrument."""
CellVerdict = Literal["more", "less", "same", "unresolved", "unlike", "apart", "unjudged"]
"""`unlike`: the two did not do the same work; `apart`: they were measured in different runs that share no subject;
`unjudged`: on two machines, or in two cases that were not measured in turns. These have no claim."""
NOT_JUDGED: frozenset[CellVerdict] = frozenset({"unlike", "apart", "unjudged"})

VERDICT_WORDS: Mapping[CellVerdict, str] = {
    "more": "slower",
    "less": "faster",
    "same": "no change",
    "unresolved": "unresolved",
    "unlike": "not comparable",
    "apart": "not compared",
    "unjudged": "no verdict",
}


def sides_of(metric: Metric) -> Mapping[Side, Metric]:
    """A metric with those of each side, where these are judged with it."""
    alone: dict[Side, Metric] = {"both": metric}
    return next((sides for sides in SIDES_OF.values() if sides["both"] is metric), alone)


class UpgradeEnd(Frozen):
    """A measured version: one source, one build profile."""

    subject: str = Field(description="unique name", examples=["openssl@3.5.7~debian/trixie~1f3c"])
    version: str
    source: str = Field(examples=["debian/trixie"])
    build_profile_label: str
    label: str = Field(description="what people read", examples=["OpenSSL 3.5.7"])


class SideMove(Ratio):
    """The move of one side, with a verdict by the same rule as for both sides together."""

    verdict: CellVerdict = Field(description="with the false discovery rate of this side's cells controlled")


SpreadVerdict = Literal["more", "less", "unresolved"]


class SpreadMove(Frozen):
    """How much costs vary from invocation to invocation before and after the upgrade, as shares: 0.01 is 1%."""

    before: float
    after: float
    q: float = Field(description="the false discovery rate at which it would count as changed")
    verdict: SpreadVerdict


class UpgradeCell(Frozen):
    """One case on one host kind."""

    case_id: str
    title: str
    host_kind: HostKind
    verdict: CellVerdict = Field(description="of both sides together, with the false discovery rate controlled")
    move: Ratio | None = Field(description="of both sides together; null with fewer than three invocations")
    client: SideMove | None
    server: SideMove | None
    q: float | None = Field(description="the false discovery rate at which it would count as moved")
    resolves: float | None = Field(description="the smallest detectable change with these invocations, as a share")
    spread: SpreadMove | None = Field(None, description="null with fewer than six invocations")
    paired: bool = Field(description="true: interleaved in the same invocations; false: weaker, across jobs or runs")
    before_ns: float | None = Field(description="CPU time of a handshake, both sides: median over invocations")
    after_ns: float | None
    server_before_ns: float | None = Field(
        None,
        description="CPU time that a whole connection costs the server: median over invocations; null where not "
        "measured, where `server` is null, or where the versions were measured in different runs",
    )
    server_after_ns: float | None = None
    invocations: int = Field(description="of the comparison; the smaller number where they are not paired")
    disturbed: int = Field(
        0,
        description="invocations without separate numbers of client and server, since their batches were disturbed; "
        "of the version that has more of them",
    )
    run_ids: tuple[str, ...] = Field(description="one, or two where the versions were measured in different runs")
    warnings: tuple[str, ...] = Field(description="why the two are not fully comparable")
    components: tuple[Difference, ...] = Field(
        (), description="components that changed together with the library, and may have caused the move"
    )

    @property
    def is_compared(self) -> bool:
        """Whether both values are known and comparable. An exact value of 0 has a verdict, but no ratio."""
        return self.move is not None or self.verdict in ("more", "less", "same")


class Factor(Ratio):
    """A value of a dimension that explains the moves: cells with it moved relative to cells without it."""

    dimension: str = Field(examples=["key exchange", "certificate key", "protocol", "group", "resumption", "side"])
    value: str = Field(examples=["DHE-RSA"])
    side: Side
    cells: int = Field(description="cells with it")
    explained: float = Field(description="the share of all cells' variation that it accounts for")
    words: str = Field("", description="as in `common factor: …`", examples=["an RSA certificate"])
    alike: tuple[str, ...] = Field(
        (), description="other values of exactly the same cells, so that either may be the cause"
    )
    moved: int = Field(0, description="cells with it that moved in the same direction")


class MissingCell(Frozen):
    """A case without a number for one of the two versions."""

    case_id: str
    title: str
    host_kind: HostKind
    version: str = Field(description="the version without a number")
    reason: str
