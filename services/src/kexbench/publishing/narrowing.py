"""What a site shows of the API's answers: the chosen libraries, versions and host kinds. It has no pages of runs, and
details of failures may name folders and users of a machine, so both are left out."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from kexbench.answers.cells import Cell, OutcomeView
from kexbench.answers.comparison import ComparedEnd, Comparison
from kexbench.answers.cpus import Cpus
from kexbench.answers.history import CellHistory, HistoryLine
from kexbench.answers.life import Life, LifeCase, life_sentence
from kexbench.answers.matrix import Matrix
from kexbench.answers.overview import LibraryState, Overview
from kexbench.answers.paths_shapes import PathCell, Paths
from kexbench.answers.paths_words import paths_sentence
from kexbench.answers.shapes import CaseChoice
from kexbench.answers.stacks_shapes import Stacks
from kexbench.answers.trends import Trend, Trends
from kexbench.answers.upgrade import Upgrade
from kexbench.answers.waits import waits_of
from kexbench.domain.hosts import HostKind
from kexbench.domain.library_commits import version_text
from kexbench.domain.samples import Metric
from kexbench.domain.subjects import Subject

Pair = tuple[str, str]
"""The unique names of two versions that are compared."""


def narrowed_matrix(matrix: Matrix, subjects: Collection[str]) -> Matrix:
    cells = [_without_details(cell) for cell in matrix.cells if cell.subject in subjects]
    cases, columns = {cell.case_id for cell in cells}, {cell.subject for cell in cells}
    return matrix.model_copy(
        update={
            "cells": cells,
            "cases": [case for case in matrix.cases if case.id in cases],
            "subjects": [subject for subject in matrix.subjects if subject.name in columns],
        }
    )


def shown_libraries(answer: Stacks, subjects: Collection[str]) -> list[str]:
    """Those whose newest version is shown."""
    return [stack.subject.library for stack in answer.stacks if stack.subject.name in subjects]


def without_stacks(answer: Stacks) -> Stacks:
    """Of a machine kind on which no chosen version is the newest."""
    return answer.model_copy(update={"protocols": [], "stacks": [], "columns": [], "workload": None, "sentence": ""})


def narrowed_paths(answer: Paths, names: Collection[str]) -> Paths:
    shown = [subject for subject in answer.subjects if subject.name in names]
    columns = {subject.name for subject in shown}
    cases = [
        case.model_copy(update={"cells": [_bare_path(cell) for cell in case.cells if cell.subject in columns]})
        for case in answer.cases
        if any(cell.run_id and cell.subject in columns for cell in case.cells)
    ]
    return answer.model_copy(update={"subjects": shown, "cases": cases, "sentence": paths_sentence(cases)})


def narrowed_life(answer: Life, names: Collection[str]) -> Life:
    """Changes need both of their ends."""
    columns = [place for place, subject in enumerate(answer.subjects) if subject.name in names]
    shown = {answer.subjects[place].name for place in columns}
    changes = [change for change in answer.changes if {end.subject for end in change.ends} <= shown]
    return answer.model_copy(
        update={
            "subjects": [answer.subjects[place] for place in columns],
            "cases": [_narrowed_case(case, columns, shown) for case in answer.cases],
            "changes": changes,
            "variations": [each for each in answer.variations if each.subject in shown],
            "sentence": life_sentence(changes),
        }
    )


def _narrowed_case(case: LifeCase, columns: Sequence[int], shown: Collection[str]) -> LifeCase:
    def narrowed(cell: Cell | None) -> Cell | None:
        if cell is None or cell.change is None or cell.change.before.subject in shown:
            return cell
        return cell.model_copy(update={"change": None})

    sections = [
        section.model_copy(
            update={
                "lines": [
                    line.model_copy(update={"cells": [narrowed(line.cells[place]) for place in columns]})
                    for line in section.lines
                ]
            }
        )
        for section in case.sections
    ]
    return case.model_copy(update={"sections": sections, "ageing": [case.ageing[place] for place in columns]})


def _bare_path(cell: PathCell) -> PathCell:
    return cell.model_copy(update={"outcome": _bare(cell.outcome)})


def _without_details(cell: Cell) -> Cell:
    return cell.model_copy(update={"outcome": _bare(cell.outcome), "sides_outcome": _bare(cell.sides_outcome)})


def _bare(outcome: OutcomeView | None) -> OutcomeView | None:
    """The reason of a failure stays. Its details quote programs."""
    return outcome and outcome.model_copy(update={"detail": None})


@dataclass(frozen=True)
class Narrowing:
    """What is shown, and so which entries of an answer are."""

    kinds: Sequence[HostKind]
    subjects: Mapping[str, Subject]
    """By unique name."""
    measured: Mapping[Metric, Mapping[str, Sequence[HostKind]]]
    """The host kinds with numbers, by case."""
    pairs: Sequence[Pair]
    """The compared versions."""

    def overview(self, answer: Overview) -> Overview:
        """The newest upgrades, without what the service is doing. The site has no matrix of a spec."""
        libraries = [
            state if self._has_upgrade(state) else state.model_copy(update={"upgrade": None})
            for state in answer.libraries
            if state.newest.subject in self.subjects
        ]
        return Overview(libraries=libraries, under_way=[], waiting=0, specs={}, views=[])

    def _has_upgrade(self, state: LibraryState) -> bool:
        return state.upgrade is not None and self.subjects.keys() >= {
            state.upgrade.before.subject,
            state.upgrade.after.subject,
        }

    def trends(self, answer: Trends, metric: Metric) -> Trends:
        """Lines without a point are left out. Change points between the others are those of the whole lines."""
        names = [subject.name for subject in answer.subjects]
        lines = [
            (line, points)
            for line in answer.lines
            if line.host_kind in self.kinds
            and (points := [place for place, point in enumerate(line.points) if names[point.subject] in self.subjects])
        ]
        used = sorted({line.points[place].subject for line, points in lines for place in points})
        subjects = [answer.subjects[place] for place in used]
        released = {(subject.library, subject.version) for subject in subjects if subject.commit is None}
        cases = {line.case_id for line, _ in lines}
        return answer.model_copy(
            update={
                "choices": self._choices(answer.choices, metric),
                "cases": [case for case in answer.cases if case.id in cases],
                "subjects": subjects,
                "lines": [_trend(line, points, used) for line, points in lines],
                "releases": [each for each in answer.releases if (each.library, each.version) in released],
            }
        )

    def cpus(self, answer: Cpus) -> Cpus:
        measured = self.measured[answer.metric][answer.case.id] if answer.case else ()
        return answer.model_copy(
            update={
                "choices": self._choices(answer.choices, answer.metric),
                "host_kinds": [kind for kind in answer.host_kinds if kind in measured],
                "rows": [
                    row for row in answer.rows if row.host_kind in self.kinds and row.subject.name in self.subjects
                ],
            }
        )

    def _choices(self, choices: Sequence[CaseChoice], metric: Metric) -> list[CaseChoice]:
        return [choice for choice in choices if choice.id in self.measured[metric]]

    def comparison(self, answer: Comparison) -> Comparison:
        """An upgrade may begin with a version that was not chosen: it is shown as well."""
        ends = [end.subject for end in (answer.base, answer.other) if end]
        kept = [self._places(line, ends) for line in answer.lines]
        cells = [
            cell.model_copy(update={"history": tuple(_history(each, kept[each.line]) for each in cell.history)})
            for cell in answer.cells
            if cell.host_kind in self.kinds
        ]
        shown, compared = {cell.case_id for cell in cells}, {name for pair in self.pairs for name in pair}
        return answer.model_copy(
            update={
                "subjects": [subject for subject in answer.subjects if subject.name in compared],
                "base": self._end(answer.base),
                "other": self._end(answer.other),
                "cases": [case for case in answer.cases if case.id in shown],
                "cells": cells,
                "lines": [_line(line, places) for line, places in zip(answer.lines, kept, strict=True)],
                "upgrade": answer.upgrade and self._upgrade(answer.upgrade),
            }
        )

    def _end(self, end: ComparedEnd | None) -> ComparedEnd | None:
        return end and end.model_copy(
            update={"runs": [], "host_kinds": [kind for kind in end.host_kinds if kind in self.kinds]}
        )

    def _upgrade(self, upgrade: Upgrade) -> Upgrade:
        missing = tuple(cell for cell in upgrade.missing if cell.host_kind in self.kinds)
        waits = waits_of([wait for wait in upgrade.waits.cases if wait.host_kind in self.kinds])
        return upgrade.model_copy(update={"missing": missing, "waits": waits})

    def _places(self, line: HistoryLine, ends: Sequence[Subject]) -> list[int]:
        """The shown versions of a line."""
        known = {
            (subject.library, version_text(subject.version, subject.commit), subject.build_profile_label)
            for subject in (*self.subjects.values(), *ends)
        }
        return [
            place
            for place, version in enumerate(line.versions)
            if (line.library, version, line.build_profile_label) in known
        ]


def _trend(line: Trend, points: Sequence[int], subjects: Sequence[int]) -> Trend:
    """With some of its points. `subjects`: the places of the shown ones in the whole answer."""
    return line.model_copy(
        update={
            "points": [
                line.points[place].model_copy(update={"subject": subjects.index(line.points[place].subject)})
                for place in points
            ],
            "change_points": [
                change.model_copy(update={"index": points.index(change.index)})
                for change in line.change_points
                if change.index in points[1:]
            ],
        }
    )


def _history(history: CellHistory, places: Sequence[int]) -> CellHistory:
    return history.model_copy(update={"values": [history.values[place] for place in places]})


def _line(line: HistoryLine, places: Sequence[int]) -> HistoryLine:
    def moved(place: int | None) -> int | None:
        return places.index(place) if place in places else None

    versions = [line.versions[place] for place in places]
    return line.model_copy(update={"versions": versions, "base": moved(line.base), "other": moved(line.other)})
