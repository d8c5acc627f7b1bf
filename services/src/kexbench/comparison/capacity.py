"""What a server pays for a whole connection before and after an upgrade, from which pages compute its cores."""

from collections import defaultdict
from collections.abc import Iterable
from statistics import median

from kexbench.analysis.estimates import MIN_COMPARED_INVOCATIONS
from kexbench.comparison.upgrade_data import Step
from kexbench.domain.samples import Metric
from kexbench.domain.upgrades import UpgradeCell
from kexbench.store.port import SampleStore, Selection

_Levels = dict[str, float]
"""The level of each invocation."""


def with_server_costs(store: SampleStore, step: Step, cells: Iterable[UpgradeCell]) -> tuple[UpgradeCell, ...]:
    """The cells, each with the server's costs if its server is compared and one run measured both versions. Numbers of
    two runs would include what changed in the machine."""
    all_cells = tuple(cells)
    levels: dict[tuple[str, str, str, str, str], _Levels] = defaultdict(dict)
    runs = tuple(sorted({cell.run_ids[0] for cell in all_cells if _has_costs(cell)}))
    selection = Selection(Metric.SERVER_CONNECTION_CPU_NS, subjects=step, runs=runs)
    for row in store.samples(selection) if runs else ():
        if kind := row.host_kind:
            levels[kind.pool, kind.cpu_model, row.case.case_id, row.run_id, row.subject.name][row.unit] = row.level

    def with_costs(cell: UpgradeCell) -> UpgradeCell:
        place = (cell.pool, cell.cpu_model, cell.case_id, cell.run_ids[0])
        before, after = _alike(*(levels.get((*place, subject), {}) for subject in step))
        if not (before and after and _has_costs(cell)):
            return cell
        costs = {"server_before_ns": median(before.values()), "server_after_ns": median(after.values())}
        return cell.model_copy(update=costs)

    return tuple(map(with_costs, all_cells))


def _has_costs(cell: UpgradeCell) -> bool:
    return cell.server is not None and len(cell.run_ids) == 1


def _alike(before: _Levels, after: _Levels) -> tuple[_Levels, _Levels]:
    """Of the same invocations where enough have both, as for the comparison of the server."""
    both = before.keys() & after.keys()
    if len(both) < MIN_COMPARED_INVOCATIONS:
        return before, after
    return {unit: before[unit] for unit in both}, {unit: after[unit] for unit in both}
