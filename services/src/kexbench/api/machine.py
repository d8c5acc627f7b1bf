"""Facts about machines and the measurement itself: scaling curves, qualifications and the scorecard."""

from collections.abc import Collection
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, cast

from fastapi import APIRouter, Query, Request
from pydantic import ValidationError

from kexbench.analysis.detectable import ALPHA, POWER
from kexbench.analysis.qualification import qualify_case
from kexbench.answers.loads import loads_of
from kexbench.answers.mixed_pools import mixed_pool
from kexbench.answers.qualifications import Qualifying, qualifying
from kexbench.answers.scaling import scaling_cases
from kexbench.answers.shapes import CaseView
from kexbench.answers.subjects import MeasuredSubject, cases_in_order, subjects_in_order
from kexbench.api.answers import KeptRoute
from kexbench.api.dependencies import TheSampleStore, TheStore
from kexbench.api.gate import api_router
from kexbench.api.machine_models import (
    QualificationRow,
    Qualifications,
    Scaling,
)
from kexbench.api.models import HostKind, Problem
from kexbench.api.problems import ProblemError
from kexbench.api.reading import PROBLEMS, Libraries, OneCpuModel, OnePool, host_kind
from kexbench.domain.samples import Metric
from kexbench.domain.scorecard import Scorecard, from_csv
from kexbench.store.evidence import Evidence
from kexbench.store.port import HostKindRow, SampleStore, Selection

router = api_router(tags=["reading"], responses=PROBLEMS)
_kept = APIRouter(route_class=KeptRoute)
GROUP = 10
"""Invocations of a usual comparison, the default for qualifications."""


@_kept.get("/scaling", operation_id="scaling")
def scaling(
    store: TheSampleStore, pool: OnePool = None, cpu_model: OneCpuModel = None, library: Libraries = None
) -> Scaling:
    """Throughput over thread counts, and that of web servers over connections at once, for all cases and subjects with
    more than one of them."""
    kind = host_kind(store, pool, cpu_model)
    if kind is None:
        return Scaling(host_kind=None, subjects=[], cases=[], loads=[])
    here = Selection(Metric.ELAPSED_NS, kind.pool, kind.cpu_model, tuple(library or ()))
    cases = cases_in_order(store.measured_cases(here))
    curves = scaling_cases(store, here, cases)
    loads = loads_of(store, here, cases)
    shown = {line.subject for case in curves for line in case.lines}
    shown |= {line.subject for load in loads for line in load.lines}
    measured = subjects_in_order(MeasuredSubject(row.subject, row.measured_at) for row in store.measured_subjects(here))
    subjects = [view for view in measured if view.subject in shown]
    return Scaling(host_kind=kind, subjects=subjects, cases=curves, loads=loads)


@_kept.get("/qualifications", operation_id="qualifications")
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

    def qualify() -> list[QualificationRow]:
        rows: dict[tuple[str, str], QualificationRow] = {}
        for candidate in qualifying(store, HostKindRow(kind.pool, kind.cpu_model), libraries):
            if candidate.place not in rows and (row := _row(candidate, invocations)):
                rows[candidate.place] = row
        return list(rows.values())

    key = ("qualified", kind.pool, kind.cpu_model, invocations, frozenset(libraries))
    return list(store.kept_value(key, Evidence.of_copies, qualify))


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


router.include_router(_kept)
