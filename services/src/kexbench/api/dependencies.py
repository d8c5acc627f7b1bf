"""The dependencies of routes, and answers that are kept until something is stored."""

import asyncio
import gzip
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Annotated, Any, cast

from fastapi import Depends, Request, Response
from starlette.concurrency import run_in_threadpool

from kexbench.api.gate import CountedRoute
from kexbench.api.monitoring import Monitoring
from kexbench.api.problems import ProblemError
from kexbench.domain.canonical import content_hash
from kexbench.planning.documents import DocumentError
from kexbench.planning.spec import Catalogue
from kexbench.queue.supplies import LocalSupplies, Supplies
from kexbench.store.port import (
    AlertStore,
    CommitStore,
    NotificationStore,
    RunStore,
    SampleStore,
    ScheduleStore,
    ScreeningStore,
    Store,
)


def _store(request: Request) -> Store:
    return cast(Store, request.app.state.store)


def _has_queue(request: Request) -> bool:
    return request.app.state.supplies is not None


def _measures_itself(request: Request) -> bool:
    return isinstance(request.app.state.supplies, LocalSupplies)


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


def _catalogue(request: Request) -> Catalogue:
    """Raises a 503 problem that lists the faults of the catalogue."""
    try:
        return cast(Catalogue, request.app.state.catalogue())
    except DocumentError as error:
        detail = "; ".join(fault.render(error.file) for fault in error.faults)
        raise ProblemError(
            HTTPStatus.SERVICE_UNAVAILABLE, f"the catalogue has faults: {detail}", "correct it, then try again"
        ) from None


HasQueue = Annotated[bool, Depends(_has_queue)]
MeasuresItself = Annotated[bool, Depends(_measures_itself)]
PagesUrl = Annotated[str, Depends(_pages_url)]
TheCatalogue = Annotated[Catalogue, Depends(_catalogue)]
TheMonitoring = Annotated[Monitoring, Depends(_monitoring)]
TheQueueing = Annotated[Supplies | LocalSupplies, Depends(queueing_of)]
TheAlertStore = Annotated[AlertStore, Depends(_store)]
TheCommitStore = Annotated[CommitStore, Depends(_store)]
TheScreeningStore = Annotated[ScreeningStore, Depends(_store)]
TheNotificationStore = Annotated[NotificationStore, Depends(_store)]
TheRunStore = Annotated[RunStore, Depends(_store)]
TheSampleStore = Annotated[SampleStore, Depends(_store)]
TheScheduleStore = Annotated[ScheduleStore, Depends(_store)]
TheStore = Annotated[Store, Depends(_store)]
TheSupplies = Annotated[Supplies, Depends(supplies_of)]


_LARGE_BYTES = 1000
_LEVEL = 4
"""Of gzip. The default takes twice as long, and saves 6% of a matrix."""


class Answers:
    """The newest answers of one application, by their tags."""

    most_bytes = 64 << 20

    def __init__(self) -> None:
        self.started = secrets.token_hex(8)
        """Part of every tag, since another release may answer otherwise."""
        self._kept: OrderedDict[str, Response] = OrderedDict()
        self._bytes = 0
        self._being_computed: dict[str, asyncio.Lock] = {}

    @asynccontextmanager
    async def computing(self, tag: str) -> AsyncIterator[None]:
        """One request computes an answer; others that want the same wait for it."""
        try:
            async with self._being_computed.setdefault(tag, asyncio.Lock()):
                yield
        finally:
            self._being_computed.pop(tag, None)

    def of(self, tag: str) -> Response | None:
        return self._kept.get(tag)

    def keep(self, tag: str, answer: Response) -> None:
        if tag not in self._kept:
            self._kept[tag] = answer
            self._bytes += len(answer.body)
        while self._bytes > self.most_bytes:
            self._bytes -= len(self._kept.popitem(last=False)[1].body)


def _compressed(answer: Response) -> Response:
    """A large answer as it is kept: compressed once, however often it is sent. A matrix may have a megabyte."""
    if len(answer.body) < _LARGE_BYTES:
        return answer
    headers = {**answer.headers, "Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
    return _with_body(answer, gzip.compress(answer.body, _LEVEL, mtime=0), headers)


def _for_client(kept: Response, request: Request) -> Response:
    headers = dict(kept.headers)
    if "content-encoding" not in headers or "gzip" in request.headers.get("Accept-Encoding", ""):
        return _with_body(kept, bytes(kept.body), headers)
    del headers["content-encoding"]
    return _with_body(kept, gzip.decompress(kept.body), headers)


def _with_body(answer: Response, body: bytes, headers: dict[str, str]) -> Response:
    headers.pop("content-length", None)
    return Response(body, answer.status_code, headers)


class KeptRoute(CountedRoute):
    """A route whose answer depends only on its address, the store and the catalogue. Its ETag names these, so a page
    that has the newest answer gets 304, and others get the same answer again without a query."""

    def __init__(self, *given: Any, **named: Any) -> None:
        if "GET" in named["methods"]:
            named["responses"] = {304: {"description": "Not changed"}, **named["responses"]}
        super().__init__(*given, **named)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()
        if self.methods != {"GET"}:
            return handler

        needs_catalogue = any(child.call is _catalogue for child in self.dependant.dependencies)

        def tag_of(request: Request, answers: Answers) -> str:
            """Taken before the answer is computed: what is stored in between makes another tag."""
            parts = [answers.started, request.url.path, request.url.query, _store(request).content_version()]
            if needs_catalogue:
                parts.append(_catalogue(request).model_dump_json())
            return f'"{content_hash(parts, length=32)}"'

        async def answering(request: Request) -> Response:
            answers: Answers = request.app.state.answers
            tag = await run_in_threadpool(tag_of, request, answers)
            if tag in request.headers.get("If-None-Match", ""):
                return Response(status_code=HTTPStatus.NOT_MODIFIED, headers={"ETag": tag})
            async with answers.computing(tag):
                kept = answers.of(tag)
                if kept is None:
                    kept = await handler(request)
                    kept.headers["ETag"] = tag
                    kept.headers["Cache-Control"] = "no-cache"
                    kept = await run_in_threadpool(_compressed, kept)
                    answers.keep(tag, kept)
            return _for_client(kept, request)

        return answering
