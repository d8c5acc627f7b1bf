"""Filters, the matrix, runs with their progress, and batches."""

from typing import Annotated, Any

from fastapi import Query
from pydantic import AwareDatetime, BeforeValidator

from kexbench.answers.filters import Filters, filters
from kexbench.answers.matrix import Matrix, matrix
from kexbench.answers.run import (
    RunDetail,
    run_detail,
)
from kexbench.answers.runs import RunPage, runs
from kexbench.api.caching import KeptRoute
from kexbench.api.dependencies import HasQueue, TheSampleStore, TheStore
from kexbench.api.gate import api_router
from kexbench.api.models import Problem
from kexbench.domain.moments import date_and_time
from kexbench.domain.samples import Metric
from kexbench.domain.subjects import Subject

PROBLEMS: dict[int | str, dict[str, Any]] = {
    404: {"model": Problem, "description": "Not found"},
    422: {"model": Problem, "description": "Invalid request"},
    503: {"model": Problem, "description": "The store is not available"},
}
OneMetric = Annotated[Metric, Query(description="the metric, per handshake")]
MetricOfRun = Annotated[
    Metric | None, Query(description="the metric, per handshake; default: the one that the run's instrument decides by")
]
OnePool = Annotated[str | None, Query(description="default: the pool of the newest samples", max_length=200)]
OneCpuModel = Annotated[str | None, Query(description="default: that of the newest samples", max_length=200)]
Libraries = Annotated[list[str] | None, Query(description="only these libraries", alias="library", max_length=50)]
CaseId = Annotated[str, Query(min_length=1, max_length=200, examples=["tlsv1.2_ecdhe-rsa_rsa-2048_p-256_aes-128-gcm"])]


Before = Annotated[
    AwareDatetime | None, BeforeValidator(date_and_time), Query(description="only entries before this time")
]


router = api_router(route_class=KeptRoute, tags=["reading"], responses=PROBLEMS)


@router.get("/filters", operation_id="filters")
def get_filters(store: TheStore) -> Filters:
    """The values to filter by. Host kinds with the newest samples come first."""
    return filters(store)


@router.get("/subjects", operation_id="subjects")
def get_subjects(store: TheSampleStore) -> list[Subject]:
    """All subjects with samples, by library and version, one entry for each kit."""
    return list(store.subjects())


@router.get("/matrix", operation_id="matrix")
def get_matrix(
    store: TheStore,
    metric: OneMetric = Metric.CPU_NS,
    pool: OnePool = None,
    cpu_model: OneCpuModel = None,
    library: Libraries = None,
    spec: Annotated[
        str | None, Query(description="only the cases and versions of this spec's newest run", max_length=200)
    ] = None,
) -> Matrix:
    """Case x version for one host kind, each cell from its newest run. Changes are tested as in the report of their
    upgrade, whatever the filters."""
    return matrix(store, metric, pool, cpu_model, library or (), spec)


@router.get("/runs", operation_id="runs")
def get_runs(
    store: TheStore,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    before: Before = None,
) -> RunPage:
    """Runs, newest first."""
    return runs(store, limit, before)


@router.get("/runs/{run_id}", operation_id="run")
def get_run(
    store: TheStore,
    has_queue: HasQueue,
    run_id: str,
    metric: MetricOfRun = None,
    pool: OnePool = None,
    cpu_model: OneCpuModel = None,
) -> RunDetail:
    """One run: its facts, state and all its cells for one metric on one host kind, by default the one measured last."""
    return run_detail(store, run_id, metric, pool, cpu_model, has_queue=has_queue)
