"""Cells from stored rows: the numbers of each, the subject compared with, and the verdict."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple

from pydantic import Field

from kexbench.analysis.compared import CellData
from kexbench.analysis.estimates import compare, estimate_median
from kexbench.analysis.rounds import Batches
from kexbench.answers.change import Change, change_of
from kexbench.answers.comparing import Beside, chosen, sentinels
from kexbench.answers.judging import judged_steps
from kexbench.answers.numbers import Step
from kexbench.answers.subjects import Ends, MeasuredSubject, end_of, newest_kits, previous_of, subjects_in_order
from kexbench.domain.batches import Values
from kexbench.domain.cases import Case, case_order
from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import HostKind
from kexbench.domain.intervals import Estimate, Ratio
from kexbench.domain.samples import Absence, Metric, Negotiated, OutcomeKind
from kexbench.domain.subjects import Subject
from kexbench.domain.upgrades import SIDES, SIDES_OF, Side, UpgradeCell, UpgradeEnd
from kexbench.domain.verdicts import RELEVANT
from kexbench.store.port import OutcomeRow, SampleRow, SampleStore, Selection


class OutcomeView(Frozen):
    """Why there is no number."""

    kind: OutcomeKind | Absence = Field(
        description="`disturbed`: few batches were undisturbed, so these invocations lack the numbers of each side; "
        "`withdrawn`: an earlier release stored a false number, which is not shown; `set aside`: its node is"
    )
    reason: str
    detail: str | None
    invocations: int = Field(description="number of invocations")


class Cell(Frozen):
    """One case of one subject: an estimate, or the outcome that explains its absence. With both, some
    invocations failed, in the same run or in a newer run without numbers."""

    case_id: str
    subject: str
    estimate: Estimate | None
    change: Change | None = Field(description="from the previous version of the library, if there is one")
    apart_from: UpgradeEnd | None = Field(
        None,
        description="the previous version, if it was measured in another run that shares no subject with this "
        "one's: the two are not compared",
    )
    outcome: OutcomeView | None
    sides_outcome: OutcomeView | None = Field(
        None, description="only in a run: why some or all invocations have no numbers for client and server"
    )
    to_sentinel: Ratio | None = Field(description="cost relative to the sentinel in the same invocations")
    negotiated: Negotiated | None = Field(description="what the library chose, in cases that leave it a choice")
    run_id: str
    measured_at: datetime


@dataclass
class Gathered:
    """All rows of one cell."""

    case: Case
    subject: Subject
    run_id: str = ""
    measured_at: datetime | None = None
    batches: dict[str, Values] = field(default_factory=dict)
    levels: list[float] = field(default_factory=list)
    outcome: OutcomeRow | None = None
    previous: Subject | None = None
    """The version compared with."""

    @property
    def step(self) -> Step | None:
        return (self.previous.name, self.subject.name) if self.previous else None

    @property
    def ends(self) -> Ends | None:
        return (end_of(self.previous), end_of(self.subject)) if self.previous else None


@dataclass(frozen=True)
class ShownCells:
    """The cells of a page with the rows and columns of its table, in their order."""

    cases: Sequence[Case] = ()
    subjects: Sequence[Subject] = ()
    cells: Sequence[Cell] = ()
    judged: Sequence[tuple[Step, UpgradeCell]] = ()
    """The verdict of each cell with a previous version, also of one without a ratio."""


class _CaseKey(NamedTuple):
    """What the cells of a case are kept by. Their changes are decided among all cases, and kept by their steps."""

    selection: Selection
    case_id: str


@dataclass(frozen=True)
class _CaseCells:
    """The cells of one case on a host kind, without their changes."""

    case: Case
    cells: tuple[tuple[Cell, Step | None], ...]
    kits: tuple[MeasuredSubject, ...]

    def __len__(self) -> int:
        return len(self.cells)


def shown_cells(store: SampleStore, selection: Selection, relevant: float = RELEVANT) -> ShownCells:
    """One cell for each case and subject of a host kind with a number or an outcome. In a run, changes of both
    sides also have those of the client and the server."""
    metrics: dict[Side, Metric] = {"both": selection.metric}
    if selection.run_id is not None:
        metrics = next((sides for sides in SIDES_OF.values() if sides["both"] is selection.metric), metrics)
    kept = store.kept(
        [_CaseKey(selection, case_id) for case_id in store.evidence().case_ids(selection.run_id)],
        lambda evidence, key: evidence.of_case(key.case_id, selection.run_id),
        lambda keys: _cells_by_case(store, selection, [key.case_id for key in keys], timed=metrics == SIDES),
    )
    by_case = sorted(filter(None, kept.values()), key=lambda cells: case_order(cells.case))
    subjects = subjects_in_order(kit for cells in by_case for kit in cells.kits)
    places = {view.name: place for place, view in enumerate(subjects)}
    shown = sorted(
        (cell for cells in by_case for cell in cells.cells),
        key=lambda cell: (places[cell[0].subject], cell[0].case_id),
    )
    judged = judged_steps(
        store,
        {step for _, step in shown if step},
        relevant,
        run_ids=(selection.run_id, selection.run_id),
        metrics=metrics,
    )
    kind = HostKind(selection.pool or "", selection.cpu_model or "")
    ends = {kit.subject.name: end_of(kit.subject) for cells in by_case for kit in cells.kits}
    verdicts = [step and judged[step].of(cell.case_id, kind) for cell, step in shown]
    return ShownCells(
        [cells.case for cells in by_case],
        subjects,
        [
            _with_change(cell, (ends[step[0]], ends[step[1]]), verdict) if step else cell
            for (cell, step), verdict in zip(shown, verdicts, strict=True)
        ],
        [(step, verdict[1]) for (_, step), verdict in zip(shown, verdicts, strict=True) if step and verdict],
    )


def _cells_by_case(
    store: SampleStore, selection: Selection, case_ids: Sequence[str], *, timed: bool
) -> dict[_CaseKey, _CaseCells | None]:
    """The cells of some cases; None for a case without any on the host kind. `timed`: with the reasons why a side has
    no numbers."""
    here = replace(selection, case_ids=tuple(case_ids))
    samples = store.samples(here)
    # Failures first, since one outcome stands for a cell.
    outcomes = [*store.outcomes(here), *store.disturbed(here), *store.withdrawn(here), *store.set_aside(here)]
    gathered = gather(samples, outcomes)
    run_ids = {cell.run_id for cell in gathered if cell.levels}
    frozen = sentinels(store.sentinels(replace(here, runs=tuple(run_ids))) if run_ids else ())
    free = {cell.run_id for cell in gathered if cell.levels and cell.case.leaves_a_choice}
    negotiated = chosen(store.negotiated(free) if free else ())
    sides = store.disturbed(replace(here, metric=Metric.CLIENT_CPU_NS)) if timed else ()
    disturbed = {(row.case.case_id, row.subject.name): row for row in sides}
    cells: dict[str, list[tuple[Cell, Step | None]]] = defaultdict(list)
    for cell in gathered:
        shown = _cell(
            cell,
            frozen.get((cell.run_id, cell.case.case_id)),
            negotiated.get((cell.run_id, cell.case.case_id, f"{cell.subject.library}@{cell.subject.source}")),
            disturbed.get((cell.case.case_id, cell.subject.name)),
        )
        cells[cell.case.case_id].append((shown, cell.step))
    all_rows: list[SampleRow | OutcomeRow] = [*samples, *outcomes]
    rows: dict[str, list[SampleRow | OutcomeRow]] = defaultdict(list)
    for row in all_rows:
        rows[row.case.case_id].append(row)
    return {
        _CaseKey(selection, case_id): _CaseCells(
            rows[case_id][0].case, tuple(cells[case_id]), tuple(newest_kits(rows[case_id]))
        )
        if case_id in rows
        else None
        for case_id in case_ids
    }


def judged_in_run(
    store: SampleStore, run_id: str, relevant: float, metrics: Mapping[Side, Metric] = SIDES
) -> list[tuple[Step, UpgradeCell]]:
    """The changes of a run as its pages show them, on all host kinds. `metrics`: those of its instrument."""
    gathered = {
        kind: gather(store.samples(Selection(metrics["both"], kind.pool, kind.cpu_model, run_id=run_id)), ())
        for kind in store.host_kinds(run_id)
    }
    steps = {cell.step for cells in gathered.values() for cell in cells if cell.step}
    judged = judged_steps(store, steps, relevant, run_ids=(run_id, run_id), metrics=metrics)
    return [
        (cell.step, data_and_cell[1])
        for kind, cells in gathered.items()
        for cell in cells
        if cell.step and (data_and_cell := judged[cell.step].of(cell.case.case_id, kind))
    ]


def gather(samples: Iterable[SampleRow], outcomes: Iterable[OutcomeRow]) -> list[Gathered]:
    """The rows of one host kind by cell, each with the subject compared with."""
    gathered: dict[tuple[str, str], Gathered] = {}
    for row in samples:
        key = (row.case.case_id, row.subject.name)
        cell = gathered.setdefault(key, Gathered(case=row.case, subject=row.subject))
        cell.run_id = row.run_id
        cell.measured_at = max(row.measured_at, cell.measured_at or row.measured_at)
        cell.levels.append(row.level)
        cell.batches[row.unit] = row.values
    for outcome in outcomes:
        key = (outcome.case.case_id, outcome.subject.name)
        cell = gathered.setdefault(key, Gathered(case=outcome.case, subject=outcome.subject))
        if cell.levels and cell.run_id != outcome.run_id:
            if outcome.measured_at <= (cell.measured_at or outcome.measured_at):
                continue  # an older run's outcome does not apply to the newest numbers
            cell.outcome = cell.outcome or outcome  # a newer run without numbers: shown next to the older numbers
            continue
        if cell.outcome is None:
            cell.outcome = outcome
            cell.run_id = outcome.run_id
            cell.measured_at = max(outcome.measured_at, cell.measured_at or outcome.measured_at)
    by_case: dict[str, list[Gathered]] = defaultdict(list)
    for cell in gathered.values():
        by_case[cell.case.case_id].append(cell)
    for cell in gathered.values():
        if cell.levels:
            beside = (other.subject for other in by_case[cell.case.case_id] if other.levels)
            cell.previous = previous_of(cell.subject, beside)
    return list(gathered.values())


def _cell(cell: Gathered, sentinel: Beside | None, negotiated: Negotiated | None, disturbed: OutcomeRow | None) -> Cell:
    assert cell.measured_at is not None
    return Cell(
        case_id=cell.case.case_id,
        subject=cell.subject.name,
        estimate=estimate_median(cell.levels) if cell.levels else None,
        change=None,
        outcome=_outcome(cell.outcome),
        sides_outcome=_outcome(disturbed),
        to_sentinel=_to_sentinel(cell.batches, sentinel),
        negotiated=negotiated if cell.case.leaves_a_choice else None,
        run_id=cell.run_id,
        measured_at=cell.measured_at,
    )


def _with_change(cell: Cell, ends: Ends, judged: tuple[CellData, UpgradeCell] | None) -> Cell:
    if judged is None:
        return cell
    apart = judged[1].verdict == "apart"
    return cell.model_copy(update={"change": change_of(ends, *judged), "apart_from": ends[0] if apart else None})


def _outcome(row: OutcomeRow | None) -> OutcomeView | None:
    if row is None:
        return None
    return OutcomeView(kind=row.kind, reason=row.reason, detail=row.detail, invocations=row.invocations)


def _to_sentinel(batches: Batches, sentinel: Beside | None) -> Ratio | None:
    return compare(batches, sentinel.batches) if sentinel and batches else None
