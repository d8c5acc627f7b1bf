"""What routes are handed: the store, and what a cluster's runs are supplied with."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Protocol, cast

from fastapi import Depends, Request

from kexbench.api.monitoring import Monitoring
from kexbench.api.problems import ProblemError
from kexbench.domain.plans import Plan
from kexbench.kits.depot import Depot
from kexbench.material.shelf import MaterialShelf
from kexbench.store.port import Store


class Planner(Protocol):
    def __call__(self, text: str, file: str, catalogue: str | None = None, only: Collection[str] = (), /) -> Plan:
        """The plan of a spec's text, by a catalogue's text or by the one that is installed; of all its subjects, or
        only of some references. Raises DocumentError."""
        ...


@dataclass(frozen=True)
class Supplies:
    """What a service that has a cluster gives to its runs; `architectures` tells that of each pool."""

    depot: Depot
    material: MaterialShelf
    plan: Planner
    architectures: Callable[[], dict[str, str]]


def _store(request: Request) -> Store:
    return cast(Store, request.app.state.store)


def _has_cluster(request: Request) -> bool:
    return request.app.state.supplies is not None


def supplies_of(request: Request) -> Supplies:
    """Raises a 409 problem where there is no cluster."""
    if not _has_cluster(request):
        raise ProblemError(
            HTTPStatus.CONFLICT, "this service has no cluster to run anything on", "measure here: kexbench run SPEC"
        )
    return cast(Supplies, request.app.state.supplies)


def _monitoring(request: Request) -> Monitoring:
    return cast(Monitoring, request.app.state.monitoring)


HasCluster = Annotated[bool, Depends(_has_cluster)]
TheMonitoring = Annotated[Monitoring, Depends(_monitoring)]
TheStore = Annotated[Store, Depends(_store)]
TheSupplies = Annotated[Supplies, Depends(supplies_of)]
