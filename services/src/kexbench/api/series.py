"""A case over the versions of its libraries: the points of each line, and where its level changed."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus

import numpy as np
from fastapi import APIRouter

from kexbench.analysis.changepoints import change_points
from kexbench.analysis.estimates import MIN_COMPARED_INVOCATIONS, estimate_median
from kexbench.api.dependencies import TheStore
from kexbench.api.models import CaseView, ChangePoint, Estimate, Series, SeriesLine, SeriesPoint
from kexbench.api.problems import ProblemError
from kexbench.api.reading import PROBLEMS, CaseId, Libraries, OneCpuModel, OneMetric, OnePool, host_kind
from kexbench.domain.samples import Metric
from kexbench.store.port import SampleRow, Selection

router = APIRouter(tags=["reading"], responses=PROBLEMS)
_ERROR_OF_A_MEDIAN = float(np.sqrt(np.pi / 2))
"""Of normal noise, in standard errors of the mean."""


@router.get("/series", operation_id="series")
def series(
    store: TheStore,
    case_id: CaseId,
    metric: OneMetric = Metric.CPU_NS,
    pool: OnePool = None,
    cpu_model: OneCpuModel = None,
    library: Libraries = None,
) -> Series:
    """One case over the versions of its libraries, a line for each library and build profile."""
    kind = host_kind(store, pool, cpu_model)
    rows = []
    if kind:
        rows = store.samples(Selection(metric, kind.pool, kind.cpu_model, tuple(library or ()), case_id))
    if kind is None or not rows:
        remedy = "GET /api/v1/matrix lists the cases that have samples"
        raise ProblemError(HTTPStatus.NOT_FOUND, f"no samples of case {case_id} are stored", remedy)
    harness = store.harness_versions({row.run_id for row in rows})
    return Series(case=CaseView.of(rows[0].case), host_kind=kind, metric=metric, lines=_lines(rows, harness))


def _lines(rows: list[SampleRow], harness: Mapping[str, int]) -> list[SeriesLine]:
    """Rows arrive in version order, so lines and points keep it."""
    lines: dict[tuple[str, str], dict[str, list[SampleRow]]] = {}
    for row in rows:
        line = lines.setdefault((row.subject.library, row.subject.build_profile), {})
        line.setdefault(row.subject.name, []).append(row)
    return [
        SeriesLine(
            library=library,
            build_profile=profile,
            build_profile_label=next(iter(points.values()))[0].subject.build_profile_label,
            points=[_point(point) for point in points.values()],
            change_points=_change_points(list(points.values()), harness),
        )
        for (library, profile), points in lines.items()
    ]


def _point(rows: list[SampleRow]) -> SeriesPoint:
    newest = max(rows, key=lambda row: row.measured_at)
    medians = [row.median for row in rows]
    return SeriesPoint(
        subject=newest.subject.name,
        version=newest.subject.version,
        version_key=newest.subject.version_key,
        commit=newest.subject.commit,
        run_id=newest.run_id,
        measured_at=newest.measured_at,
        estimate=Estimate(**vars(estimate_median(medians))),
        invocation_medians=medians,
    )


def _change_points(points: Sequence[Sequence[SampleRow]], harness: Mapping[str, int]) -> list[ChangePoint]:
    """None where a value is zero, which has no ratio to anything."""
    medians = [[row.median for row in point] for point in points]
    if min(map(min, medians)) <= 0:
        return []
    errors = [_error(values) for values in medians] if _replicated(medians) else None
    resets = [index for index in range(1, len(points)) if not _alike(points[index - 1], points[index], harness)]
    found = change_points([float(np.median(values)) for values in medians], errors=errors, resets=resets)
    return [ChangePoint(**vars(one)) for one in found]


def _replicated(medians: Sequence[Sequence[float]]) -> bool:
    return all(len(values) >= MIN_COMPARED_INVOCATIONS for values in medians)


def _error(values: Sequence[float]) -> float:
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) * _ERROR_OF_A_MEDIAN


def _alike(first: Sequence[SampleRow], second: Sequence[SampleRow], harness: Mapping[str, int]) -> bool:
    """Whether two points were measured in the same way and, at least in part, on machines alike in every fact."""
    same_way = {harness.get(row.run_id) for row in first} == {harness.get(row.run_id) for row in second}
    return same_way and not {row.host_id for row in first}.isdisjoint(row.host_id for row in second)
