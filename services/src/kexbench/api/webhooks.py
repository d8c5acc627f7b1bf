"""Webhooks of forges: after a push, the watcher polls the repository at once.

Deliveries need no token. They are signed with the secret that the repository has at the forge.
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated, cast

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool

from kexbench.api.access import ADMITTED
from kexbench.api.doorbell import Doorbell
from kexbench.api.gate import CountedRoute, api_router
from kexbench.api.models import Problem
from kexbench.api.problems import ProblemError
from kexbench.api.uploading import router as uploads
from kexbench.forges.webhooks import WebhookError, read_delivery


def _doorbell(request: Request) -> Doorbell | None:
    return cast(Doorbell | None, request.app.state.doorbell)


TheDoorbell = Annotated[Doorbell | None, Depends(_doorbell)]
router = api_router(
    route_class=CountedRoute,
    tags=["webhooks"],
    responses={
        401: {"model": Problem, "description": "The signature is missing or wrong"},
        404: {"model": Problem, "description": "No repository of this name has a webhook"},
        422: {"model": Problem, "description": "Invalid request"},
        503: {"model": Problem, "description": "The secret cannot be read"},
    },
)
_BODY = {"requestBody": {"content": {"application/json": {"schema": {"type": "object"}}}, "required": True}}


@router.post("/webhooks/{repository}", operation_id="receive_webhook", status_code=204, openapi_extra=_BODY)
async def receive_webhook(request: Request, doorbell: TheDoorbell, repository: str) -> None:
    """Receive a delivery of GitHub, GitLab or Gitea. A push or pull request only makes the watcher poll the repository,
    so a repeated delivery changes nothing. Other events are ignored."""
    if doorbell is None or repository not in doorbell.secret_files:
        raise ProblemError(HTTPStatus.NOT_FOUND, f"no repository {repository} with a webhook is watched")
    await run_in_threadpool(_take, doorbell, repository, request.headers, await request.body())


@router.get("/rings", operation_id="rings", responses=uploads.responses, dependencies=ADMITTED)
def rings(doorbell: TheDoorbell) -> dict[str, int]:
    """The number of webhooks for each repository since the service started."""
    return doorbell.rings() if doorbell else {}


def _take(doorbell: Doorbell, repository: str, headers: Mapping[str, str], body: bytes) -> None:
    try:
        secret = doorbell.secret_files[repository].read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        detail = f"the webhook secret of repository {repository} cannot be read"
        raise ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, detail, "check its file") from None
    try:
        delivery = read_delivery(headers, body, secret)
    except WebhookError as error:
        raise ProblemError(HTTPStatus.UNAUTHORIZED, str(error), "use the same secret at the forge and here") from None
    if delivery.kind in ("push", "pull-request"):
        doorbell.ring(repository)
