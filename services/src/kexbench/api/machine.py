"""Facts about machines and the measurement itself: scaling curves, qualifications and the scorecard."""

from collections import defaultdict
from collections.abc import Collection
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, cast

from fastapi import Query, Request
from pydantic import ValidationError

from kexbench.analysis.detectable import ALPHA, POWER
from kexbench.analysis.estimates import estimate_median
from kexbench.analysis.qualification import qualify_case
from kexbench.analysis.scaling import Coefficient, Efficiency, Together, efficiency, fit_scaling, relative_rates
from kexbench.api.dependencies import TheSampleStore, TheStore
from kexbench.api.gate import api_router
from kexbench.api.machine_models import (
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
from kexbench.comparison.loads import METRICS, load_cases
from kexbench.comparison.mixed import mixed_pool
from kexbench.comparison.models import CaseView, Estimate
from kexbench.comparison.order import subjects_in_order
from kexbench.comparison.qualifying import Qualifying, qualifying
from kexbench.domain.cases import Case
from kexbench.domain.dimensions import ContextUse
from kexbench.domain.samples import Metric
from kexbench.domain.scorecard import Scorecard, from_csv
from kexbench.store.port import HostKindRow, SampleRow, SampleStore, Selection

router = api_router(tags=["reading"], responses=PROBLEMS)
GROUP = 10
"""Invocations of a usual comparison, the default for qualifications."""
BOOTSTRAPS = 100
"""Enough for an interval on a page, in a tenth of a second a curve."""


@router.get("/scaling", operation_id="scaling")
def scaling(
    store: TheSampleStore, pool: OnePool = None, cpu_model: OneCpuModel = None, library: Libraries = None
) -> Scaling:
    """Throughput over thread counts, and that of web servers over connections at once, for all cases and subjects with
    more than one of them."""
    kind = host_kind(store, pool, cpu_model)
    if kind is None:
        return Scaling(host_kind=None, subjects=[], cases=[], loads=[])
    by_metric = {
        metric: store.samples(Selection(metric, kind.pool, kind.cpu_model, tuple(library or ())))
        for metric in (*METRICS, Metric.ALONE_NS)
    }
    rows = by_metric[Metric.ELAPSED_NS]
    alone_rates = {_place(row): 1e9 / row.level for row in by_metric[Metric.ALONE_NS]}
    curves: dict[Case, dict[str, dict[int, list[float]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    bases: _Bases = defaultdict(lambda: defaultdict(dict))
    fewest: dict[Case, Case] = {}
    for row in rows:
        alone, rate = _alone(row.case), 1e9 / row.level
        curves[alone][row.subject.name][row.case.threads].append(rate)
        if alone_rate := alone_rates.get(_place(row)):
            bases[alone, row.subject.name][row.case.threads][f"{row.run_id}/{row.unit}"] = Together(rate, alone_rate)
        fewest[alone] = min(fewest.get(alone, row.case), row.case, key=lambda case: case.threads)
    for alone, lines in curves.items():  # with one thread, sharing a context or not is the same case
        if alone.context is ContextUse.THREAD:
            shared = curves.get(alone.model_copy(update={"context": ContextUse.SHARED}), {})
            for subject, curve in lines.items():
                curve[1].extend(shared.get(subject, {}).get(1, ()))
    cases = [
        ScalingCase(
            case=CaseView.of(fewest[alone]),
            title=alone.label,
            lines=[
                _line(name, rates, bases[alone, name])
                for name, curve in lines.items()
                if len(rates := _measured(curve)) > 1
            ],
        )
        for alone, lines in curves.items()
        if any(len(_measured(curve)) > 1 for curve in lines.values())
    ]
    loads = load_cases(by_metric)
    shown = {line.subject for case in cases for line in case.lines}
    shown |= {line.subject for load in loads for line in load.lines}
    subjects = [view for view in subjects_in_order(rows) if view.subject in shown]
    return Scaling(host_kind=kind, subjects=subjects, cases=cases, loads=loads)


@router.get("/qualifications", operation_id="qualifications")
def qualifications(
    store: TheStore,
    pool: OnePool = None,
    cpu_model: OneCpuModel = None,
    invocations: Annotated[int, Query(ge=3, le=1000, description="invocations of future comparisons")] = GROUP,
) -> Qualifications:
    """Results of the newest A/A run of each case on a host kind: a kit against itself, and relinks of one source."""
    kind = host_kind(store, pool, cpu_model)
    rows = qualified(store, kind, invocations) if kind else []
    mixed = mixed_pool(kind.pool, store.nodes(kind.pool).items()) if kind else None
    return Qualifications(host_kind=kind, mixed_pool=mixed, alpha=ALPHA, power=POWER, rows=rows)


def qualified(
    store: SampleStore, kind: HostKind, invocations: int, libraries: Collection[str] = ()
) -> list[QualificationRow]:
    """One row for each library and case, for comparisons with the given number of invocations."""
    rows: dict[tuple[str, str], QualificationRow] = {}
    for candidate in qualifying(store, HostKindRow(kind.pool, kind.cpu_model), libraries):
        if candidate.place not in rows and (row := _row(candidate, invocations)):
            rows[candidate.place] = row
    return list(rows.values())


_Bases = defaultdict[tuple[Case, str], defaultdict[int, dict[str, Together]]]
"""By case with one thread and subject, then by threads and invocation."""


def _place(row: SampleRow) -> tuple[str, str, Case, str]:
    """Where a row was measured. Rows of two metrics with the same place are of the same batches."""
    return row.run_id, row.unit, row.case, row.subject.name


def _alone(case: Case) -> Case:
    """The case with one thread. It groups a curve; a context for each thread makes no valid case of it."""
    return case.model_copy(update={"threads": 1})


def _measured(curve: dict[int, list[float]]) -> dict[int, list[float]]:
    return {threads: rates for threads, rates in curve.items() if rates}


def _line(subject: str, rates: dict[int, list[float]], bases: dict[int, dict[str, Together]]) -> ScalingLine:
    fit = fit_scaling(relative_rates(bases), bootstraps=BOOTSTRAPS)
    return ScalingLine(
        subject=subject,
        points=[_point(threads, values, bases.get(threads, {})) for threads, values in sorted(rates.items())],
        contention=_coefficient(fit.contention) if fit else None,
        coherency=_coefficient(fit.coherency) if fit else None,
        peak_threads=fit.peak_threads if fit else None,
    )


def _point(threads: int, rates: list[float], invocations: dict[str, Together]) -> ScalingPoint:
    alone_rates = [each.alone_rate for each in invocations.values()]
    return ScalingPoint(
        threads=threads,
        rate=Estimate(**vars(estimate_median(rates))),
        alone=Estimate(**vars(estimate_median(alone_rates))) if alone_rates else None,
        efficiency=_coefficient(efficiency(threads, invocations)),
    )


def _coefficient(estimate: Coefficient | Efficiency | None) -> CoefficientView | None:
    return CoefficientView(**vars(estimate)) if estimate else None


def _row(candidate: Qualifying, group: int) -> QualificationRow | None:
    newest = candidate.newest
    result = qualify_case(newest.case.case_id, candidate.same, candidate.relinked, group=group, seed=0)
    if result is None:
        return None
    false_positives = result.false_positives
    return QualificationRow(
        library=newest.subject.library,
        case=CaseView.of(newest.case),
        run_id=newest.run_id,
        measured_at=newest.measured_at,
        invocations=result.invocations,
        cv=result.cv,
        pair_sd=result.pair_sd,
        group=result.group,
        smallest_detectable_change=result.smallest_detectable_change,
        false_positive_rate=false_positives.rate if false_positives else None,
        false_positive_low=false_positives.low if false_positives else None,
        false_positive_high=false_positives.high if false_positives else None,
        relinks=result.relinks,
        layout_floor=result.layout_floor,
        cannot_resolve_below=result.cannot_resolve_below,
    )


_REMEDY = "run make scorecard in a checkout to create one; KEXBENCH_SCORECARD sets its path"


@router.get(
    "/scorecard",
    operation_id="scorecard",
    responses={500: {"model": Problem, "description": "The file is not a valid scorecard"}},
)
def scorecard(request: Request) -> Scorecard:
    """How well kexbench detects changes, compared with other methods, as last measured."""
    path = cast(Path | None, request.app.state.scorecard)
    if path is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, "this service has no scorecard", _REMEDY)
    try:
        return from_csv(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ProblemError(HTTPStatus.NOT_FOUND, f"there is no scorecard at {path}", _REMEDY) from None
    except (OSError, ValueError) as error:
        detail = f"{path} is not a scorecard of this version: {_first_fault(error)}"
        raise ProblemError(HTTPStatus.INTERNAL_SERVER_ERROR, detail, _REMEDY) from None


def _first_fault(error: OSError | ValueError) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error)
    if not isinstance(error, ValidationError):
        return str(error)
    fault = error.errors()[0]
    return f"{fault['msg']} at {'.'.join(map(str, fault['loc'])) or 'the beginning'}"
