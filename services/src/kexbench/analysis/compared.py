"""What a cell is judged by: the costs of both versions, and what remains of them once their invocations are paired."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from kexbench.analysis.estimates import compare
from kexbench.analysis.moves import LogMove, Pair, pair
from kexbench.analysis.rounds import Batches
from kexbench.analysis.spread import Spreads, spreads
from kexbench.domain.cases import Case
from kexbench.domain.differences import Difference
from kexbench.domain.hosts import HostKind
from kexbench.domain.intervals import Ratio
from kexbench.domain.metrics import Metric
from kexbench.domain.samples import Negotiated
from kexbench.domain.upgrades import SIDES, CellVerdict, Side


@dataclass(frozen=True)
class CellData:
    """One case on one host kind, with the costs of both versions."""

    case: Case
    host_kind: HostKind
    before: Mapping[Side, Batches]
    """Batches by `run/job/invocation`. Batches of both versions with the same key ran interleaved."""
    after: Mapping[Side, Batches]
    run_ids: tuple[str, ...]
    warnings: tuple[str, ...]
    unlike: bool
    """The two did different work: shown, but never judged."""
    floor: float = 0.0
    """The difference between two builds of one source, as a share; 0 if unknown."""
    before_ns: float | None = None
    after_ns: float | None = None
    """The cost of a handshake, both sides: the median over invocations of the cost of each."""
    levels: Mapping[Side, tuple[Sequence[float], Sequence[float]]] = field(default_factory=dict)
    """The costs of the invocations of both versions, as measured."""
    components: tuple[Difference, ...] = ()
    """The components that changed along with the library."""
    apart: bool = False
    """The two were measured in different runs that share no subject: shown, but never judged."""
    ratios: Mapping[Side, Ratio] = field(default_factory=dict)
    """Of versions that are not comparable, for people who ask nevertheless: never judged."""
    disturbed: int = 0
    """Invocations without numbers for client and server; of the version with more of them."""
    negotiated: tuple[Negotiated | None, Negotiated | None] = (None, None)
    """What each version chose, of a case that leaves a choice."""
    metric: Metric = Metric.CPU_NS
    """Of both sides together. Cells that are judged together have the same one."""


@dataclass(frozen=True)
class Compared:
    """What a cell is judged by. It takes less memory than the batches that it is computed from."""

    data: CellData
    """Without batches."""
    pairs: Mapping[Side, Pair]
    """Empty if the two are not comparable, and of an exact metric, which is judged by levels alone."""
    spreads: Spreads | None
    shared: int
    """The invocations with both versions."""
    least: int
    """The invocations of the version with fewer."""


def compared(cell: CellData) -> Compared:
    before, after = cell.before.get("both", {}), cell.after.get("both", {})
    comparable = not (cell.unlike or cell.apart)
    noisy = comparable and cell.metric.row.exact is None
    pairs = {side: pair(cell.before.get(side, {}), cell.after.get(side, {})) for side in SIDES} if noisy else {}
    return Compared(
        data=replace(cell, before={}, after={}, ratios={} if comparable else _ratios(cell)),
        pairs={side: side_pair for side, side_pair in pairs.items() if side_pair},
        spreads=spreads(before, after) if noisy else None,
        shared=len(before.keys() & after.keys()),
        least=min(len(before), len(after)),
    )


def _ratios(cell: CellData) -> dict[Side, Ratio]:
    ratios = {side: compare(cell.after[side], cell.before[side]) for side in cell.before if side in cell.after}
    return {side: ratio for side, ratio in ratios.items() if ratio}


@dataclass(frozen=True)
class Judged:
    """A move with its verdict among all moves that were judged together."""

    move: LogMove
    q: float
    resolves: float
    verdict: CellVerdict
