"""What routes are handed: the store, and what runs that are queued are supplied with."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Protocol, cast

from fastapi import Depends, Request

from kexbench.api.monitoring import Monitoring
from kexbench.api.problems import ProblemError
from kexbench.domain.kits import Library
from kexbench.domain.plans import Plan
from kexbench.kits.depot import Depot
from kexbench.material.shelf import MaterialShelf
from kexbench.planning.documents import DocumentError
from kexbench.planning.spec import Catalogue
from kexbench.store.port import Store


class Planner(Protocol):
    def __call__(
        self,
        text: str,
        file: str,
        catalogue: str | None = None,
        only: Collection[str] = (),
        /,
        *,
        anywhere: bool = False,
    ) -> Plan:
        """The plan of a spec's text, by a catalogue's text or by the one that is installed; of all its subjects, or
        only of some references; following a branch `anywhere`, or only in the catalogue's repositories. Raises
        DocumentError."""
        ...


@dataclass(frozen=True)
class Supplies:
    """What a service that has a cluster gives to its runs; `architectures` tells that of each pool, `repositories`
    which git repositories of a library its catalogue names, since what is in them is run."""

    depot: Depot
    material: MaterialShelf
    plan: Planner
    architectures: Callable[[], dict[str, str]]
    repositories: Callable[[Library], Collection[str]]


@dataclass(frozen=True)
class LocalSupplies:
    """What a service gives to runs that wait for their turn on its own machine: a plan, made as Supplies makes it."""

    plan: Planner


def _store(request: Request) -> Store:
    return cast(Store, request.app.state.store)


def _has_queue(request: Request) -> bool:
    return request.app.state.supplies is not None


def _measures_itself(request: Request) -> bool:
    return isinstance(request.app.state.supplies, LocalSupplies)


def queueing_of(request: Request) -> Supplies | LocalSupplies:
    """Raises a 409 problem where nothing is queued."""
    if not _has_queue(request):
        raise ProblemError(
            HTTPStatus.CONFLICT, "this service has no cluster to run anything on", "measure here: kexbench run SPEC"
        )
    return cast(Supplies | LocalSupplies, request.app.state.supplies)


def supplies_of(request: Request) -> Supplies:
    """Raises a 409 problem where there is no cluster."""
    found = queueing_of(request)
    if isinstance(found, LocalSupplies):
        raise ProblemError(HTTPStatus.CONFLICT, "this service has no cluster: its machine measures by itself")
    return found


def _monitoring(request: Request) -> Monitoring:
    return cast(Monitoring, request.app.state.monitoring)


def _catalogue(request: Request) -> Catalogue:
    """Raises a 503 problem with its faults."""
    try:
        return cast(Catalogue, request.app.state.catalogue())
    except DocumentError as error:
        detail = "; ".join(fault.render(error.file) for fault in error.faults)
        raise ProblemError(
            HTTPStatus.SERVICE_UNAVAILABLE, f"the catalogue has faults: {detail}", "mend it, then ask again"
        ) from None


HasQueue = Annotated[bool, Depends(_has_queue)]
MeasuresItself = Annotated[bool, Depends(_measures_itself)]
TheCatalogue = Annotated[Catalogue, Depends(_catalogue)]
TheMonitoring = Annotated[Monitoring, Depends(_monitoring)]
TheQueueing = Annotated[Supplies | LocalSupplies, Depends(queueing_of)]
TheStore = Annotated[Store, Depends(_store)]
TheSupplies = Annotated[Supplies, Depends(supplies_of)]
