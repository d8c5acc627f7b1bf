"""What a user waits for over emulated paths."""

from typing import Annotated

from fastapi import Query

from kexbench.answers.paths import paths
from kexbench.answers.paths_shapes import Paths
from kexbench.api.caching import KeptRoute
from kexbench.api.dependencies import TheSampleStore
from kexbench.api.gate import api_router
from kexbench.api.reading import PROBLEMS, Libraries

router = api_router(route_class=KeptRoute, tags=["reading"], responses=PROBLEMS)
PathPool = Annotated[str | None, Query(description="default: the first that measured paths", max_length=200)]
PathCpuModel = Annotated[str | None, Query(description="default: the first that measured paths", max_length=200)]
PathText = Annotated[
    str | None, Query(description="only this path", max_length=100, examples=["continent", "50ms-loss-1"])
]


@router.get("/paths", operation_id="paths")
def get_paths(
    store: TheSampleStore,
    pool: PathPool = None,
    cpu_model: PathCpuModel = None,
    library: Libraries = None,
    path: PathText = None,
) -> Paths:
    """Times until a handshake is done and an answer is there, by case and emulated path: percentiles with their
    intervals, and the round trips that were measured and that follow from the sizes of the flights."""
    return paths(store, pool, cpu_model, library or (), path)
