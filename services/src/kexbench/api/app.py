"""The application: routes, problems and the built pages, for a given store."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from anyio import to_thread
from fastapi import FastAPI
from fastapi.responses import FileResponse, Response
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kexbench import __version__
from kexbench.alerts.analyst import Analyst
from kexbench.api import (
    alerts,
    bisections,
    commits,
    control,
    dry_runs,
    exporting,
    fleet,
    life,
    login,
    machine,
    monitoring,
    notifications,
    overview,
    paths,
    people,
    reading,
    reference,
    scheduling,
    series,
    stacks,
    supplying,
    upgrades,
    uploading,
    verdicts,
    webhooks,
)
from kexbench.api.access import Gatekeeper
from kexbench.api.audit import Audit
from kexbench.api.caching import Answers, AnswersAtHand
from kexbench.api.calling import API_PREFIX
from kexbench.api.document import for_people, with_problems
from kexbench.api.doorbell import Doorbell
from kexbench.api.gate import READERS_AT_ONCE, Gate, Reading, ReadingTurns, StoreHangs
from kexbench.api.handing_on import Courier, HandOn, Writing
from kexbench.api.monitoring import Monitoring, StoreCheck
from kexbench.api.problems import HeadAsGet, PagesMount, install_problem_handlers
from kexbench.api.readers import KnownReaders, renewing
from kexbench.api.refusals import Refusals
from kexbench.domain.repositories import Repository
from kexbench.domain.views import View
from kexbench.planning.spec import Catalogue
from kexbench.queue.streams import Streams
from kexbench.queue.supplies import LocalSupplies, Supplies
from kexbench.queue.troubles import Troubles
from kexbench.store.port import Store

_ROUTERS = (
    *(
        module.router
        for module in (
            monitoring,
            reading,
            reference,
            series,
            stacks,
            paths,
            life,
            overview,
            exporting,
            machine,
            fleet,
            verdicts,
            control,
            bisections,
            commits,
            dry_runs,
            scheduling,
            supplying,
            upgrades,
            uploading,
            webhooks,
            alerts,
            notifications,
            people,
            login,
        )
    ),
    *(module.at_root for module in (monitoring, upgrades, alerts)),
)
_POLICY = (
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors {}"
    "; base-uri 'none'; form-action 'self'"
)
_EMBEDDED = b"/embed/"
"""Where pages are that other websites may show in a frame. Nothing there changes the store, whatever is clicked."""


class _Pages(StaticFiles):
    """The built pages. A path without a file is the address of a page, and gets index.html. The names of assets contain
    a hash of their content, so browsers never ask for one again."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        try:
            response = await super().get_response(path, scope)
            is_asset = path.startswith("assets/")
            response.headers["Cache-Control"] = "public, max-age=31536000, immutable" if is_asset else "no-cache"
            return response
        except HTTPException as error:
            top, _, subpath = path.partition("/")
            is_file = "." in path.rpartition("/")[2] and (top == "assets" or not subpath)
            if error.status_code != 404 or is_file:
                raise
            return FileResponse(Path(str(self.directory)) / "index.html", headers={"Cache-Control": "no-cache"})


class _SafeHeaders:
    """Headers of every answer. A client that leaves before its answer is no fault."""

    def __init__(self, app: ASGIApp, policy: str, embed_policy: str) -> None:
        self._app = app
        self._policy = policy
        self._embed_policy = embed_policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("X-Content-Type-Options", "nosniff")
                is_embedded = scope["raw_path"].startswith(_EMBEDDED)  # as the page sees it, with what is escaped
                headers.setdefault("Content-Security-Policy", self._embed_policy if is_embedded else self._policy)
            await send(message)

        await self._app(scope, receive, send_with_headers)


class Api(FastAPI):
    """Publishes what people ask; `whole_document` also has what is internal."""

    def whole_document(self) -> dict[str, Any]:
        return with_problems(super().openapi())

    def openapi(self) -> dict[str, Any]:
        return for_people(self.whole_document())


WRITERS_AT_ONCE = 4
"""Write requests that are processed at once, in addition to read requests."""
UPLOADS_AT_ONCE = 2
"""Of several invocations: one is parsed while another is stored. More would wait for the store and take memory."""


@asynccontextmanager
async def _serving(app: FastAPI) -> AsyncIterator[None]:
    to_thread.current_default_thread_limiter().total_tokens = READERS_AT_ONCE + WRITERS_AT_ONCE
    yield
    await app.state.answers.end()
    await app.state.streams.finish()
    await app.state.courier.end()


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
    hosts: Collection[str] = (),
    pages_url: str = "http://localhost",
    embed_origins: Sequence[str] = (),
    views: Sequence[View] = (),
    repositories: Sequence[Repository] = (),
    backup: Callable[[], Iterator[bytes]] | None = None,
    writing: Writing | None = None,
    login_by: login.Login | None = None,
    anyone_reads: bool = True,
) -> Api:
    """`gatekeeper` decides who may write. `pages` is the folder of the built frontend, or None for the API alone.
    `supplies` are what queued runs need, None if nothing is queued. `doorbell` records webhooks. `catalogue` returns
    the installed one. `scorecard_file` is the result of `make scorecard`, if any. `channels` receive notifications.
    `troubles` collects the faults of background loops. `hosts` are the host names of the service, besides localhost
    and addresses. `pages_url` is where people reach the pages. `embed_origins` are the websites that may show
    pages below /embed/ in a frame. `views` are offered on the first page. `repositories` are watched. `backup` returns
    the pieces of a backup. `writing` is None if no other process serves the store. `login_by` lets people log in. If
    not `anyone_reads`, reading needs a caller too."""
    app = Api(
        title="kexbench",
        version=__version__,
        description="TLS key exchange benchmarks across libraries, versions and CPUs.",
        openapi_url=f"{API_PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=_serving,
        redirect_slashes=False,
    )
    install_problem_handlers(app)
    app.state.troubles = troubles or Troubles()
    app.state.monitoring = Monitoring(store, app.state.troubles, writes=writing.leads if writing else lambda: True)
    app.state.store_check = StoreCheck(store, app.state.troubles, repositories)
    app.state.store, app.state.gatekeeper, app.state.supplies = store, gatekeeper, supplies
    app.state.backup, app.state.anyone_reads = backup, anyone_reads
    app.state.login, app.state.sessions = login_by, login_by.sessions if login_by else None
    app.state.doorbell, app.state.catalogue, app.state.scorecard = doorbell, catalogue, scorecard_file
    app.state.channels, app.state.pages_url, app.state.views = channels, pages_url, tuple(views)
    app.state.streams, app.state.courier = Streams(store), Courier()
    app.state.upload_turns = asyncio.Semaphore(UPLOADS_AT_ONCE)
    app.state.engine = monitoring.engine_of(store)
    app.state.answers = Answers(renewing(app))
    app.state.analyst = Analyst(store, supplies) if supplies else None
    for router in _ROUTERS:
        app.router.routes.extend(router.routes)
    app.state.reading = Reading()
    app.add_middleware(ReadingTurns, reading=app.state.reading)
    app.add_middleware(AnswersAtHand)
    if not anyone_reads:
        app.add_middleware(KnownReaders)
    app.add_middleware(Audit, store=store)
    if writing:
        app.add_middleware(HandOn, writing=writing, store=store, courier=app.state.courier)
    app.add_middleware(StoreHangs, hangs=app.state.store_check.hangs)
    app.add_middleware(Gate, hosts=hosts)
    app.add_middleware(Refusals, count=app.state.monitoring.refused)

    policy, embed_policy = _POLICY.format("'none'"), _POLICY.format(" ".join(embed_origins) or "'none'")

    app.add_middleware(_SafeHeaders, policy=policy, embed_policy=embed_policy)
    app.add_middleware(HeadAsGet)
    if pages is not None:
        app.router.routes.append(PagesMount("/", GZipMiddleware(_Pages(directory=pages, html=True))))
    return app
