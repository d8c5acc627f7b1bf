"""What a server pays for a whole connection before and after an upgrade, from which pages compute its cores."""

from collections import defaultdict
from collections.abc import Iterable
from statistics import median

from kexbench.comparison.upgrade_data import Step
from kexbench.domain.samples import Metric
from kexbench.domain.upgrades import UpgradeCell
from kexbench.store.port import SampleStore, Selection


def with_server_costs(store: SampleStore, step: Step, cells: Iterable[UpgradeCell]) -> tuple[UpgradeCell, ...]:
    """The cells, each with the server's costs if one run measured both versions. Numbers of two runs would include
    what changed in the machine."""
    all_cells = tuple(cells)
    costs: dict[tuple[str, str, str, str, str], list[float]] = defaultdict(list)
    runs = tuple(sorted({cell.run_ids[0] for cell in all_cells if len(cell.run_ids) == 1}))
    selection = Selection(Metric.SERVER_CONNECTION_CPU_NS, subjects=step, runs=runs, asides=True)
    for row in store.samples(selection) if runs else ():
        if kind := row.host_kind:
            costs[kind.pool, kind.cpu_model, row.case.case_id, row.run_id, row.subject.name].append(row.level)

    def cost_ns(cell: UpgradeCell, subject: str) -> float | None:
        levels = costs.get((cell.pool, cell.cpu_model, cell.case_id, cell.run_ids[0], subject))
        return median(levels) if levels and len(cell.run_ids) == 1 else None

    return tuple(
        cell.model_copy(update={"server_before_ns": cost_ns(cell, step[0]), "server_after_ns": cost_ns(cell, step[1])})
        for cell in all_cells
    )
