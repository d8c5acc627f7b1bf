"""A case over the versions of its libraries: the points of each line, and where its level changed."""

from collections.abc import Mapping
from http import HTTPStatus

from fastapi import APIRouter

from kexbench.analysis.estimates import estimate_median
from kexbench.api.dependencies import TheSampleStore
from kexbench.api.models import ChangePoint, Series, SeriesLine, SeriesPoint
from kexbench.api.problems import ProblemError
from kexbench.api.reading import PROBLEMS, CaseId, Libraries, OneCpuModel, OneMetric, OnePool, host_kind
from kexbench.comparison.levels import Changes, changes_of, lines_of
from kexbench.comparison.models import CaseView, Estimate
from kexbench.domain.samples import Metric
from kexbench.store.port import SampleRow, SampleStore, Selection

router = APIRouter(tags=["reading"], responses=PROBLEMS)
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
    """One case over the versions of its libraries, a line for each library and build profile."""
    kind = host_kind(store, pool, cpu_model)
    nowhere = ProblemError(
        HTTPStatus.NOT_FOUND,
        f"no samples of case {case_id} are stored",
        "GET /api/v1/matrix lists the cases that have samples",
    )
    if kind is None:
        raise nowhere
    selection = Selection(metric, kind.pool, kind.cpu_model, tuple(library or ()), case_id)
    rows = store.samples(selection)
    if not rows:
        raise nowhere
    lines = _lines(rows, _changes(store, selection, case_id))
    return Series(case=CaseView.of(rows[0].case), host_kind=kind, metric=metric, lines=lines)


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
            change_points=[ChangePoint(**vars(one)) for one in changes[library, profile].found],
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
