"""Trends: the costs of cases over the versions of their libraries, with the changes of their level."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import NamedTuple

from pydantic import Field

from kexbench.analysis.changepoints import ChangePoint as Found
from kexbench.analysis.estimates import estimate_median
from kexbench.answers.judging import JudgedCells, judged_steps
from kexbench.answers.levels import Changes, changes_of, lines_of
from kexbench.answers.numbers import Step
from kexbench.answers.shapes import CaseChoice, CaseView
from kexbench.answers.subjects import (
    MeasuredSubject,
    cases_in_order,
    cell_order,
    end_of,
    subjects_in_order,
)
from kexbench.domain.cases import Case
from kexbench.domain.frozen import Frozen
from kexbench.domain.hosts import HostKind, meant_by
from kexbench.domain.intervals import Estimate, Ratio
from kexbench.domain.kits import Library
from kexbench.domain.samples import Metric
from kexbench.domain.subjects import Subject
from kexbench.domain.upgrades import NOT_JUDGED, CellVerdict, UpgradeEnd
from kexbench.planning.catalogue import tracked
from kexbench.planning.spec import Catalogue
from kexbench.store.port import SampleRow, SampleStore, Selection


class ChangePoint(Frozen):
    """A lasting change of the level of a series, with the change in cost between the two versions next to it."""

    index: int = Field(description="of the first point after the change")
    before: UpgradeEnd = Field(
        description="the last version before the change; of the same build profile, since a series has only one"
    )
    after: UpgradeEnd = Field(description="the first version after the change")
    move: Ratio | None = Field(description="the cost of `after` relative to `before`; null if the two are not compared")
    verdict: CellVerdict | None = Field(description="verdict of the upgrade; null if the two share no case")
    z: float = Field(description="the change of the level in standard errors")


class Point(NamedTuple):
    """A version of a line."""

    subject: Subject
    """With its last measured kit."""
    run_id: str
    measured_at: datetime
    levels: tuple[float, ...]
    """The cost of each invocation."""
    estimate: Estimate

    @classmethod
    def of(cls, rows: Sequence[SampleRow]) -> "Point":
        newest, levels = max(rows, key=lambda row: row.measured_at), tuple(row.level for row in rows)
        return cls(newest.subject, newest.run_id, newest.measured_at, levels, estimate_median(levels))


@dataclass(frozen=True)
class TrendLine:
    """A case on a host kind, of one library and build profile, in one metric."""

    case: Case
    kind: HostKind
    metric: Metric
    points: tuple[Point, ...]
    """In version order."""
    change_points: tuple[ChangePoint, ...]
    through_sentinel: bool


@dataclass(frozen=True)
class _Line:
    """A line whose change points have no sizes yet."""

    case: Case
    kind: HostKind
    points: tuple[Point, ...]
    changes: Changes

    def step_to(self, index: int) -> Step:
        """The two versions next to a change point. Other builds of versions in between are not in the line."""
        before, after = self.points[index - 1 : index + 1]
        return before.subject.name, after.subject.name


@dataclass(frozen=True)
class _LinesKey:
    """What the lines of a case are kept by."""

    selection: Selection
    case_id: str


def trend_lines(store: SampleStore, selections: Iterable[Selection], case_ids: Collection[str]) -> list[TrendLine]:
    """The lines of some host kinds and metrics, in the order of the selections, then of the rows in the store.

    A change point is found in the whole series, but its size is that of the two versions next to it, which have
    one build profile: the average of longer stretches would differ from the step between two versions.
    """
    by_metric: dict[Metric, list[_Line]] = defaultdict(list)
    for selection in selections:
        by_metric[selection.metric] += _lines(store, selection, case_ids)
    trends = []
    for metric, lines in by_metric.items():
        steps = {line.step_to(point.index) for line in lines for point in line.changes.change_points}
        judged = judged_steps(store, steps, metrics={"both": metric})
        trends += [_trend(line, metric, judged) for line in lines]
    return trends


def _lines(store: SampleStore, selection: Selection, case_ids: Collection[str]) -> list[_Line]:
    """In the order of the rows in the store. Those of a case are kept as long as its results on the host kind are the
    same."""

    def compute(keys: Sequence[_LinesKey]) -> dict[_LinesKey, list[_Line]]:
        lines: dict[_LinesKey, list[_Line]] = {key: [] for key in keys}
        for line in _lines_anew(store, replace(selection, case_ids=tuple(sorted(key.case_id for key in keys)))):
            lines[_LinesKey(selection, line.case.case_id)].append(line)
        return lines

    kept = store.kept(
        [_LinesKey(selection, case_id) for case_id in case_ids],
        lambda evidence, key: evidence.of_case_on(key.case_id, selection.pool or "", selection.cpu_model or ""),
        compute,
    )
    return sorted(
        (line for lines in kept.values() for line in lines),
        key=lambda line: cell_order(line.points[0].subject, line.case),
    )


def _lines_anew(store: SampleStore, selection: Selection) -> list[_Line]:
    rows = store.samples(selection)
    if not rows:
        return []
    levels = store.levels(selection, selection.case_ids)
    harness = store.harness_versions({row.run_id for row in levels})
    changes = {
        (line[0].case_id, line[0].subject.library, line[0].subject.build_profile): changes_of(line, harness)
        for line in lines_of(levels)
    }
    by_line: dict[tuple[str, str, str], dict[str, list[SampleRow]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:  # rows arrive in version order, so lines and points keep it
        by_line[row.case.case_id, row.subject.library, row.subject.build_profile][row.subject.name].append(row)
    kind = HostKind(selection.pool or "", selection.cpu_model or "")
    return [
        _Line(next(iter(points.values()))[0].case, kind, tuple(map(Point.of, points.values())), changes[key])
        for key, points in by_line.items()
    ]


def _trend(line: _Line, metric: Metric, judged: Mapping[Step, JudgedCells]) -> TrendLine:
    return TrendLine(
        case=line.case,
        kind=line.kind,
        metric=metric,
        points=line.points,
        change_points=tuple(
            _sized(point, line, judged[line.step_to(point.index)]) for point in line.changes.change_points
        ),
        through_sentinel=line.changes.through_sentinel,
    )


def _sized(point: Found, line: _Line, judged: JudgedCells) -> ChangePoint:
    cell = judged.of(line.case.case_id, line.kind)
    verdict = cell[1].verdict if cell else None
    move = cell[1].move if cell and verdict not in NOT_JUDGED else None
    return ChangePoint(
        index=point.index,
        z=point.z,
        before=end_of(line.points[point.index - 1].subject),
        after=end_of(line.points[point.index].subject),
        move=move,
        verdict=verdict,
    )


class TrendPoint(Estimate):
    """A version of a trend. Trends have many points, so names are short and nothing is repeated."""

    subject: int = Field(description="place in the answer's subjects")
    run_id: str
    measured_at: datetime
    levels: tuple[float, ...] | None = Field(
        None, description="the cost of a handshake in each invocation, over all its batches, if asked for"
    )


class Trend(Frozen):
    """A series: case x pool x library x build profile x metric over versions."""

    case_id: str
    host_kind: HostKind
    metric: Metric
    library: str
    build_profile_label: str
    points: list[TrendPoint] = Field(description="in version order")
    change_points: list[ChangePoint]
    through_sentinel: bool = Field(
        description="changes were searched for in costs relative to the sentinel, which excludes changes of the machine"
    )


class Release(Frozen):
    """A tracked version of a library, as the catalogue describes it."""

    library: Library
    version: str
    released: date | None
    security: list[str] = Field(description="security fixes")


class Trends(Frozen):
    """Any number of series."""

    choices: list[CaseChoice] = Field(description="all cases that have a trend, in the order of the matrix")
    cases: list[CaseView]
    subjects: list[Subject] = Field(description="by library, then version order")
    lines: list[Trend]
    left_out: int = Field(description="series beyond the limit of one answer")
    releases: list[Release] = Field(description="of the subjects, in version order")


MOST_LINES = 400
"""More are not read in one chart."""


def _shown(line: TrendLine, places: Mapping[str, int], *, with_levels: bool) -> Trend:
    return Trend(
        case_id=line.case.case_id,
        host_kind=line.kind,
        metric=line.metric,
        library=line.points[0].subject.library,
        build_profile_label=line.points[0].subject.build_profile_label,
        points=[
            TrendPoint(
                **vars(point.estimate),
                subject=places[point.subject.name],
                run_id=point.run_id,
                measured_at=point.measured_at,
                levels=point.levels if with_levels else None,
            )
            for point in line.points
        ],
        change_points=list(line.change_points),
        through_sentinel=line.through_sentinel,
    )


def _releases(catalogue: Catalogue, subjects: Sequence[Subject]) -> list[Release]:
    """The catalogue's entries for the versions of some subjects."""
    measured = [(subject.library, subject.version) for subject in subjects if subject.commit is None]
    return [
        Release(library=library, version=version, released=entry.released, security=list(entry.security))
        for library, version in dict.fromkeys(measured)
        for name, entry in tracked(catalogue)
        if name == library and entry.version == version
    ]


def trends(
    store: SampleStore,
    catalogue: Catalogue,
    case_ids: Sequence[str] = (),
    metrics: Sequence[Metric] = (),
    pools: Sequence[str] = (),
    cpu_models: Sequence[str] = (),
    libraries: Sequence[str] = (),
    *,
    with_levels: bool = False,
) -> Trends:
    """Any number of cases and metrics on all host kinds that fit; without cases, the first one."""
    kinds = [
        kind
        for kind in store.host_kinds()
        if (not pools or kind.pool in pools)
        and (not cpu_models or any(kind.cpu_model in meant_by(text, [kind.cpu_model]) for text in cpu_models))
    ]
    wanted = list(dict.fromkeys(metrics or [Metric.CPU_NS]))
    choices = cases_in_order(store.measured_cases(Selection(wanted[0], libraries=tuple(libraries))))
    chosen = case_ids or [case.case_id for case in choices[:1]]
    selections = [Selection(one, kind.pool, kind.cpu_model, tuple(libraries)) for one in wanted for kind in kinds]
    lines = trend_lines(store, selections, set(chosen)) if chosen else []
    shown = lines[:MOST_LINES]
    subjects = subjects_in_order(
        MeasuredSubject(point.subject, point.measured_at) for line in shown for point in line.points
    )
    places = {subject.name: place for place, subject in enumerate(subjects)}
    return Trends(
        choices=[CaseChoice(id=case.case_id, title=case.label) for case in choices],
        cases=[CaseView.of(case) for case in cases_in_order(shown)],
        subjects=subjects,
        lines=[_shown(line, places, with_levels=with_levels) for line in shown],
        left_out=len(lines) - len(shown),
        releases=_releases(catalogue, subjects),
    )
