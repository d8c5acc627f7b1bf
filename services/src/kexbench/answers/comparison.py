"""Any two ends compared in every case that both measured, with their histories; of two versions of a library also what
the changes have in common."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pydantic import Field

from kexbench.answers.choices import run_choices
from kexbench.answers.ends import AskedEnd, End, Kinds, chosen_ends
from kexbench.answers.history import CellHistory, HistoryLine, history_values, line_of
from kexbench.answers.meaning import version_of
from kexbench.answers.server_costs import with_server_costs
from kexbench.answers.shapes import CaseChoice, CaseView, RunChoice
from kexbench.answers.subjects import MeasuredSubject, subjects_in_order
from kexbench.answers.two_ends import ComparedCell, kept_cells, step_of
from kexbench.answers.upgrade import Upgrade, upgrade_of
from kexbench.domain.cases import Case, case_order, differences
from kexbench.domain.differences import Difference
from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import HostKind
from kexbench.domain.samples import Metric
from kexbench.domain.subjects import Subject
from kexbench.domain.upgrades import SIDES
from kexbench.domain.verdicts import RELEVANT
from kexbench.planning.spec import Catalogue
from kexbench.store.port import AppearanceRow, MeasuredSubjectRow, SampleStore, Selection


@dataclass(frozen=True)
class ComparedEnds:
    cells: Sequence[ComparedCell] = ()
    cases: Sequence[Case] = ()
    lines: Sequence[HistoryLine] = ()

    def __len__(self) -> int:
        return len(self.cells)


def compared_ends(
    store: SampleStore, ends: tuple[End, End], measured: Collection[MeasuredSubjectRow], relevant: float = RELEVANT
) -> ComparedEnds:
    """In the order of the matrix, then of the host kinds, with histories. `measured`: all subjects."""
    cells = kept_cells(store, ends, measured, relevant, SIDES)
    return _with_histories(store, cells, ends, measured) if cells else ComparedEnds()


def _with_histories(
    store: SampleStore,
    cells: Sequence[tuple[tuple[Case, Case], ComparedCell]],
    ends: tuple[End, End],
    measured: Collection[MeasuredSubjectRow],
) -> ComparedEnds:
    lines_of = {
        pair: tuple(dict.fromkeys(line_of(end.subject, kind, measured) for end, kind in zip(ends, pair, strict=True)))
        for pair in dict.fromkeys(_kinds(cell) for _, cell in cells)
    }
    lines = list(dict.fromkeys(line for pair in lines_of.values() for line in pair))
    cases = {case.case_id: case for both, _ in cells for case in both}
    if ends[0].case_id != ends[1].case_id:  # a line is of one case
        return ComparedEnds([cell for _, cell in cells], list(cases.values()))
    values = history_values(store, lines, sorted(cases))
    shown = [
        cell.model_copy(
            update={
                "history": tuple(
                    CellHistory(line=lines.index(line), values=values[line, cell.case_id])
                    for line in lines_of[_kinds(cell)]
                )
            }
        )
        for _, cell in cells
    ]
    return ComparedEnds(shown, list(cases.values()), [line.view(*(end.subject for end in ends)) for line in lines])


def _kinds(cell: ComparedCell) -> Kinds:
    return cell.host_kind, cell.other_host_kind


class ComparedEnd(Frozen):
    """What is compared, and what else could be."""

    subject: Subject
    pool: str | None = Field(description="null: on every host kind that both ends have")
    cpu_model: str | None
    run_id: str | None = Field(description="null: in the runs that compare the two best")
    case_id: str | None = Field(description="null: in every case that both ends have")
    host_kinds: list[HostKind] = Field(description="those that measured the subject, the last one first")
    runs: list[RunChoice] = Field(description="those that measured the subject, the last ones first")
    cases: list[CaseChoice] = Field(description="those that the subject was measured in")


class Comparison(Frozen):
    """Two ends, compared in every case that both measured, or in one case each."""

    subjects: list[Subject] = Field(description="all that can be compared, by library, then version order")
    base: ComparedEnd | None = Field(description="null if nothing fits")
    other: ComparedEnd | None = Field(description="its costs are given relative to those of `base`")
    cases: list[CaseView]
    cells: list[ComparedCell] = Field(description="in the order of the matrix, then host kinds")
    differences: list[Difference] = Field(description="the dimensions in which two compared cases differ; else empty")
    lines: list[HistoryLine] = Field(description="of the cells' histories")
    left_out: int = Field(description="cells beyond the limit of one answer")
    relevant: float = Field(description="changes below this share do not count, however certain")
    upgrade: Upgrade | None = Field(
        description="what the changes have in common; null unless two versions of one library are compared, in all "
        "cases and runs, on the same machines"
    )


MOST_CELLS = 2000
"""More are not read in one table."""
MOST_SUBJECTS = 500
"""To choose from: a followed branch has thousands of commits."""


def _both_cases(cell: ComparedCell, cases: Collection[Case]) -> tuple[Case, Case]:
    by_id = {case.case_id: case for case in cases}
    return by_id[cell.case_id], by_id[cell.other_case_id]


def _end(store: SampleStore, end: End | None, measured: Collection[MeasuredSubjectRow]) -> ComparedEnd | None:
    if end is None:
        return None
    name = end.subject.name
    known = {row.host_kind for row in measured if row.subject.name == name}
    runs, cases = store.kept_value(
        ("runs and cases of", name),
        lambda evidence: evidence.of_subjects((name,)),
        lambda: _choices(store.appearances(Selection(Metric.CPU_NS, subjects=(name,), asides=True))),
    )
    return ComparedEnd(
        subject=end.subject,
        pool=end.on.pool,
        cpu_model=end.on.cpu_model,
        run_id=end.run_id,
        case_id=end.case_id,
        host_kinds=[kind for kind in store.host_kinds() if kind in known],
        runs=runs,
        cases=cases,
    )


def _choices(rows: Collection[AppearanceRow]) -> tuple[list[RunChoice], list[CaseChoice]]:
    cases = {row.case.case_id: row.case for row in rows}
    ordered = sorted(cases.values(), key=case_order)
    return run_choices(rows), [CaseChoice(id=case.case_id, title=case.label) for case in ordered]


def comparison(
    store: SampleStore, catalogue: Catalogue, base: AskedEnd, other: AskedEnd, relevant: float = RELEVANT
) -> Comparison:
    """Without subjects, the upgrade measured last. Raises Refusal."""
    measured = store.measured_subjects(Selection(Metric.CPU_NS, asides=True))
    texts = [end.subject for end in (base, other)]
    subjects = {text: version_of(store, catalogue, Metric.CPU_NS, text) for text in texts if text is not None}
    before, after = chosen_ends(measured, *(subjects[text] if text else None for text in texts))
    ends = base.of(before, other), other.of(after, base)
    first, second = ends
    shown = compared_ends(store, (first, second), measured, relevant) if first and second else ComparedEnds()
    chosen = {end.subject.name for end in ends if end}
    newest = sorted(measured, key=lambda row: (row.subject.name in chosen, row.measured_at), reverse=True)
    choices = {row.subject.name for row in newest[:MOST_SUBJECTS]}
    cells, upgrade = shown.cells, None
    if first and second and first.is_upgraded_to(second):
        cells, upgrade = _upgraded(store, catalogue, first, second, shown.cells, relevant)
    return Comparison(
        subjects=subjects_in_order(
            MeasuredSubject(row.subject, row.measured_at) for row in measured if row.subject.name in choices
        ),
        base=_end(store, first, measured),
        other=_end(store, second, measured),
        cases=[CaseView.of(case) for case in shown.cases],
        cells=list(cells[:MOST_CELLS]),
        differences=differences(*_both_cases(shown.cells[0], shown.cases)) if shown.cells else [],
        lines=list(shown.lines),
        left_out=len(cells[MOST_CELLS:]),
        relevant=relevant,
        upgrade=upgrade,
    )


def _upgraded(
    store: SampleStore, catalogue: Catalogue, base: End, other: End, cells: Sequence[ComparedCell], relevant: float
) -> tuple[Sequence[ComparedCell], Upgrade]:
    """The cells with what their servers need, and what they have in common."""

    upgrade = upgrade_of(store, catalogue, base.subject, other.subject, base.on, relevant)
    return with_server_costs(store, step_of(base, other), cells), upgrade
