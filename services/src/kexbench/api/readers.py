"""Where reading needs a login: nobody reads results without a caller."""

from http import HTTPStatus

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Receive, Scope, Send

from kexbench.api.access import identified
from kexbench.api.calling import API_PREFIX
from kexbench.api.problems import ProblemError, problem_response
from kexbench.store.port import StoreError

_FOR_ANYONE = tuple(
    f"{API_PREFIX}/{path}" for path in ("health", "me", "login", "login/callback", "logout", "openapi.json")
)
"""What probes, a login and a page that offers one ask."""
_SIGNED = f"{API_PREFIX}/webhooks/"
_RENEWS = "kexbench.renews"


class KnownReaders:
    """The files of the pages have no results, and Prometheus reads `/metrics` without a token: a network policy limits
    who reaches it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not scope.get(_RENEWS) and _has_results(scope["path"]):
            try:
                await run_in_threadpool(identified, Request(scope))
            except ProblemError as refusal:
                await problem_response(refusal)(scope, receive, send)
                return
            except StoreError as error:  # handlers do not see exceptions of middleware
                problem = ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, str(error), error.remedy)
                await problem_response(problem)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def renewing(app: ASGIApp) -> ASGIApp:
    """The application as the service itself asks it, to keep an answer for those who may read it."""

    async def asked_by_itself(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, _RENEWS: True}, receive, send)

    return asked_by_itself


def _has_results(path: str) -> bool:
    in_api = path.startswith(f"{API_PREFIX}/") and path not in _FOR_ANYONE and not path.startswith(_SIGNED)
    return in_api or path.startswith(("/feed", "/badge/"))
