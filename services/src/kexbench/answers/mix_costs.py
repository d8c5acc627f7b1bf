"""What the parts of a mix cost a server, and what the mix costs one version relative to another: the common ground of
capacity and of the mix of stacks.

The cost of a mix and its interval are the delta method's over its parts (`analysis.capacity`, after Casella & Berger,
Statistical Inference, section 5.5.4).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from statistics import median
from typing import NamedTuple

import numpy as np

from kexbench.analysis.capacity import ChangedPart, correlation_of, judge_upgrade, log_costs
from kexbench.analysis.compared import CellData, Judged
from kexbench.analysis.moves import LogMove
from kexbench.answers.capacity_shapes import MixChange
from kexbench.answers.judging import judged_with_moves, token_of
from kexbench.answers.numbers import ANY_RUNS, RunIds, Step, cells_of_steps
from kexbench.domain.cases import Case
from kexbench.domain.hosts import HostKind
from kexbench.domain.intervals import Estimate
from kexbench.domain.metrics import Metric
from kexbench.domain.mixes import MixPart, TrafficMix
from kexbench.domain.upgrades import CellVerdict, UpgradeCell
from kexbench.store.port import SampleRow, SampleStore, Selection


@dataclass(frozen=True)
class MeasuredPart:
    """The costs of a case, from one run."""

    case: Case
    run_id: str
    levels: Mapping[str, float]


OfVersion = Mapping[str, MeasuredPart]
"""By case id."""


@dataclass(frozen=True)
class ComparedPart:
    """A cell of the upgrade, its view, and its move; without a move where the two are not compared."""

    data: CellData
    view: UpgradeCell
    judged: Judged | None


class _StepKey(NamedTuple):
    """What the cells of a step are kept by."""

    step: Step
    metric: Metric
    asides: bool
    run_ids: RunIds


CellsOfStep = Mapping[tuple[HostKind, str], ComparedPart]
"""By host kind and case."""


def compared_steps(
    store: SampleStore, here: Selection, steps: Collection[Step], run_ids: RunIds = ANY_RUNS
) -> dict[Step, CellsOfStep]:
    """The cells of each step, judged among all of them. Kept, since all mixes need the same."""

    def compute(keys: Sequence[_StepKey]) -> dict[_StepKey, CellsOfStep]:
        cells_by_step = cells_of_steps(
            store, [key.step for key in keys], run_ids=run_ids, metrics={"both": here.metric}, asides=here.asides
        )
        return {key: _judged(cells_by_step[key.step]) for key in keys}

    kept = store.kept(
        [_StepKey(step, here.metric, here.asides, run_ids) for step in steps],
        lambda evidence, key: token_of(evidence, key.step, run_ids),
        compute,
    )
    return {key.step: cells for key, cells in kept.items()}


def _judged(cells: Sequence[CellData]) -> CellsOfStep:
    views, moves = judged_with_moves(cells)
    return {
        (cell.host_kind, cell.case.case_id): ComparedPart(cell, views[place], moves.get(place))
        for place, cell in enumerate(cells)
    }


def measured_part(rows: Sequence[SampleRow], data: CellData | None = None) -> MeasuredPart:
    """`data`: of a cell whose cost before may be of an earlier run, and then is shown as of the later run."""
    scale = 1.0
    if data and data.before_ns and len(data.run_ids) > 1:
        scale = data.before_ns / median(row.level for row in rows)
    levels = {f"{row.run_id}/{row.unit}": row.level * scale for row in rows}
    return MeasuredPart(rows[0].case, rows[0].run_id, levels)


def costs_of(mix: TrafficMix, measured: OfVersion) -> dict[str, LogMove]:
    case_ids = [part.case_id for part in mix.all_parts]
    moves = log_costs([measured[case_id].levels for case_id in case_ids])
    return dict(zip(case_ids, moves, strict=True))


def mix_change(
    parts: Sequence[MixPart],
    compared: Mapping[str, ComparedPart],
    measured: OfVersion,
    costs: Mapping[str, LogMove],
) -> MixChange:
    cells = [compared[part.case_id] for part in parts]
    if refused := _refusal(each.view.verdict for each in cells if each.judged is None):
        return MixChange(verdict=refused, move=None, resolves=None)
    changed = [
        ChangedPart(
            share=part.share,
            before=costs[part.case_id],
            move=each.judged.move,
            correlation=correlation_of(
                measured[part.case_id].levels,
                (each.data.before["both"], each.data.after["both"]),
                each.judged.move,
                costs[part.case_id],
            ),
            floor=each.data.floor,
        )
        for part, each in zip(parts, cells, strict=True)
        if each.judged
    ]
    return change_of(judge_upgrade(changed))


def _refusal(verdicts: Iterable[CellVerdict]) -> CellVerdict | None:
    """Why a mix is not compared, from the verdicts of parts without a move."""
    found = set(verdicts)
    return next((verdict for verdict in ("apart", "unlike", "unresolved") if verdict in found), None)


def change_of(judged: Judged) -> MixChange:
    if judged.move.error == inf:
        return MixChange(verdict=judged.verdict, move=None, resolves=None)
    return MixChange(verdict=judged.verdict, move=judged.move.ratio, resolves=judged.resolves)


def amount_of(move: LogMove, scale: float = 1.0) -> Estimate:
    low, high = (None, None) if move.error == inf else (float(np.exp(bound)) * scale for bound in move.bounds())
    return Estimate(value=float(np.exp(move.centre)) * scale, low=low, high=high)
