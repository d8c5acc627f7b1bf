"""Cases over the versions of their libraries, the batches behind a number, and all handshakes of one version by their
strength."""

from typing import Annotated

from fastapi import Query

from kexbench.answers.batches import Distribution, distribution
from kexbench.answers.cpus import Cpus, on_all_cpus
from kexbench.answers.security import SecurityView, by_strength
from kexbench.answers.trends import (
    Trends,
    trends,
)
from kexbench.api.caching import KeptRoute
from kexbench.api.dependencies import TheCatalogue, TheSampleStore, TheStore
from kexbench.api.gate import api_router
from kexbench.api.reading import PROBLEMS, CaseId, Libraries, OneCpuModel, OneMetric, OnePool
from kexbench.domain.samples import Metric
from kexbench.domain.security import SecurityModel
from kexbench.domain.upgrades import Side

router = api_router(route_class=KeptRoute, tags=["reading"], responses=PROBLEMS)


@router.get("/trends", operation_id="trends")
def get_trends(
    store: TheSampleStore,
    catalogue: TheCatalogue,
    case_id: Annotated[list[str] | None, Query(max_length=300, description="default: the first case")] = None,
    metric: Annotated[list[Metric] | None, Query(max_length=6, description="default: CPU time of both sides")] = None,
    pool: Annotated[list[str] | None, Query(description="only these pools", max_length=50)] = None,
    cpu_model: Annotated[list[str] | None, Query(description="only these CPU models", max_length=50)] = None,
    library: Libraries = None,
    levels: Annotated[bool, Query(description="also the cost in each invocation")] = False,
) -> Trends:
    """Any number of series over versions, on all matching host kinds. Numbers of different host kinds are not compared
    with each other."""
    return trends(
        store, catalogue, case_id or (), metric or (), pool or (), cpu_model or (), library or (), with_levels=levels
    )


@router.get("/cpus", operation_id="cpus")
def get_cpus(
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
    return on_all_cpus(store, metric, case_id, library or (), pool, cpu_model)


@router.get("/distribution", operation_id="distribution")
def get_distribution(
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
    return distribution(store, metric, subject, case_id, pool, cpu_model, run_id)


@router.get("/security", operation_id="security")
def get_security(
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
    return by_strength(store, model, subject, side, pool, cpu_model)
