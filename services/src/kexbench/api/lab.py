"""What is known of the machines and the measuring itself: scaling curves and qualifications."""

from collections import defaultdict
from collections.abc import Collection
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, cast

from fastapi import APIRouter, Query, Request
from pydantic import ValidationError

from kexbench.analysis.detectable import ALPHA, POWER
from kexbench.analysis.estimates import estimate_median
from kexbench.analysis.qualification import qualify_case
from kexbench.analysis.scaling import Coefficient, Efficiency, efficiencies, fit_scaling
from kexbench.api.dependencies import TheSampleStore, TheStore
from kexbench.api.lab_models import (
    CoefficientView,
    QualificationRow,
    Qualifications,
    Scaling,
    ScalingCase,
    ScalingLine,
    ScalingPoint,
)
from kexbench.api.models import HostKind, Problem
from kexbench.api.problems import ProblemError
from kexbench.api.reading import PROBLEMS, Libraries, OneCpuModel, OnePool, host_kind
from kexbench.comparison.mixed import mixed_pool
from kexbench.comparison.models import CaseView, Estimate
from kexbench.comparison.order import subjects_in_order
from kexbench.comparison.qualifying import Qualifying, qualifying
from kexbench.domain.cases import Case
from kexbench.domain.samples import Metric
from kexbench.domain.scorecard import Scorecard
from kexbench.store.port import HostKindRow, SampleStore, Selection

router = APIRouter(tags=["reading"], responses=PROBLEMS)
GROUP = 10
"""Invocations of a usual comparison, which a qualification speaks of unless asked otherwise."""
BOOTSTRAPS = 100
"""Enough for an interval on a page, in a tenth of a second a curve."""


@router.get("/scaling", operation_id="scaling")
def scaling(
    store: TheSampleStore, pool: OnePool = None, cpu_model: OneCpuModel = None, library: Libraries = None
) -> Scaling:
    """Throughput over thread counts, for every case and subject that has more than one."""
    kind = host_kind(store, pool, cpu_model)
    if kind is None:
        return Scaling(host_kind=None, subjects=[], cases=[])
    rows = store.samples(Selection(Metric.ELAPSED_NS, kind.pool, kind.cpu_model, tuple(library or ())))
    curves: dict[Case, dict[str, dict[int, list[float]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for row in rows:
        curve = curves[row.case.model_copy(update={"threads": 1})][row.subject.name]
        curve[row.case.threads].append(1e9 / row.level)
    found = [
        ScalingCase(
            case=CaseView.of(case), lines=[_line(name, rates) for name, rates in lines.items() if len(rates) > 1]
        )
        for case, lines in curves.items()
        if any(len(rates) > 1 for rates in lines.values())
    ]
    shown = {line.subject for case in found for line in case.lines}
    subjects = [view for view in subjects_in_order(rows) if view.subject in shown]
    return Scaling(host_kind=kind, subjects=subjects, cases=found)


@router.get("/qualifications", operation_id="qualifications")
def qualifications(
    store: TheStore,
    pool: OnePool = None,
    cpu_model: OneCpuModel = None,
    invocations: Annotated[int, Query(ge=3, le=1000, description="of the comparisons to come")] = GROUP,
) -> Qualifications:
    """What the newest A/A run of each case proved on a host kind: a kit beside itself, and relinks of one source."""
    kind = host_kind(store, pool, cpu_model)
    found = qualified(store, kind, invocations) if kind else []
    mixed = mixed_pool(kind.pool, store.nodes(kind.pool).items()) if kind else None
    return Qualifications(host_kind=kind, mixed_pool=mixed, alpha=ALPHA, power=POWER, rows=found)


def qualified(
    store: SampleStore, kind: HostKind, invocations: int, libraries: Collection[str] = ()
) -> list[QualificationRow]:
    """One row a library and case, of some libraries or of all, for comparisons of so many invocations."""
    rows: dict[tuple[str, str], QualificationRow] = {}
    for found in qualifying(store, HostKindRow(kind.pool, kind.cpu_model), libraries):
        if found.place not in rows and (row := _row(found, invocations)):
            rows[found.place] = row
    return list(rows.values())


def _line(subject: str, rates: dict[int, list[float]]) -> ScalingLine:
    fit, by_threads = fit_scaling(rates, bootstraps=BOOTSTRAPS), efficiencies(rates)
    return ScalingLine(
        subject=subject,
        points=[
            ScalingPoint(
                threads=threads,
                rate=Estimate(**vars(estimate_median(values))),
                efficiency=_coefficient(by_threads.get(threads)),
            )
            for threads, values in sorted(rates.items())
        ],
        contention=_coefficient(fit.contention) if fit else None,
        coherency=_coefficient(fit.coherency) if fit else None,
        peak_threads=fit.peak_threads if fit else None,
    )


def _coefficient(found: Coefficient | Efficiency | None) -> CoefficientView | None:
    return CoefficientView(**vars(found)) if found else None


def _row(found: Qualifying, group: int) -> QualificationRow | None:
    newest = found.newest
    judged = qualify_case(newest.case.case_id, found.same, found.relinked, group=group, seed=0)
    if judged is None:
        return None
    wrong = judged.false_positives
    return QualificationRow(
        library=newest.subject.library,
        case=CaseView.of(newest.case),
        run_id=newest.run_id,
        measured_at=newest.measured_at,
        invocations=judged.invocations,
        cv=judged.cv,
        pair_sd=judged.pair_sd,
        group=judged.group,
        smallest_detectable_change=judged.smallest_detectable_change,
        false_positive_rate=wrong.rate if wrong else None,
        false_positive_low=wrong.low if wrong else None,
        false_positive_high=wrong.high if wrong else None,
        relinks=judged.relinks,
        layout_floor=judged.layout_floor,
        cannot_resolve_below=judged.cannot_resolve_below,
    )


_REMEDY = "make scorecard, in a checkout, measures and writes one; KEXBENCH_SCORECARD says where it is"


@router.get(
    "/scorecard",
    operation_id="scorecard",
    responses={500: {"model": Problem, "description": "What stands in the file is no scorecard"}},
)
def scorecard(request: Request) -> Scorecard:
    """How good detection is beside the methods of others, as it was measured last."""
    path = cast(Path | None, request.app.state.scorecard)
    if path is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, "this service has no scorecard", _REMEDY)
    try:
        return Scorecard.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise ProblemError(HTTPStatus.NOT_FOUND, f"there is no scorecard at {path}", _REMEDY) from None
    except (OSError, ValidationError) as error:
        detail = f"{path} is no scorecard of this version: {_first(error)}"
        raise ProblemError(HTTPStatus.INTERNAL_SERVER_ERROR, detail, _REMEDY) from None


def _first(error: OSError | ValidationError) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error)
    fault = error.errors()[0]
    return f"{fault['msg']} at {'.'.join(map(str, fault['loc'])) or 'its beginning'}"
