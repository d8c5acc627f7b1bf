"""The dependencies of routes."""

from http import HTTPStatus
from typing import Annotated, cast

from fastapi import Depends, Request

from kexbench.api.monitoring import Monitoring
from kexbench.api.problems import ProblemError
from kexbench.planning.documents import DocumentError
from kexbench.planning.spec import Catalogue
from kexbench.queue.supplies import LocalSupplies, Supplies
from kexbench.store.port import (
    AuditStore,
    CommitStore,
    NotificationStore,
    RunStore,
    SampleStore,
    ScheduleStore,
    ScreeningStore,
    Store,
    TokenStore,
)


def store_of(request: Request) -> Store:
    return cast(Store, request.app.state.store)


def _has_queue(request: Request) -> bool:
    return request.app.state.supplies is not None


def _supplies(request: Request) -> Supplies | LocalSupplies | None:
    return cast(Supplies | LocalSupplies | None, request.app.state.supplies)


def queueing_of(request: Request) -> Supplies | LocalSupplies:
    """Raises a 409 problem if the service has no queue."""
    if not _has_queue(request):
        raise ProblemError(
            HTTPStatus.CONFLICT, "this service has no queue", "measure on this machine: kexbench run SPEC"
        )
    return cast(Supplies | LocalSupplies, request.app.state.supplies)


def supplies_of(request: Request) -> Supplies:
    """Raises a 409 problem if the service has no cluster."""
    supplies = queueing_of(request)
    if isinstance(supplies, LocalSupplies):
        raise ProblemError(HTTPStatus.CONFLICT, "this service has no cluster: it measures on its own machine")
    return supplies


def _monitoring(request: Request) -> Monitoring:
    return cast(Monitoring, request.app.state.monitoring)


def _pages_url(request: Request) -> str:
    return cast(str, request.app.state.pages_url)


def catalogue_of(request: Request) -> Catalogue:
    """Raises a 503 problem that lists the faults of the catalogue."""
    try:
        return cast(Catalogue, request.app.state.catalogue())
    except DocumentError as error:
        detail = "; ".join(fault.render(error.file) for fault in error.faults)
        raise ProblemError(
            HTTPStatus.SERVICE_UNAVAILABLE, f"the catalogue has faults: {detail}", "correct it, then try again"
        ) from None


HasQueue = Annotated[bool, Depends(_has_queue)]
MaybeSupplies = Annotated[Supplies | LocalSupplies | None, Depends(_supplies)]
PagesUrl = Annotated[str, Depends(_pages_url)]
TheCatalogue = Annotated[Catalogue, Depends(catalogue_of)]
TheMonitoring = Annotated[Monitoring, Depends(_monitoring)]
TheQueueing = Annotated[Supplies | LocalSupplies, Depends(queueing_of)]
TheCommitStore = Annotated[CommitStore, Depends(store_of)]
TheScreeningStore = Annotated[ScreeningStore, Depends(store_of)]
TheNotificationStore = Annotated[NotificationStore, Depends(store_of)]
TheRunStore = Annotated[RunStore, Depends(store_of)]
TheSampleStore = Annotated[SampleStore, Depends(store_of)]
TheScheduleStore = Annotated[ScheduleStore, Depends(store_of)]
TheAuditStore = Annotated[AuditStore, Depends(store_of)]
TheTokenStore = Annotated[TokenStore, Depends(store_of)]
TheStore = Annotated[Store, Depends(store_of)]
TheSupplies = Annotated[Supplies, Depends(supplies_of)]
