"""How a cost changed from one version to another, with both of its ends."""

from pydantic import Field

from kexbench.analysis.compared import CellData
from kexbench.answers.subjects import Ends
from kexbench.domain.differences import Difference
from kexbench.domain.intervals import Ratio
from kexbench.domain.upgrades import CellVerdict, SideMove, SpreadMove, UpgradeCell, UpgradeEnd


class Change(Ratio):
    """The cost after an upgrade relative to the cost before."""

    before: UpgradeEnd = Field(
        description="the nearest lower version of the library that was measured beside it, whatever its build profile"
    )
    after: UpgradeEnd
    paired: bool = Field(description="true: interleaved in the same invocations; false: weaker, across jobs")
    verdict: CellVerdict = Field(
        description="verdict of the upgrade, among all cases and host kinds in which the two are compared: in a run by "
        "its numbers, otherwise by all stored results. `unlike`: the two did different work, so nothing is claimed"
    )
    resolves: float | None = Field(description="smallest detectable change, as a share")
    warnings: list[str] = Field(description="why the comparison is weaker", examples=[["different build profile"]])
    components: list[Difference] = Field(
        description="components below the library that changed along with it, and may have caused the change"
    )
    spread: SpreadMove | None = Field(None, description="how much costs vary from invocation to invocation")
    client: SideMove | None = Field(None, description="CPU time of the client; only in a run's `cpu_ns`")
    server: SideMove | None = Field(None, description="CPU time of the server; only in a run's `cpu_ns`")


def change_of(ends: Ends, data: CellData, judged: UpgradeCell) -> Change | None:
    """None if too few invocations have both. If the work was unlike, the ratio is shown without a claim."""
    move = data.ratios.get("both") if judged.verdict == "unlike" else judged.move
    if move is None:
        return None
    return Change(
        before=ends[0],
        after=ends[1],
        **vars(move),
        paired=judged.paired,
        verdict=judged.verdict,
        spread=judged.spread,
        resolves=judged.resolves,
        warnings=list(data.warnings),
        components=list(data.components),
        client=judged.client,
        server=judged.server,
    )
