"""A library's whole life in a process."""

from typing import Annotated

from fastapi import Query

from kexbench.answers.life import Life, life
from kexbench.api.caching import KeptRoute
from kexbench.api.dependencies import TheSampleStore
from kexbench.api.gate import api_router
from kexbench.api.reading import PROBLEMS, Libraries

router = api_router(route_class=KeptRoute, tags=["reading"], responses=PROBLEMS)
LifePool = Annotated[str | None, Query(description="default: the first that measured any", max_length=200)]
LifeCpuModel = Annotated[str | None, Query(description="default: the first that measured any", max_length=200)]


@router.get("/life", operation_id="life")
def get_life(
    store: TheSampleStore, pool: LifePool = None, cpu_model: LifeCpuModel = None, library: Libraries = None
) -> Life:
    """Start of a process, age of a context, memory of connections and shared atomic operations, by case and version:
    numbers with their intervals, and the changes from version to version."""
    return life(store, pool, cpu_model, library or ())
