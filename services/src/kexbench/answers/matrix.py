"""The matrix: the newest numbers of each case and version on a host kind."""

from collections.abc import Sequence

from pydantic import Field

from kexbench.answers.cells import Cell, ShownCells, shown_cells
from kexbench.answers.meaning import host_kind
from kexbench.answers.runs import measured_kits
from kexbench.answers.shapes import CaseView
from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import HostKind
from kexbench.domain.refusals import Refusal, RefusalReason
from kexbench.domain.samples import Metric
from kexbench.domain.subjects import Subject
from kexbench.store.port import (
    ScreeningStore,
    Selection,
    Store,
)


class Matrix(Frozen):
    """Case x version for a host kind: the newest numbers of each cell."""

    host_kind: HostKind | None = Field(description="null while nothing is stored")
    metric: Metric
    cases: list[CaseView]
    subjects: list[Subject] = Field(description="by library, then version order")
    cells: list[Cell]


def _of_spec(store: ScreeningStore, spec: str, shown: ShownCells) -> ShownCells:
    """The cells of what a spec measured last. Raises Refusal if the spec has no run."""
    newest = next((run for run in store.runs_of_spec(spec, 10) if run.is_started), None)
    if newest is None:
        raise Refusal(
            RefusalReason.MISSING, f"spec {spec} has no run that began", "the overview lists the measured specs"
        )
    case_ids = {case.case_id for case in newest.plan.cases}
    versions = {(kit.library, kit.version, kit.source) for kit in measured_kits(newest)}
    subjects = [view for view in shown.subjects if (view.library, view.version, view.source) in versions]
    names = {view.name for view in subjects}
    cells = [cell for cell in shown.cells if cell.case_id in case_ids and cell.subject in names]
    measured, present = {cell.case_id for cell in cells}, {cell.subject for cell in cells}
    return ShownCells(
        [case for case in shown.cases if case.case_id in measured],
        [view for view in subjects if view.name in present],
        cells,
    )


def matrix(
    store: Store,
    metric: Metric,
    pool: str | None = None,
    cpu_model: str | None = None,
    libraries: Sequence[str] = (),
    spec: str | None = None,
) -> Matrix:
    """Each cell from its newest run. `spec`: only what this spec measured last. Raises Refusal."""
    kind = host_kind(store, pool, cpu_model)
    if kind is None:
        return Matrix(host_kind=None, metric=metric, cases=[], subjects=[], cells=[])
    shown = shown_cells(store, Selection(metric, kind.pool, kind.cpu_model, tuple(libraries)))
    if spec is not None:
        shown = _of_spec(store, spec, shown)
    return Matrix(
        host_kind=kind,
        metric=metric,
        cases=[CaseView.of(case) for case in shown.cases],
        subjects=list(shown.subjects),
        cells=list(shown.cells),
    )
