"""Webhooks of forges: a push makes us look at a repository now instead of a little later.

Nobody shows a token here: a delivery is signed with the secret that its repository has at the forge.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Protocol, cast

from fastapi import APIRouter, Depends, Request
from starlette.concurrency import run_in_threadpool

from kexbench.api.models import Problem
from kexbench.api.problems import ProblemError
from kexbench.forges.webhooks import WebhookError, read_delivery


class Bell(Protocol):
    def ring(self, repository: str) -> None:
        """Have a repository looked at soon; `repository` is the name that it is watched under. Can be repeated."""
        ...


@dataclass(frozen=True)
class Doorbell:
    """What webhooks ring, and the file with the secret of each repository that has one, by the repository's name."""

    bell: Bell
    secret_files: Mapping[str, Path]


def _doorbell(request: Request) -> Doorbell | None:
    return cast(Doorbell | None, request.app.state.doorbell)


router = APIRouter(
    tags=["webhooks"],
    responses={
        401: {"model": Problem, "description": "The signature is missing or wrong"},
        404: {"model": Problem, "description": "No repository of this name has a webhook"},
        411: {"model": Problem, "description": "No length given"},
        413: {"model": Problem, "description": "Too large"},
        422: {"model": Problem, "description": "Not of the expected form"},
        503: {"model": Problem, "description": "The secret can't be read"},
    },
)
_BODY = {"requestBody": {"content": {"application/json": {"schema": {"type": "object"}}}, "required": True}}


@router.post("/webhooks/{repository}", operation_id="receive_webhook", status_code=204, openapi_extra=_BODY)
async def receive_webhook(
    request: Request, doorbell: Annotated[Doorbell | None, Depends(_doorbell)], repository: str
) -> None:
    """Take a delivery of GitHub, GitLab or Gitea. What it says of a push or a pull request is looked up at the
    repository itself, so that one that comes again changes nothing; what it says of anything else is ignored."""
    if doorbell is None or repository not in doorbell.secret_files:
        raise ProblemError(HTTPStatus.NOT_FOUND, f"no repository {repository} with a webhook is watched here")
    await run_in_threadpool(_take, doorbell, repository, request.headers, await request.body())


def _take(doorbell: Doorbell, repository: str, headers: Mapping[str, str], body: bytes) -> None:
    try:
        secret = doorbell.secret_files[repository].read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        detail = f"the webhook's secret of repository {repository} can't be read"
        raise ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, detail, "look at its file") from None
    try:
        delivery = read_delivery(headers, body, secret)
    except WebhookError as error:
        raise ProblemError(HTTPStatus.UNAUTHORIZED, str(error), "compare the webhook's secret with its file") from None
    if delivery.kind in ("push", "pull-request"):
        doorbell.bell.ring(repository)
