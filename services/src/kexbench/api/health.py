"""Whether the service works: answered from memory, so that no reader and no store can make it wait."""

from typing import Literal

from fastapi import APIRouter, Request

from kexbench import __version__
from kexbench.api.models import Health, TroubleView
from kexbench.api.troubles import Troubles
from kexbench.store.port import Store, StoreError

router = APIRouter(tags=["reading"])


@router.get("/health", operation_id="health")
async def health(request: Request) -> Health:
    """Whether the service answers, and what does not work beside it."""
    troubles: Troubles = request.app.state.troubles
    views = [TroubleView(**vars(trouble)) for trouble in troubles.now()]
    status: Literal["ok", "impaired"] = "impaired" if views else "ok"
    return Health(status=status, version=__version__, engine=request.app.state.engine, troubles=views)


def engine_of(store: Store | None) -> str | None:
    """The store's engine and version; None where it does not answer, or where there is no store to ask."""
    try:
        return store.engine() if store else None
    except StoreError:
        return None
