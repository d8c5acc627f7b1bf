"""The one place that decides whether a cost moved: of the cells of a matrix together, with false discoveries in check,
and of a comparison alone. Everybody who says slower, faster or the same asks here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kexbench.analysis.detectable import detectable_change
from kexbench.analysis.discovery import FALSE_DISCOVERIES, false_discovery_rates
from kexbench.analysis.moves import LogMove, Pair, moves, pair
from kexbench.analysis.rounds import Batches
from kexbench.domain.cases import Case
from kexbench.domain.components import ComponentChange
from kexbench.domain.upgrades import SIDES, CellVerdict, Move, Side, SideMove, UpgradeCell
from kexbench.domain.verdicts import RELEVANT

ONE_JOB = "of one job: what differs from job to job is not in the interval"
_SLIGHT = 0.2
"""A side whose part in a move is smaller than so much of the other's does not count as having moved."""


@dataclass(frozen=True)
class CellData:
    """One case on one host kind, with what both versions cost in it."""

    case: Case
    pool: str
    cpu_model: str
    before: Mapping[Side, Batches]
    """Batches by `run/job/invocation`; those of both versions under one key ran interleaved."""
    after: Mapping[Side, Batches]
    run_ids: tuple[str, ...]
    warnings: tuple[str, ...]
    unlike: bool
    """The two did not do the same: shown, never judged."""
    floor: float = 0.0
    """By how much two builds of one source differ here, as a share; 0 where that is not known."""
    before_ns: float | None = None
    after_ns: float | None = None
    """What a handshake cost, both sides: the median over invocations of what each cost in all."""
    components: tuple[ComponentChange, ...] = ()
    """What changed along with the library."""
    apart: bool = False
    """They were measured in different runs that share no subject: shown, never judged."""
    disturbed: int = 0
    """Invocations of one version that do not tell the client and the server apart; of the one that has more of them."""


def judge(cells: Sequence[CellData], relevant: float = RELEVANT) -> tuple[UpgradeCell, ...]:
    """The cells in their order, each judged among all of them.

    `more` or `less`: at a false discovery rate of 5% over the upgrade it moved (Benjamini & Hochberg), and by as much
    as is relevant and its invocations can resolve. `same`: its interval lies within what is relevant. The intervals
    are at 95%, each for itself. The client's and the server's moves have verdicts of their own, by the same rule over
    all cells of that side.
    """
    pairs = {side: _pairs(cells, side) for side in SIDES}
    kinds = {place: (cell.pool, cell.cpu_model) for place, cell in enumerate(cells)}
    floors = {place: cell.floor for place, cell in enumerate(cells)}
    judged = {side: judge_pairs(pairs[side], kinds, floors, relevant) for side in SIDES}
    return tuple(
        _cell(cell, pairs["both"].get(place), {side: judged[side].get(place) for side in SIDES})
        for place, cell in enumerate(cells)
    )


@dataclass(frozen=True)
class Judged:
    """A move with its verdict, among all that were judged with it."""

    move: LogMove
    q: float
    resolves: float
    verdict: CellVerdict


def judge_pairs(
    pairs: Mapping[int, Pair],
    kinds: Mapping[int, object],
    floors: Mapping[int, float],
    relevant: float = RELEVANT,
) -> dict[int, Judged]:
    """Comparisons by their places, judged together. Those of one kind tell each other's noise; `floors`: by how much
    two builds of one source differ, where that is known."""
    found = moves(pairs, kinds)
    rates = false_discovery_rates(np.array([move.chance for move in found.values()]))
    judged = {}
    for (place, move), q in zip(found.items(), rates.tolist(), strict=True):
        resolves = max(floors.get(place, 0.0), detectable_change(move.error, move.test_freedom))
        judged[place] = Judged(move, q, resolves, verdict_of(move, q, resolves, relevant))
    return judged


def has_moved(move: LogMove, chance: float, most: float, least: float) -> bool:
    """Whether a move is as unlikely by chance as is asked for and, as a share, at least so large."""
    return chance <= most and float(abs(np.expm1(move.centre))) >= least


def verdict_of(move: LogMove, q: float, resolves: float, relevant: float) -> CellVerdict:
    low, high = np.exp(move.bounds())
    if has_moved(move, q, FALSE_DISCOVERIES, max(relevant, resolves)):
        return "more" if move.centre > 0 else "less"
    return "same" if low >= 1 - relevant and high <= 1 + relevant else "unresolved"


def _pairs(cells: Sequence[CellData], side: Side) -> dict[int, Pair]:
    made = {
        place: pair(cell.before.get(side, {}), cell.after.get(side, {}))
        for place, cell in enumerate(cells)
        if not (cell.unlike or cell.apart)
    }
    return {place: one for place, one in made.items() if one is not None}


def _cell(data: CellData, compared: Pair | None, found: Mapping[Side, Judged | None]) -> UpgradeCell:
    before, after = data.before.get("both", {}), data.after.get("both", {})
    shared = len(before.keys() & after.keys())
    both = found["both"]
    without: CellVerdict = "unlike" if data.unlike else "apart" if data.apart else "unresolved"
    return UpgradeCell(
        case_id=data.case.case_id,
        title=data.case.label,
        pool=data.pool,
        cpu_model=data.cpu_model,
        verdict=both.verdict if both else without,
        move=_ratio(both.move) if both else None,
        client=_side(found["client"]),
        server=_side(found["server"]),
        q=both.q if both else None,
        resolves=both.resolves if both else None,
        paired=compared.paired if compared else shared > 0,
        before_ns=data.before_ns,
        after_ns=data.after_ns,
        invocations=compared.count if compared else shared or min(len(before), len(after)),
        disturbed=data.disturbed,
        run_ids=data.run_ids,
        warnings=data.warnings + ((ONE_JOB,) if compared and compared.jobs == 1 else ()),
        components=data.components,
    )


def _side(judged: Judged | None) -> SideMove | None:
    return SideMove(**vars(_ratio(judged.move)), verdict=judged.verdict) if judged else None


def _ratio(move: LogMove) -> Move:
    low, high = move.bounds()
    return Move(ratio=float(np.exp(move.centre)), low=float(np.exp(low)), high=float(np.exp(high)))


def moved_side(client: Move | None, server: Move | None) -> Side:
    """Whose cost moved: one side's, where its interval excludes no change and the other's part is slight."""
    if client is None or server is None:
        return "both"
    sizes = {"client": _surely(client), "server": _surely(server)}
    if sizes["server"] > 0 and sizes["client"] < _SLIGHT * sizes["server"]:
        return "server"
    if sizes["client"] > 0 and sizes["server"] < _SLIGHT * sizes["client"]:
        return "client"
    return "both"


def _surely(move: Move) -> float:
    """The size of a move on a log scale; 0 where its interval holds no change, or it is not relevant."""
    sure = move.low > 1 or move.high < 1
    return float(abs(np.log(move.ratio))) if sure and abs(move.ratio - 1) >= RELEVANT else 0.0
