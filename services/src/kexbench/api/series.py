"""One case over the versions of its libraries, and all handshakes of one version by their strength."""

from collections.abc import Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query

from kexbench.analysis.estimates import estimate_median
from kexbench.api.dependencies import KeptRoute, TheSampleStore
from kexbench.api.machine_models import SecurityView
from kexbench.api.models import ChangePoint, HostKind, Series, SeriesLine, SeriesPoint
from kexbench.api.problems import ProblemError
from kexbench.api.reading import PROBLEMS, CaseId, Libraries, OneCpuModel, OneMetric, OnePool, host_kind
from kexbench.comparison.levels import Changes, changes_of, lines_of
from kexbench.comparison.models import CaseView, Estimate
from kexbench.comparison.order import subject_view
from kexbench.comparison.security import handshakes_of, model_views
from kexbench.domain.samples import Metric
from kexbench.domain.security import SecurityModel
from kexbench.domain.upgrades import SIDES, Side
from kexbench.store.port import SampleRow, SampleStore, Selection

router = APIRouter(route_class=KeptRoute, tags=["reading"], responses=PROBLEMS)
_Line = tuple[str, str]
"""A library and a build profile."""


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
    selection = Selection(metric, kind.pool, kind.cpu_model, tuple(library or ()), (case_id,))
    found = store.kept_value(
        ("series", selection),
        lambda evidence: evidence.of_case(case_id),
        lambda: _series(store, selection, case_id, kind),
    )
    if found is None:
        raise no_samples
    return found


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
    rows = store.samples(replace(here, subjects=(chosen,))) if kind and chosen else []
    levels, unranked = handshakes_of(rows, model)
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


def _series(store: SampleStore, selection: Selection, case_id: str, kind: HostKind) -> Series | None:
    rows = store.samples(selection)
    if not rows:
        return None
    lines = _lines(rows, _changes(store, selection, case_id))
    return Series(case=CaseView.of(rows[0].case), host_kind=kind, metric=selection.metric, lines=lines)


def _changes(store: SampleStore, selection: Selection, case_id: str) -> dict[_Line, Changes]:
    levels = store.levels(selection, [case_id])
    harness = store.harness_versions({row.run_id for row in levels})
    lines = lines_of(levels)
    return {(line[0].subject.library, line[0].subject.build_profile): changes_of(line, harness) for line in lines}


def _lines(rows: list[SampleRow], changes: Mapping[_Line, Changes]) -> list[SeriesLine]:
    """Rows arrive in version order, so lines and points keep it."""
    lines: dict[_Line, dict[str, list[SampleRow]]] = {}
    for row in rows:
        line = lines.setdefault((row.subject.library, row.subject.build_profile), {})
        line.setdefault(row.subject.name, []).append(row)
    return [
        SeriesLine(
            library=library,
            build_profile=profile,
            build_profile_label=next(iter(points.values()))[0].subject.build_profile_label,
            points=[_point(point) for point in points.values()],
            change_points=[ChangePoint(**vars(point)) for point in changes[library, profile].change_points],
            through_sentinel=changes[library, profile].through_sentinel,
        )
        for (library, profile), points in lines.items()
    ]


def _point(rows: list[SampleRow]) -> SeriesPoint:
    newest = max(rows, key=lambda row: row.measured_at)
    levels = [row.level for row in rows]
    return SeriesPoint(
        subject=newest.subject.name,
        version=newest.subject.version,
        version_key=newest.subject.version_key,
        commit=newest.subject.commit,
        run_id=newest.run_id,
        measured_at=newest.measured_at,
        estimate=Estimate(**vars(estimate_median(levels))),
        invocation_levels=levels,
    )
