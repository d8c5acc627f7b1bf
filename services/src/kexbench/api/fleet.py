"""The machines, and which of them are set aside."""

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Path, Response

from kexbench.answers.fleet import Fleet, fleet
from kexbench.api.access import TheCaller
from kexbench.api.caching import KeptRoute
from kexbench.api.dependencies import TheStore
from kexbench.api.gate import CountedRoute, api_router
from kexbench.api.uploading import router as uploads
from kexbench.domain.fleet import SetAside
from kexbench.queue.nodes import WantedSetAside, return_node, set_aside_now

router = api_router(route_class=CountedRoute, tags=["fleet"], responses=uploads.responses)
_kept = APIRouter(route_class=KeptRoute)
Pool = Annotated[str, Path(max_length=63)]
Node = Annotated[str, Path(max_length=253)]


@_kept.get("/fleet", operation_id="fleet")
def get_fleet(store: TheStore) -> Fleet:
    """All pools with their nodes: what each did lately, its sentinel, and what is wrong with it."""
    return fleet(store)


@_kept.get("/fleet/set-asides", operation_id="set_asides")
def set_asides(store: TheStore) -> list[SetAside]:
    """The nodes that are set aside now, by pool and name."""
    return [each for each in store.set_asides() if each.since]


@router.post("/fleet/set-asides", operation_id="set_aside", status_code=201)
def post_set_aside(store: TheStore, caller: TheCaller, wanted: WantedSetAside, response: Response) -> SetAside:
    """Set a node aside: its results since a time count in no comparison, history or alert until it is returned, and no
    job is sent there. Repeating it changes nothing."""
    change = set_aside_now(store, wanted, caller.name)
    response.headers["Location"] = f"/api/v1/fleet/set-asides/{quote(wanted.pool)}/{quote(wanted.node)}"
    return change


@router.delete("/fleet/set-asides/{pool}/{node}", operation_id="return_node", status_code=204)
def delete_set_aside(store: TheStore, caller: TheCaller, pool: Pool, node: Node) -> None:
    """Return a node: all its results count again, and jobs are sent there. Repeating it changes nothing."""
    return_node(store, pool, node, caller.name)


router.include_router(_kept)
