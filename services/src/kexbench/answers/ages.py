"""How the age of a context changes what a connection costs: the slope of each cell, with its interval."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kexbench.analysis.age import AgedCell, ageings
from kexbench.answers.cells import gather
from kexbench.domain.ages import Ageing
from kexbench.domain.metrics import Metric
from kexbench.store.port import Selection, Store

Place = tuple[str, str]
"""A case, by its id, and a subject, by its unique name."""


def ageing_of(store: Store, here: Selection, case_ids: Sequence[str]) -> Mapping[Place, Ageing]:
    """Of the newest run of each cell, all judged together. A cell with too few invocations is left out."""
    young, old = (
        {(cell.case.case_id, cell.subject.name): cell for cell in gather(store.samples(of_cases), ())}
        for of_cases in (
            replace(here, metric=metric, case_ids=tuple(case_ids))
            for metric in (Metric.YOUNG_CPU_NS, Metric.OLD_CPU_NS)
        )
    )
    runs = {cell.run_id for cell in young.values()}
    connections = {run_id: run.plan.measure.age for run_id in runs if (run := store.run(run_id))}
    places = [
        place
        for place, cell in young.items()
        if cell.run_id in connections and place in old and cell.run_id == old[place].run_id
    ]
    cells = [AgedCell(young[place].batches, old[place].batches, connections[young[place].run_id]) for place in places]
    return {place: each for place, each in zip(places, ageings(cells), strict=True) if each}
