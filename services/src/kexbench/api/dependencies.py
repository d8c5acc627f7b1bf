"""What routes are handed."""

from http import HTTPStatus
from typing import Annotated, cast

from fastapi import Depends, Request

from kexbench.api.monitoring import Monitoring
from kexbench.api.problems import ProblemError
from kexbench.planning.documents import DocumentError
from kexbench.planning.spec import Catalogue
from kexbench.queue.supplies import LocalSupplies, Supplies
from kexbench.store.port import (
    AlertStore,
    CommitStore,
    JudgementStore,
    NotificationStore,
    RunStore,
    SampleStore,
    ScheduleStore,
    Store,
)


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
TheAlertStore = Annotated[AlertStore, Depends(_store)]
TheCommitStore = Annotated[CommitStore, Depends(_store)]
TheJudgementStore = Annotated[JudgementStore, Depends(_store)]
TheNotificationStore = Annotated[NotificationStore, Depends(_store)]
TheRunStore = Annotated[RunStore, Depends(_store)]
TheSampleStore = Annotated[SampleStore, Depends(_store)]
TheScheduleStore = Annotated[ScheduleStore, Depends(_store)]
TheStore = Annotated[Store, Depends(_store)]
TheSupplies = Annotated[Supplies, Depends(supplies_of)]
