"""The application: routes, problems and the built pages, around a store that is handed in."""

from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, Response
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kexbench import __version__
from kexbench.api import (
    advancing,
    alert_dry_runs,
    alerts,
    bisections,
    commits,
    control,
    dry_runs,
    exporting,
    following,
    health,
    lab,
    monitoring,
    notifications,
    queueing,
    reading,
    scheduling,
    scorecard,
    series,
    supplying,
    upgrades,
    uploading,
    verdicts,
    webhooks,
)
from kexbench.api.access import Gatekeeper
from kexbench.api.alerting import Analyst
from kexbench.api.calling import API_PREFIX
from kexbench.api.dependencies import LocalSupplies, Supplies
from kexbench.api.monitoring import Monitoring
from kexbench.api.problems import MEDIA_TYPE, ProblemError, install_problem_handlers, problem_response
from kexbench.api.troubles import Troubles
from kexbench.api.verdicts import Verdicts
from kexbench.api.webhooks import Doorbell
from kexbench.kits.transport import KIT_MAX_BYTES
from kexbench.planning.spec import Catalogue
from kexbench.store.port import Store

_ROUTES = (
    *(health, reading, series, queueing, exporting, lab, verdicts, control, bisections, commits, dry_runs, following),
    *(
        scheduling,
        supplying,
        upgrades,
        uploading,
        webhooks,
        advancing,
        alerts,
        alert_dry_runs,
        notifications,
        scorecard,
    ),
)
_PROBLEM = {"$ref": "#/components/schemas/Problem"}
_POLICY = (
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'"
    "; base-uri 'none'; form-action 'self'"
)


class _Pages(StaticFiles):
    """The built pages; a path that is no file is a page's own address, and gets index.html."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        try:
            return await super().get_response(path, scope)
        except HTTPException as error:
            first, _, rest = path.partition("/")
            is_file = "." in path.rpartition("/")[2] and (first == "assets" or not rest)
            if error.status_code != 404 or first == "api" or is_file:
                raise
            return FileResponse(Path(str(self.directory)) / "index.html")


class _Api(FastAPI):
    """Documents problems under the media type that they are sent with; FastAPI knows one for a route only."""

    def openapi(self) -> dict[str, Any]:
        document = super().openapi()
        operations = [operation for path in document["paths"].values() for operation in path.values()]
        for content in (
            response.get("content", {}) for operation in operations for response in operation["responses"].values()
        ):
            if content.get("application/json", {}).get("schema") == _PROBLEM:
                content[MEDIA_TYPE] = content.pop("application/json")
        return document


def _most_bytes(method: str, path: str) -> int:
    """That the body of a request may have."""
    kit = method == "PUT" and path.startswith(f"{API_PREFIX}/kits/")
    return KIT_MAX_BYTES if kit else uploading.MAX_UPLOAD_BYTES


def _refuse_body(request: Request) -> ProblemError | None:
    """Why a body must not even be read: it would be held in memory before anybody asks for a token."""
    length = request.headers.get("content-length")
    if "transfer-encoding" in request.headers:
        if length is None:
            return ProblemError(HTTPStatus.LENGTH_REQUIRED, "the body's length is not given", "send Content-Length")
        detail = "the request has both Content-Length and Transfer-Encoding"
        return ProblemError(HTTPStatus.BAD_REQUEST, detail, "send Content-Length alone")
    most = _most_bytes(request.method, request.url.path)
    if length is not None and int(length) > most:
        return ProblemError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _too_large(most))
    return None


def _too_large(most: int) -> str:
    return f"more than {most} bytes in one upload"


class _CountedBodies:
    """Counts each body as it arrives, whatever its headers say."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most, received = _most_bytes(scope["method"], scope["path"]), 0

        async def counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > most:
                raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _too_large(most))
            return message

        await self._app(scope, counted, send)


def _no_catalogue() -> Catalogue:
    return Catalogue.model_validate({"apiVersion": "kexbench.dev/v1", "kind": "Catalogue", "libraries": {}})


def create_app(
    store: Store,
    gatekeeper: Gatekeeper,
    pages: Path | None,
    supplies: Supplies | LocalSupplies | None = None,
    doorbell: Doorbell | None = None,
    catalogue: Callable[[], Catalogue] = _no_catalogue,
    scorecard_file: Path | None = None,
    channels: notifications.Channels = (),
    troubles: Troubles | None = None,
) -> FastAPI:
    """`gatekeeper` knows who may write; `pages` is the folder of the built frontend, or None for the API alone;
    `supplies` are what runs that are queued are given, None where nothing is; `doorbell` is what webhooks of forges
    ring; `catalogue` is the one that is installed; `scorecard_file` is what `make scorecard` wrote, if anything;
    `channels` are where people are told of alerts; `troubles` is what loops beside the API
    write their faults to."""
    app = _Api(
        title="kexbench",
        version=__version__,
        description="TLS key exchange benchmarks across libraries, versions and CPUs.",
        openapi_url=f"{API_PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
    )
    install_problem_handlers(app)
    app.state.monitoring = Monitoring(store)
    app.state.store, app.state.gatekeeper, app.state.supplies = store, gatekeeper, supplies
    app.state.doorbell, app.state.catalogue, app.state.scorecard = doorbell, catalogue, scorecard_file
    app.state.channels = channels
    app.state.troubles = troubles or Troubles()
    app.state.engine = health.engine_of(store)
    app.state.verdicts = Verdicts(store)
    app.state.analyst = Analyst(store, supplies) if supplies else None
    for routes in _ROUTES:
        app.include_router(routes.router, prefix=API_PREFIX)

    app.include_router(monitoring.router)

    app.add_middleware(_CountedBodies)

    @app.middleware("http")
    async def _headers(request: Request, call_next):  # type: ignore[no-untyped-def]
        refused = _refuse_body(request)
        response = problem_response(refused) if refused else await call_next(request)
        response.headers.setdefault("X-Content-Type-Options", "nosniff")
        response.headers.setdefault("Content-Security-Policy", _POLICY)
        return response

    if pages is not None:
        app.mount("/", _Pages(directory=pages, html=True))
    return app
