"""The libraries of one machine kind side by side."""

from typing import Annotated, Literal

from fastapi import Query

from kexbench.answers.stacks import StacksRequest, stacks
from kexbench.answers.stacks_shapes import Stacks
from kexbench.answers.stacks_workload import DEFAULT_RESUMED_PERCENT
from kexbench.api.caching import KeptRoute
from kexbench.api.dependencies import TheCatalogue, TheSampleStore
from kexbench.api.gate import api_router
from kexbench.api.reading import PROBLEMS, Libraries
from kexbench.domain.dimensions import Protocol

router = api_router(route_class=KeptRoute, tags=["reading"], responses=PROBLEMS)
StackPool = Annotated[str | None, Query(description="default: that with most libraries", max_length=200)]
StackCpuModel = Annotated[str | None, Query(description="default: that with most libraries", max_length=200)]
StackProtocol = Annotated[
    Literal[Protocol.TLS_1_2, Protocol.TLS_1_3] | None,
    Query(description="default: TLS 1.3, or TLS 1.2 if nothing else was measured"),
]
Versions = Annotated[
    list[Annotated[str, Query(max_length=500)]] | None,
    Query(
        description="LIBRARY@VERSION or a unique name, in place of the newest version of its library",
        alias="version",
        max_length=50,
        examples=[["openssl@3.5"]],
    ),
]
Certificate = Annotated[
    str | None,
    Query(description="of the workload; default: the first column's", max_length=50, examples=["ECDSA P-256"]),
]
ResumedPercent = Annotated[int, Query(description="share of resumed connections in the workload", ge=0, le=100)]


@router.get("/stacks", operation_id="stacks")
def get_stacks(
    store: TheSampleStore,
    catalogue: TheCatalogue,
    pool: StackPool = None,
    cpu_model: StackCpuModel = None,
    protocol: StackProtocol = None,
    library: Libraries = None,
    version: Versions = None,
    certificate: Certificate = None,
    resumed: ResumedPercent = DEFAULT_RESUMED_PERCENT,
) -> Stacks:
    """What each kind of connection costs a server with each library, in its newest version on one machine kind. The
    cheapest is marked by verdicts on pairs. A library that did other work has no rank."""
    asked = StacksRequest(pool, cpu_model, protocol, library or (), version or (), certificate, resumed)
    return stacks(store, catalogue, asked)
