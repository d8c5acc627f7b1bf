"""The only way to the verdict of a compared cell: each is judged among all cells of its upgrade, or among those of two
cases."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from kexbench.analysis.compared import CellData, Compared, Judged, compared
from kexbench.analysis.verdict import judge, judge_compared, judge_moves
from kexbench.answers.numbers import ANY_RUNS, RunIds, Step, cells_of_steps
from kexbench.domain.cases import case_order
from kexbench.domain.hosts import HostKind
from kexbench.domain.samples import Metric
from kexbench.domain.upgrades import SIDES, Side, UpgradeCell
from kexbench.domain.verdicts import RELEVANT
from kexbench.store.evidence import Evidence, Token
from kexbench.store.port import SampleStore


class _StepKey(NamedTuple):
    """What judged cells are kept by."""

    step: Step
    relevant: float
    run_ids: RunIds
    metrics: tuple[tuple[Side, Metric], ...]


class _CellsKey(NamedTuple):
    """What the cells of a case on all host kinds are kept by before they are judged."""

    step: Step
    case_id: str
    run_ids: RunIds
    metrics: tuple[tuple[Side, Metric], ...]
    asides: bool


@dataclass(frozen=True)
class JudgedCells:
    """The cells of an upgrade with their verdicts, which are decided among all cells."""

    data: tuple[CellData, ...] = ()
    judged: tuple[UpgradeCell, ...] = ()

    @cached_property
    def _places(self) -> dict[tuple[str, HostKind], int]:
        return {(cell.case_id, cell.host_kind): place for place, cell in enumerate(self.judged)}

    def __len__(self) -> int:
        return len(self.judged)

    def of(self, case_id: str, kind: HostKind) -> tuple[CellData, UpgradeCell] | None:
        """None if the two were not measured there."""
        place = self._places.get((case_id, kind))
        return None if place is None else (self.data[place], self.judged[place])

    def __add__(self, other: "JudgedCells") -> "JudgedCells":
        return JudgedCells(self.data + other.data, self.judged + other.judged)

    def more(self) -> tuple[UpgradeCell, ...]:
        return tuple(cell for cell in self.judged if cell.verdict == "more")

    def ordered(self, kinds: Sequence[HostKind]) -> "JudgedCells":
        """In the order of the matrix, then of the host kinds."""
        ranks = {kind: rank for rank, kind in enumerate(kinds)}
        places = sorted(
            range(len(self.data)),
            key=lambda place: (
                case_order(self.data[place].case),
                ranks.get(self.data[place].host_kind, len(ranks)),
            ),
        )
        return JudgedCells(tuple(self.data[place] for place in places), tuple(self.judged[place] for place in places))

    def where(self, is_selected: Callable[[UpgradeCell], bool]) -> "JudgedCells":
        """Some of the cells, with unchanged verdicts."""
        places = [place for place, cell in enumerate(self.judged) if is_selected(cell)]
        return JudgedCells(tuple(self.data[place] for place in places), tuple(self.judged[place] for place in places))


def judged_steps(
    store: SampleStore,
    steps: Collection[Step],
    relevant: float = RELEVANT,
    *,
    run_ids: RunIds = ANY_RUNS,
    metrics: Mapping[Side, Metric] = SIDES,
) -> dict[Step, JudgedCells]:
    """All cells of each step on all host kinds, judged together. Each cell uses the newest run that interleaved both,
    or the given runs only. Runs aside count only for a step without any cell from other runs."""

    sides = tuple(metrics.items())

    def judged(keys: Iterable[_StepKey]) -> dict[_StepKey, JudgedCells]:
        cells_by_step = _compared_cells(store, [key.step for key in keys], run_ids, metrics)
        lacking = [step for step, cells in cells_by_step.items() if not cells]
        cells_by_step |= _compared_cells(store, lacking, run_ids, metrics, asides=True)
        return {
            key: JudgedCells(
                tuple(cell.data for cell in cells_by_step[key.step]),
                judge_compared(cells_by_step[key.step], relevant),
            )
            for key in keys
        }

    kept = store.kept(
        [_StepKey(step, relevant, run_ids, sides) for step in steps],
        lambda evidence, key: token_of(evidence, key.step, run_ids),
        judged,
    )
    return {key.step: cells for key, cells in kept.items()}


def judged_together(cells: Sequence[CellData], relevant: float = RELEVANT) -> tuple[UpgradeCell, ...]:
    """Cells that a caller has chosen, such as those of two cases: in their order, each judged among all of them."""
    return judge(cells, relevant)


def judged_with_moves(cells: Sequence[CellData]) -> tuple[tuple[UpgradeCell, ...], dict[int, Judged]]:
    """As `judged_together`, with the moves of both sides together that it decides by, by the places of the cells."""
    each = [compared(cell) for cell in cells]
    return judge_compared(each), judge_moves(each)


def _compared_cells(
    store: SampleStore,
    steps: Collection[Step],
    run_ids: RunIds,
    metrics: Mapping[Side, Metric],
    *,
    asides: bool = False,
) -> dict[Step, list[Compared]]:
    """The cells of steps as in `cells_of_steps`. An invocation that arrives changes few of them, so the others are kept
    until it is known how all are judged together."""
    sides = tuple(metrics.items())

    def compute(keys: Iterable[_CellsKey]) -> dict[_CellsKey, tuple[Compared, ...]]:
        case_ids = {key.case_id for key in keys}
        cells_by_step = cells_of_steps(
            store, {key.step for key in keys}, case_ids, run_ids=run_ids, metrics=metrics, asides=asides
        )
        cells: dict[_CellsKey, list[Compared]] = {key: [] for key in keys}
        for step, data in cells_by_step.items():
            for cell in data:
                if (key := _CellsKey(step, cell.case.case_id, run_ids, sides, asides)) in cells:
                    cells[key].append(compared(cell))
        return {key: tuple(of_case) for key, of_case in cells.items()}

    kept = store.kept(
        [
            _CellsKey(step, case_id, run_ids, sides, asides)
            for step in steps
            for case_id in store.evidence().case_ids(_only_run(run_ids))
        ],
        lambda evidence, key: token_of(evidence, key.step, run_ids, key.case_id),
        compute,
    )
    cells_by_step: dict[Step, list[Compared]] = {step: [] for step in steps}
    for key, cells in kept.items():
        cells_by_step[key.step] += cells
    return {step: sorted(cells, key=lambda cell: case_order(cell.data.case)) for step, cells in cells_by_step.items()}


def token_of(evidence: Evidence, step: Step, run_ids: RunIds = ANY_RUNS, case_id: str | None = None) -> Token:
    """Changes with the results that the cells of a step are made of: of both subjects, of what their runs measured
    beside them, and of A/A runs."""
    return evidence.of_subjects(step, _only_run(run_ids), case_id), evidence.of_copies()


def _only_run(run_ids: RunIds) -> str | None:
    return run_ids[0] if run_ids[0] == run_ids[1] else None
