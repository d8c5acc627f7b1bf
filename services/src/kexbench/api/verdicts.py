"""Verdicts: of ended runs on the subjects that they compared, and of any two ends."""

from typing import Annotated

from fastapi import APIRouter, Query

from kexbench.answers.comparison import Comparison, comparison
from kexbench.answers.ends import AskedEnd
from kexbench.answers.pair import pair_in_run
from kexbench.answers.run_verdict import verdict_of_run, verdicts_of_ended
from kexbench.api.caching import KeptRoute
from kexbench.api.dependencies import TheCatalogue, TheStore
from kexbench.api.gate import api_router
from kexbench.api.models import Problem
from kexbench.api.reading import PROBLEMS
from kexbench.api.upgrades import Relevant
from kexbench.domain.hosts import HostChoice
from kexbench.domain.libraries import LIBRARIES
from kexbench.domain.pairs import Pair
from kexbench.domain.verdicts import RELEVANT, RunVerdict

router = api_router(tags=["reading"], responses=PROBLEMS)
_kept = APIRouter(route_class=KeptRoute)
MOST_RUNS = 50
"""Whose verdicts are computed in one request. The first time, each may take a second."""


EndSubject = Annotated[
    str | None,
    Query(
        max_length=500,
        pattern=f"^({'|'.join(LIBRARIES)})@.",
        description="unique name of a subject, or LIBRARY@VERSION",
        examples=["openssl@3.5"],
    ),
]
RunSubject = Annotated[
    str, Query(min_length=1, max_length=500, description="reference of a subject of the run, such as openssl@system")
]
EndPool = Annotated[str | None, Query(max_length=200, description="default: all pools that both ends have")]
EndCpuModel = Annotated[str | None, Query(max_length=200, description="default: all CPU models that both ends have")]
EndRun = Annotated[str | None, Query(max_length=100, description="default: the runs that compare the two best")]
EndCase = Annotated[
    str | None, Query(max_length=300, description="id of a case; default: that of the other end, or every case")
]


RunIds = Annotated[
    list[Annotated[str, Query(max_length=100)]], Query(min_length=1, max_length=MOST_RUNS, description="of runs")
]


@_kept.get(
    "/runs/{run_id}/verdict",
    operation_id="verdict",
    responses={409: {"model": Problem, "description": "The run has not ended"}},
)
def get_verdict(store: TheStore, run_id: str) -> RunVerdict:
    """The verdict of an ended run: the number of compared cells, as on its page, the relevant changes, and how many
    comparisons have no result."""
    return verdict_of_run(store, run_id)


@_kept.get("/verdicts", operation_id="verdicts")
def get_verdicts(store: TheStore, run_id: RunIds) -> dict[str, RunVerdict]:
    """The verdicts of several runs, by their ids. Runs that have not ended are left out."""
    return verdicts_of_ended(store, run_id)


@_kept.get("/runs/{run_id}/pair", operation_id="pair")
def get_pair(store: TheStore, run_id: str, before: RunSubject, after: RunSubject) -> Pair:
    """Two subjects of a run in the given direction, whichever is the newer version, by the numbers of this run and the
    metric of its instrument: each cell, and the verdict on all of them."""
    return pair_in_run(store, run_id, before, after)


@_kept.get("/compare", operation_id="compare")
def get_comparison(
    store: TheStore,
    catalogue: TheCatalogue,
    base: EndSubject = None,
    base_pool: EndPool = None,
    base_cpu_model: EndCpuModel = None,
    base_run_id: EndRun = None,
    base_case_id: EndCase = None,
    other: EndSubject = None,
    other_pool: EndPool = None,
    other_cpu_model: EndCpuModel = None,
    other_run_id: EndRun = None,
    other_case_id: EndCase = None,
    relevant: Relevant = RELEVANT,
) -> Comparison:
    """Any two ends, case by case: versions, libraries, host kinds or runs. Without subjects, the upgrade measured last.
    Ends that are not alike, such as two CPUs, get ratios with intervals and no verdicts. With a case for each end, two
    cases: judged where one run measured both in turns."""
    ends = (
        AskedEnd(base, HostChoice(base_pool, base_cpu_model), base_run_id, base_case_id),
        AskedEnd(other, HostChoice(other_pool, other_cpu_model), other_run_id, other_case_id),
    )
    return comparison(store, catalogue, *ends, relevant)


router.include_router(_kept)
