"""Answers of a published site that its pages put together: one file for each choice of several would be too many.

The pages read these shapes in `frontend/src/published-joins.ts`.
"""

from collections.abc import Collection, Iterable, Sequence

from kexbench.answers.comparison import Comparison
from kexbench.answers.cpus import CpuRow, Cpus, Relation
from kexbench.answers.history import CellHistory, HistoryLine
from kexbench.answers.matrix import Matrix
from kexbench.answers.shapes import CaseChoice, CaseView
from kexbench.answers.trends import Release
from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import HostKind
from kexbench.domain.intervals import Ratio
from kexbench.domain.library_commits import version_text
from kexbench.domain.subjects import Subject

_HISTORY_DIGITS = 4
"""Of a number that is only a point of a small line."""


class MeasuredCases(Frozen):
    """The cases on a host kind whose series are published."""

    host_kind: HostKind
    case_ids: list[str]


class TrendIndex(Frozen):
    """All of an answer of `/trends` except the lines, which are those of the published series."""

    choices: list[CaseChoice]
    subjects: list[Subject]
    releases: list[Release]
    measured: list[MeasuredCases]


class CpuRelation(Frozen):
    """The part of a CpuRow that depends on the CPU to compare with."""

    relation: Relation
    relative: Ratio | None
    cautions: list[str]


class CaseOnCpus(Frozen):
    """The answers of `/cpus` about a case, whatever the CPU to compare with."""

    case: CaseView
    host_kinds: list[HostKind]
    rows: list[CpuRow]
    relations: list[list[CpuRelation]]
    """By host kind to compare with, then row."""


class ComparedPairs(Frozen):
    """The versions whose comparisons are published."""

    subjects: list[Subject]
    pairs: list[tuple[str, str]]
    """Unique names, the last measured pair first."""


def trend_index(matrices: Sequence[Matrix], subjects: Sequence[Subject], releases: list[Release]) -> TrendIndex:
    """`matrices`: of one metric, of each host kind."""
    measured = [
        (matrix, {cell.case_id for cell in matrix.cells if cell.estimate}) for matrix in matrices if matrix.host_kind
    ]
    choices = {
        case.id: CaseChoice(id=case.id, title=case.title)
        for matrix, case_ids in measured
        for case in matrix.cases
        if case.id in case_ids
    }
    return TrendIndex(
        choices=list(choices.values()),
        subjects=list(subjects),
        releases=releases,
        measured=[
            MeasuredCases(
                host_kind=matrix.host_kind, case_ids=[case.id for case in matrix.cases if case.id in case_ids]
            )
            for matrix, case_ids in measured
            if matrix.host_kind
        ],
    )


def covering(matrices: Iterable[Matrix]) -> list[str]:
    """A few cases in which all subjects were measured."""
    by_case: dict[str, set[str]] = {}
    for matrix in matrices:
        for cell in matrix.cells:
            if cell.estimate:
                by_case.setdefault(cell.case_id, set()).add(cell.subject)
    cases: list[str] = []
    missing = set().union(*by_case.values())
    while missing:
        case_id = max(by_case, key=lambda case_id: len(by_case[case_id] & missing))
        cases.append(case_id)
        missing -= by_case[case_id]
    return cases


def case_on_cpus(answers: Sequence[Cpus], kinds: Collection[HostKind], subjects: Collection[str]) -> CaseOnCpus | None:
    """`answers`: of one case, by the CPU to compare with, of the same rows. Only these host kinds and subjects."""
    case = answers[0].case
    if case is None:
        return None
    shown = [
        place
        for place, row in enumerate(answers[0].rows)
        if row.subject.name in subjects and HostKind(pool=row.pool, cpu_model=row.cpu_model) in kinds
    ]
    return CaseOnCpus(
        case=case,
        host_kinds=[answer.base for answer in answers if answer.base],
        rows=[answers[0].rows[place] for place in shown],
        relations=[[_relation(answer.rows[place]) for place in shown] for answer in answers],
    )


def _relation(row: CpuRow) -> CpuRelation:
    return CpuRelation(relation=row.relation, relative=row.relative, cautions=row.cautions)


def published_comparison(
    comparison: Comparison, kinds: Collection[HostKind], subjects: Collection[Subject]
) -> Comparison:
    """On these host kinds, with histories of these subjects. A site has a list of all subjects elsewhere, and no runs
    to choose from."""
    ends = [
        end and end.model_copy(update={"runs": [], "host_kinds": [kind for kind in end.host_kinds if kind in kinds]})
        for end in (comparison.base, comparison.other)
    ]
    known = {(view.library, version_text(view.version, view.commit), view.build_profile_label) for view in subjects}
    kept = [
        [
            place
            for place, version in enumerate(line.versions)
            if (line.library, version, line.build_profile_label) in known
        ]
        for line in comparison.lines
    ]
    cells = [
        cell.model_copy(
            update={"history": tuple(_history(history, kept[history.line]) for history in cell.history)},
        )
        for cell in comparison.cells
        if HostKind(cell.pool, cell.cpu_model) in kinds
    ]
    shown = {cell.case_id for cell in cells}
    return comparison.model_copy(
        update={
            "subjects": [],
            "base": ends[0],
            "other": ends[1],
            "cases": [case for case in comparison.cases if case.id in shown],
            "cells": cells,
            "lines": [_line(line, places) for line, places in zip(comparison.lines, kept, strict=True)],
        }
    )


def _history(history: CellHistory, places: Sequence[int]) -> CellHistory:
    values = [history.values[place] for place in places]
    rounded = [value and float(f"{value:.{_HISTORY_DIGITS}g}") for value in values]
    return history.model_copy(update={"values": rounded})


def _line(line: HistoryLine, places: Sequence[int]) -> HistoryLine:
    def moved(place: int | None) -> int | None:
        return places.index(place) if place in places else None

    versions = [line.versions[place] for place in places]
    return line.model_copy(update={"versions": versions, "base": moved(line.base), "other": moved(line.other)})
