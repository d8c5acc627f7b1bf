"""The only place that decides whether the cost of a cell changed: of the cells of an upgrade, with a controlled false
discovery rate, and of a single comparison. `slower`, `faster` and `no change` come from `verdict_of`, and of exact
metrics from `exact_verdict`."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from kexbench.analysis.compared import CellData, Compared, Judged, compared
from kexbench.analysis.detectable import detectable_change
from kexbench.analysis.discovery import FALSE_DISCOVERIES, false_discovery_rates
from kexbench.analysis.moves import LogMove, Pair, moves
from kexbench.analysis.spread import judge_spreads
from kexbench.domain.intervals import Ratio
from kexbench.domain.metrics import Exact
from kexbench.domain.upgrades import SIDES, CellVerdict, Side, SideMove, SpreadMove, UpgradeCell
from kexbench.domain.verdicts import RELEVANT

ONE_JOB = "from one job: the interval does not include differences between jobs"


def judge(cells: Sequence[CellData], relevant: float = RELEVANT) -> tuple[UpgradeCell, ...]:
    """As `judge_compared`, from batches."""
    return judge_compared([compared(cell) for cell in cells], relevant)


def judge_compared(cells: Sequence[Compared], relevant: float = RELEVANT) -> tuple[UpgradeCell, ...]:
    """The cells in their order, each judged among all of them.

    `more` or `less`: the cell moved at a false discovery rate of 5% over the upgrade (Benjamini & Hochberg), and by at
    least a relevant change and its resolution. `same`: its interval lies within a relevant change. The intervals are at
    95% for each cell. The moves of the client and the server have their own verdicts, by the same rule over all cells
    of that side. Cells of an exact metric are judged by `exact_verdict`, each by itself.
    """
    judged = {side: _judged(cells, side, relevant) for side in SIDES}
    spread_moves = judge_spreads([cell.spreads for cell in cells], relevant)
    return tuple(
        _with_exact(_cell(cell, {side: judged[side].get(place) for side in SIDES}, spread_moves[place]), cell.data)
        for place, cell in enumerate(cells)
    )


def judge_moves(cells: Sequence[Compared], relevant: float = RELEVANT) -> dict[int, Judged]:
    """The moves that `judge_compared` decides by, of both sides together, by the places of the cells."""
    return _judged(cells, "both", relevant)


def _judged(cells: Sequence[Compared], side: Side, relevant: float) -> dict[int, Judged]:
    pairs = {place: cell.pairs[side] for place, cell in enumerate(cells) if side in cell.pairs}
    kinds = {place: cell.data.host_kind for place, cell in enumerate(cells)}
    floors = {place: cell.data.floor for place, cell in enumerate(cells)}
    least = max((cell.data.metric.relevant(relevant) for cell in cells), default=relevant)
    return judge_pairs(pairs, kinds, floors, least)


def judge_pairs(
    pairs: Mapping[int, Pair],
    kinds: Mapping[int, object],
    floors: Mapping[int, float],
    relevant: float = RELEVANT,
) -> dict[int, Judged]:
    """Comparisons by their places, judged together. Those of one kind share their noise. `floors`: the known
    differences between two builds of one source."""
    moved = moves(pairs, kinds)
    rates = false_discovery_rates(np.array([move.chance for move in moved.values()]))
    judged = {}
    for (place, move), q in zip(moved.items(), rates.tolist(), strict=True):
        resolves = max(floors.get(place, 0.0), detectable_change(move.error, move.test_freedom))
        judged[place] = Judged(move, q, resolves, verdict_of(move, q, resolves, relevant))
    return judged


def has_moved(move: LogMove, chance: float, most: float, least: float) -> bool:
    """Whether the chance of a move is at most `most`, and its size as a share at least `least`."""
    return chance <= most and float(abs(np.expm1(move.centre))) >= least


def verdict_of(move: LogMove, q: float, resolves: float, relevant: float) -> CellVerdict:
    """`more` is what people read as *slower*, `less` as *faster*, `same` as *no change*.

    `q`: the false discovery rate at which the move would count. `resolves`: the smallest change that these invocations
    can detect, `relevant`: the smallest one that counts; both are shares, 0.01 is 1%.
    """
    low, high = np.exp(move.bounds())
    if has_moved(move, q, FALSE_DISCOVERIES, max(relevant, resolves)):
        return "more" if move.centre > 0 else "less"
    return "same" if low >= 1 - relevant and high <= 1 + relevant else "unresolved"


def exact_verdict(before: Collection[float], after: Collection[float], exact: Exact) -> CellVerdict:
    """The verdict of a metric that every invocation measures alike, from the values of the invocations of both
    versions. `more` or `less`: every value after differs from every value before by at least the smallest change that
    counts. `same`: none does."""
    smallest = exact.smallest_from(max(before))
    rise, fall = min(after) - max(before), min(before) - max(after)
    if max(rise, fall) >= smallest:
        return "more" if rise > 0 else "less"
    return "same" if max(max(after) - min(before), max(before) - min(after)) < smallest else "unresolved"


def _with_exact(cell: UpgradeCell, data: CellData) -> UpgradeCell:
    """The cell with the verdict of an exact metric, if it is comparable and has one."""
    exact, (before, after) = data.metric.row.exact, data.levels.get("both", ((), ()))
    if exact is None or data.unlike or data.apart or not before or not after:
        return cell
    first, second = float(np.median(before)), float(np.median(after))
    ratio = second / first if first and second else None
    return cell.model_copy(
        update={
            "verdict": exact_verdict(before, after, exact),
            "move": Ratio(ratio=ratio, low=ratio, high=ratio) if ratio else None,
            "before_ns": first,
            "after_ns": second,
            "resolves": exact.smallest_from(first) / first if first else None,
        }
    )


def _cell(cell: Compared, sides: Mapping[Side, Judged | None], spread: SpreadMove | None) -> UpgradeCell:
    data, both_pair = cell.data, cell.pairs.get("both")
    both = sides["both"]
    verdict: CellVerdict = "unlike" if data.unlike else "apart" if data.apart else "unresolved"
    return UpgradeCell(
        case_id=data.case.case_id,
        title=data.case.label,
        host_kind=data.host_kind,
        verdict=both.verdict if both else verdict,
        move=both.move.ratio if both else None,
        client=_side(sides["client"]),
        server=_side(sides["server"]),
        q=both.q if both else None,
        resolves=both.resolves if both else None,
        spread=spread,
        paired=both_pair.paired if both_pair else cell.shared > 0,
        before_ns=data.before_ns,
        after_ns=data.after_ns,
        invocations=both_pair.count if both_pair else cell.shared or cell.least,
        disturbed=data.disturbed,
        run_ids=data.run_ids,
        warnings=data.warnings + ((ONE_JOB,) if both_pair and both_pair.jobs == 1 else ()),
        components=data.components,
    )


def _side(judged: Judged | None) -> SideMove | None:
    return SideMove(**vars(judged.move.ratio), verdict=judged.verdict) if judged else None
