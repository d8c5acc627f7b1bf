"""Cases over the versions of their libraries, the batches behind a number, and all handshakes of one version by their
strength."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from http import HTTPStatus
from typing import Annotated

from fastapi import Query

from kexbench.answers.batches import batches_of_cell
from kexbench.answers.cpus import cpu_rows
from kexbench.answers.numbers import host_kinds as kinds_of
from kexbench.answers.security import handshakes_of, model_views
from kexbench.answers.shapes import CaseView, Estimate, SubjectView
from kexbench.answers.subjects import MeasuredSubject, cases_in_order, subject_view, subjects_in_order
from kexbench.answers.trends import Point, TrendLine, trend_lines
from kexbench.api.answers import KeptRoute
from kexbench.api.dependencies import TheCatalogue, TheSampleStore, TheStore
from kexbench.api.gate import api_router
from kexbench.api.machine_models import SecurityView
from kexbench.api.models import (
    CaseChoice,
    Cpus,
    Distribution,
    HostKind,
    Release,
    Series,
    SeriesLine,
    SeriesPoint,
    Trend,
    TrendPoint,
    Trends,
)
from kexbench.api.problems import ProblemError
from kexbench.api.reading import PROBLEMS, CaseId, Libraries, OneCpuModel, OneMetric, OnePool, host_kind, run_choices
from kexbench.domain.hosts import meant_by
from kexbench.domain.samples import Metric
from kexbench.domain.security import SecurityModel
from kexbench.domain.upgrades import SIDES, Side
from kexbench.planning.catalogue import tracked
from kexbench.planning.spec import Catalogue
from kexbench.store.port import HostKindRow, Selection

router = api_router(route_class=KeptRoute, tags=["reading"], responses=PROBLEMS)
MOST_LINES = 400
"""More are not read in one chart."""


@router.get("/series", operation_id="series")
def series(
    store: TheSampleStore,
    case_id: CaseId,
    metric: OneMetric = Metric.CPU_NS,
    pool: OnePool = None,
    cpu_model: OneCpuModel = None,
    library: Libraries = None,
) -> Series:
    """One case over the versions of its libraries, with a series for each library and build profile."""
    kind = host_kind(store, pool, cpu_model)
    no_samples = ProblemError(
        HTTPStatus.NOT_FOUND,
        f"no samples of case {case_id} are stored",
        "the matrix lists the cases that have samples",
    )
    if kind is None:
        raise no_samples
    lines = trend_lines(store, [Selection(metric, kind.pool, kind.cpu_model, tuple(library or ()))], [case_id])
    if not lines:
        raise no_samples
    return Series(case=CaseView.of(lines[0].case), host_kind=kind, metric=metric, lines=list(map(_series_line, lines)))


@router.get("/trends", operation_id="trends")
def trends(
    store: TheSampleStore,
    catalogue: TheCatalogue,
    case_id: Annotated[list[str] | None, Query(max_length=300, description="default: the first case")] = None,
    metric: Annotated[list[Metric] | None, Query(max_length=6, description="default: CPU time of both sides")] = None,
    pool: Annotated[list[str] | None, Query(description="only these pools", max_length=50)] = None,
    cpu_model: Annotated[list[str] | None, Query(description="only these CPU models", max_length=50)] = None,
    library: Libraries = None,
) -> Trends:
    """Any number of series over versions, on all matching host kinds. Numbers of different host kinds are not compared
    with each other."""
    kinds = [
        kind
        for kind in store.host_kinds()
        if (not pool or kind.pool in pool)
        and (not cpu_model or any(kind.cpu_model in meant_by(text, [kind.cpu_model]) for text in cpu_model))
    ]
    metrics = list(dict.fromkeys(metric or [Metric.CPU_NS]))
    choices = cases_in_order(store.measured_cases(Selection(metrics[0], libraries=tuple(library or ()))))
    chosen = case_id or [case.case_id for case in choices[:1]]
    selections = [Selection(one, kind.pool, kind.cpu_model, tuple(library or ())) for one in metrics for kind in kinds]
    lines = trend_lines(store, selections, set(chosen)) if chosen else []
    shown = lines[:MOST_LINES]
    subjects = subjects_in_order(
        MeasuredSubject(point.subject, point.measured_at) for line in shown for point in line.points
    )
    places = {subject.subject: place for place, subject in enumerate(subjects)}
    return Trends(
        choices=[CaseChoice(id=case.case_id, title=case.label) for case in choices],
        cases=[CaseView.of(case) for case in cases_in_order(shown)],
        subjects=subjects,
        lines=[_trend(line, places) for line in shown],
        left_out=len(lines) - len(shown),
        releases=_releases(catalogue, subjects),
    )


@router.get("/cpus", operation_id="cpus")
def cpus(
    store: TheStore,
    case_id: Annotated[str | None, Query(max_length=200, description="default: the first case")] = None,
    metric: OneMetric = Metric.CPU_NS,
    library: Libraries = None,
    pool: Annotated[str | None, Query(description="of the CPU to compare with", max_length=200)] = None,
    cpu_model: Annotated[
        str | None, Query(description="the CPU to compare with; default: the one measured last", max_length=200)
    ] = None,
) -> Cpus:
    """One case on all CPUs and pools, with the newest version of each library. Costs of different machines get a ratio
    with its interval, and no verdict."""
    measured = store.measured_cases(Selection(metric, libraries=tuple(library or ())))
    cases = cases_in_order(measured)
    case = next((case for case in cases if case_id in (None, case.case_id)), None)
    if case is None and case_id is not None:
        raise ProblemError(HTTPStatus.NOT_FOUND, f"no samples of case {case_id} are stored", "choose another case")
    kinds = next((row.host_kinds for row in measured if row.case == case), ())
    base = next((kind for kind in kinds if pool in (None, kind.pool) and cpu_model in (None, kind.cpu_model)), None)
    return Cpus(
        choices=[CaseChoice(id=case.case_id, title=case.label) for case in cases],
        case=CaseView.of(case) if case else None,
        metric=metric,
        base=HostKind(**vars(base)) if base else None,
        host_kinds=[HostKind(**vars(kind)) for kind in kinds],
        rows=cpu_rows(store, metric, case.case_id, tuple(library or ()), base) if case and base else [],
    )


@router.get("/distribution", operation_id="distribution")
def distribution(
    store: TheSampleStore,
    subject: Annotated[str, Query(min_length=1, max_length=500, description="unique name")],
    case_id: CaseId,
    metric: OneMetric = Metric.CPU_NS,
    pool: OnePool = None,
    cpu_model: OneCpuModel = None,
    run_id: Annotated[str | None, Query(max_length=100, description="default: the newest run")] = None,
) -> Distribution:
    """The batches behind one number by invocation, with their quantiles. Batches that another program interrupted have
    no value in most metrics."""
    cell = store.kept_value(
        ("distribution", metric, subject, case_id, pool, cpu_model, run_id),
        lambda evidence: evidence.of_case(case_id),
        lambda: batches_of_cell(store, metric, subject, case_id, (pool, cpu_model), run_id),
    )
    if cell is None:
        where = ", ".join(filter(None, (pool, cpu_model, run_id))) or "any machine"
        detail = f"there are no batches of {subject} in case {case_id} on {where}"
        raise ProblemError(HTTPStatus.NOT_FOUND, detail, "the matrix lists the results")
    here = [row for row in cell.appearances if HostKindRow(row.pool, row.cpu_model) == cell.kind]
    return Distribution(
        case=CaseView.of(cell.case),
        subject=subject_view(cell.subject),
        metric=metric,
        host_kind=HostKind(**vars(cell.kind)),
        run_id=cell.run_id,
        invocations=list(cell.invocations),
        left_out=cell.left_out,
        removed=cell.removed,
        disturbed=cell.disturbed,
        host_kinds=[HostKind(**vars(kind)) for kind in kinds_of(cell.appearances)],
        runs=run_choices(here),
    )


@router.get("/security", operation_id="security")
def security(
    store: TheSampleStore,
    model: Annotated[SecurityModel, Query(description="the authority that says what is how strong")] = (
        SecurityModel.NIST
    ),
    subject: Annotated[
        str | None, Query(description="unique name of the subject; default: the one measured last", max_length=200)
    ] = None,
    side: Annotated[Side, Query(description="whose CPU time is compared")] = "both",
    pool: OnePool = None,
    cpu_model: OneCpuModel = None,
) -> SecurityView:
    """What equally strong handshakes cost, with and without forward secrecy: full handshakes of one library version on
    one host kind, each from its newest run."""
    kind = host_kind(store, pool, cpu_model)
    here = Selection(SIDES[side], *((kind.pool, kind.cpu_model) if kind else ()))
    measured = [row for row in store.measured_subjects(here) if kind]
    newest = max(measured, key=lambda row: row.measured_at, default=None)
    if subject is not None and subject not in {row.subject.name for row in measured}:
        detail = f"nothing of subject {subject} was measured here"
        raise ProblemError(HTTPStatus.NOT_FOUND, detail, "choose one of the answer without a subject")
    chosen = subject or (newest.subject.name if newest else None)
    shown = replace(here, subjects=(chosen,) if chosen else ())
    levels, unranked = store.kept_value(
        ("handshakes", shown, model),
        lambda evidence: evidence.of_subjects(shown.subjects),
        lambda: handshakes_of(store.samples(shown) if kind and chosen else [], model),
    )
    return SecurityView(
        model=next(view for view in model_views() if view.model is model),
        models=model_views(),
        side=side,
        host_kind=kind,
        subject=chosen,
        subjects=[subject_view(row.subject) for row in measured],
        levels=levels,
        unranked=unranked,
    )


def _series_line(line: TrendLine) -> SeriesLine:
    subject = line.points[0].subject
    return SeriesLine(
        library=subject.library,
        build_profile=subject.build_profile,
        build_profile_label=subject.build_profile_label,
        points=list(map(_point, line.points)),
        change_points=list(line.change_points),
        through_sentinel=line.through_sentinel,
    )


def _point(point: Point) -> SeriesPoint:
    return SeriesPoint(
        subject=point.subject.name,
        version=point.subject.version,
        version_key=point.subject.version_key,
        commit=point.subject.commit,
        run_id=point.run_id,
        measured_at=point.measured_at,
        estimate=Estimate(**vars(point.estimate)),
        invocation_levels=list(point.levels),
    )


def _trend(line: TrendLine, places: Mapping[str, int]) -> Trend:
    return Trend(
        case_id=line.case.case_id,
        host_kind=HostKind(**vars(line.kind)),
        metric=line.metric,
        library=line.points[0].subject.library,
        build_profile_label=line.points[0].subject.build_profile_label,
        points=[_trend_point(places[point.subject.name], point) for point in line.points],
        change_points=list(line.change_points),
        through_sentinel=line.through_sentinel,
    )


def _trend_point(place: int, point: Point) -> TrendPoint:
    return TrendPoint(subject=place, run_id=point.run_id, measured_at=point.measured_at, **vars(point.estimate))


def _releases(catalogue: Catalogue, subjects: Sequence[SubjectView]) -> list[Release]:
    """The catalogue's entries for the versions of some subjects."""
    measured = [(subject.library, subject.version) for subject in subjects if subject.commit is None]
    return [
        Release(library=library, version=version, released=entry.released, security=list(entry.security))
        for library, version in dict.fromkeys(measured)
        for name, entry in tracked(catalogue)
        if name == library and entry.version == version
    ]
