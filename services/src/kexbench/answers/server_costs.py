"""What a server pays for a whole connection before and after an upgrade, from which pages compute its cores."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from statistics import median
from typing import TypeVar

from kexbench.analysis.estimates import MIN_COMPARED_INVOCATIONS
from kexbench.answers.numbers import Step
from kexbench.domain.hosts import HostKind
from kexbench.domain.samples import Metric
from kexbench.domain.upgrades import UpgradeCell
from kexbench.store.port import SampleStore, Selection

_Levels = dict[str, float]
"""The level of each invocation."""
_Place = tuple[HostKind, str, str]
"""Host kind, run and subject."""


Cell = TypeVar("Cell", bound=UpgradeCell)


@dataclass(frozen=True)
class _CaseKey:
    """What the costs of a case are kept by."""

    step: Step
    case_id: str
    run_ids: tuple[str, ...]


def with_server_costs(store: SampleStore, step: Step, cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """The cells, each with the server's costs if its server is compared and one run measured both versions. Numbers of
    two runs would include what changed in the machine."""
    all_cells = tuple(cells)
    runs: dict[str, set[str]] = defaultdict(set)
    for cell in filter(_has_costs, all_cells):
        runs[cell.case_id].add(cell.run_ids[0])
    levels = store.kept(
        [_CaseKey(step, case_id, tuple(sorted(of_case))) for case_id, of_case in runs.items()],
        lambda evidence, key: evidence.of_subjects(step, case_id=key.case_id),
        lambda keys: _levels(store, keys),
    )
    by_case = {key.case_id: of_case for key, of_case in levels.items()}

    def with_costs(cell: Cell) -> Cell:
        place = (cell.host_kind, cell.run_ids[0])
        of_case = by_case.get(cell.case_id, {})
        before, after = _alike(*(of_case.get((*place, subject), {}) for subject in step))
        if not (before and after and _has_costs(cell)):
            return cell
        costs = {"server_before_ns": median(before.values()), "server_after_ns": median(after.values())}
        return cell.model_copy(update=costs)

    return tuple(map(with_costs, all_cells))


def _levels(store: SampleStore, keys: Collection[_CaseKey]) -> dict[_CaseKey, dict[_Place, _Levels]]:
    """Of some cases of one step."""
    levels: dict[_CaseKey, dict[_Place, _Levels]] = {key: defaultdict(dict) for key in keys}
    keys_by_case = {key.case_id: key for key in keys}
    selection = Selection(
        Metric.SERVER_CONNECTION_CPU_NS,
        subjects=next(iter(keys)).step,
        case_ids=tuple(sorted(keys_by_case)),
        runs=tuple(sorted({run_id for key in keys for run_id in key.run_ids})),
    )
    for row in store.samples(selection):
        if kind := row.host_kind:
            place = (kind, row.run_id, row.subject.name)
            levels[keys_by_case[row.case.case_id]][place][row.unit] = row.level
    return levels


def _has_costs(cell: UpgradeCell) -> bool:
    return cell.server is not None and len(cell.run_ids) == 1


def _alike(before: _Levels, after: _Levels) -> tuple[_Levels, _Levels]:
    """Of the same invocations where enough have both, as for the comparison of the server."""
    both = before.keys() & after.keys()
    if len(both) < MIN_COMPARED_INVOCATIONS:
        return before, after
    return {unit: before[unit] for unit in both}, {unit: after[unit] for unit in both}
