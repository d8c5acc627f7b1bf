"""What the dispatcher asks for again and again, so that alerts are seen to on a cluster."""

from typing import Annotated, cast

from fastapi import APIRouter, Depends, Request

from kexbench.alerts.analyst import Analyst
from kexbench.api.access import TheCaller, admit, caller_of
from kexbench.api.dependencies import queueing_of
from kexbench.api.faults import CountedRoute
from kexbench.api.uploading import router as uploads

router = APIRouter(
    route_class=CountedRoute,
    tags=["alerts"],
    responses=uploads.responses,
    dependencies=[Depends(caller_of), Depends(queueing_of)],
)


def _analyst(request: Request) -> Analyst:
    return cast(Analyst, request.app.state.analyst)


@router.post("/alerts/advance", operation_id="advance_alerts", status_code=204)
def advance_alerts(analyst: Annotated[Analyst, Depends(_analyst)], caller: TheCaller) -> None:
    """Judge the runs that ended, queue those that have to confirm a suspicion, raise alerts, and mark what is fixed or
    stale. While that is done already it does nothing."""
    admit(caller, "dispatcher")
    analyst.advance()
