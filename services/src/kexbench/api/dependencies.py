"""The dependencies of routes, and answers that are kept until something is stored."""

import asyncio
import gzip
import math
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any, cast

import httpx
from fastapi import Depends, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp

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


def _supplies(request: Request) -> Supplies | LocalSupplies | None:
    return cast(Supplies | LocalSupplies | None, request.app.state.supplies)


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
MaybeSupplies = Annotated[Supplies | LocalSupplies | None, Depends(_supplies)]
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


MOST_OUTDATED_S = 5.0
"""However old an answer a request accepts."""
_MAX_STALE = re.compile(r"(?:^|[\s,])max-stale=(\d{1,9})\b")
_ACCEPTS_GZIP = re.compile(r"\bgzip\b(?!\s*;\s*q=0(?:\.0+)?\s*(?:,|$))")
_LARGE_BYTES = 1000
_LEVEL = 4
"""Of gzip. The default takes twice as long, and saves 6% of a matrix."""


_ENTRY_BYTES = 1000
"""What keeping an answer takes beside its body."""


@dataclass
class _Kept:
    tag: str
    answer: Response
    basis: str
    """Of the newest write to the store and the catalogue, before the answer was computed."""
    newest_at: float
    """When it was last known to be the newest one, by the clock of `Answers`."""


class Answers:
    """The newest answer of an application to each address."""

    most_bytes = 64 << 20

    def __init__(self, app: ASGIApp, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.started = secrets.token_hex(8)
        """Part of every tag, since another release may answer otherwise."""
        self._app = app
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._bytes = 0
        self._being_computed: dict[str, asyncio.Lock] = {}
        self._outdated: dict[str, str] = {}
        """The addresses to ask again, in this order, by their keys."""
        self._renewing: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def computing(self, tag: str) -> AsyncIterator[None]:
        """One request computes an answer; others that want the same wait for it."""
        try:
            async with self._being_computed.setdefault(tag, asyncio.Lock()):
                yield
        finally:
            self._being_computed.pop(tag, None)

    def of(self, key: str, tag: str, at: float) -> _Kept | None:
        """The answer with a tag that was the newest one at a time."""
        kept = self._kept.get(key)
        if kept is None or kept.tag != tag:
            return None
        self._kept.move_to_end(key)
        kept.newest_at = max(kept.newest_at, at)
        return kept

    def recent(self, key: str, seconds: float) -> _Kept | None:
        """The answer that was the newest one some seconds ago, and maybe still is."""
        kept = self._kept.get(key)
        return kept if kept and kept.newest_at > self.clock() - seconds else None

    def keep(self, key: str, kept: _Kept) -> None:
        if before := self._kept.pop(key, None):
            self._bytes -= _size(before)
        self._kept[key] = kept
        self._bytes += _size(kept)
        while self._bytes > self.most_bytes:
            self._bytes -= _size(self._kept.popitem(last=False)[1])

    def renew(self, key: str, address: str) -> None:
        """Have an answer computed anew. This is done one after the other, so that it delays readers little."""
        self._outdated[key] = address
        if self._renewing is None or self._renewing.done():
            self._renewing = asyncio.create_task(self._renew())

    async def end(self) -> None:
        """Wait for the answer that is being renewed. Call it before the store is closed."""
        self._outdated.clear()
        if self._renewing:
            await self._renewing

    async def _renew(self) -> None:
        """Ask as a reader does who accepts no outdated answer."""
        transport = httpx.ASGITransport(self._app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            while self._outdated:
                key, address = next(iter(self._outdated.items()))
                with suppress(httpx.HTTPError):
                    await client.get(address)
                self._outdated.pop(key, None)


def _size(kept: _Kept) -> int:
    return len(kept.answer.body) + _ENTRY_BYTES


def _compressed(answer: Response) -> Response:
    """A large answer as it is kept: compressed once, however often it is sent. A matrix may have a megabyte."""
    if len(answer.body) < _LARGE_BYTES:
        return answer
    headers = {**answer.headers, "Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
    return _with_body(answer, gzip.compress(answer.body, _LEVEL, mtime=0), headers)


def _for_client(kept: Response, request: Request, age_s: int) -> Response:
    headers = {**kept.headers, "Age": str(age_s)}
    if "content-encoding" not in headers or _ACCEPTS_GZIP.search(request.headers.get("Accept-Encoding", "")):
        return _with_body(kept, bytes(kept.body), headers)
    del headers["content-encoding"]
    return _with_body(kept, gzip.decompress(kept.body), headers)


def _with_body(answer: Response, body: bytes, headers: dict[str, str]) -> Response:
    headers.pop("content-length", None)
    return Response(body, answer.status_code, headers)


class KeptRoute(CountedRoute):
    """A route whose answer depends only on its address, the store and the catalogue. Its ETag names these, so a page
    that has the newest answer gets 304, and others get the same answer again without a query.

    A request with `Cache-Control: max-stale` (RFC 9111) gets an answer that lacks what was stored in the last seconds,
    if there is one, and the new one is computed for the next request. `Age` is 0 if an answer lacks nothing."""

    def __init__(self, *given: Any, **named: Any) -> None:
        if "GET" in named["methods"]:
            named["responses"] = {304: {"description": "Not changed"}, **named["responses"]}
        super().__init__(*given, **named)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()
        if self.methods != {"GET"}:
            return handler

        needs_catalogue = any(child.call is _catalogue for child in self.dependant.dependencies)

        def basis_of(request: Request, version: str) -> str:
            return content_hash([version, _catalogue(request).model_dump_json() if needs_catalogue else ""])

        def newest_basis(request: Request) -> str:
            return basis_of(request, _store(request).newest_write())

        def complete_basis(request: Request) -> str:
            """Taken before the answer is computed: what is stored in between makes another one."""
            return basis_of(request, _store(request).content_version())

        async def answering(request: Request) -> Response:
            answers: Answers = request.app.state.answers
            address = f"{request.url.path}?{request.url.query}"
            key, at = content_hash(address, length=32), answers.clock()
            if recent := answers.recent(key, _accepted_s(request)):
                if await run_in_threadpool(newest_basis, request) == recent.basis:
                    recent.newest_at = max(recent.newest_at, at)
                    return _sent(request, recent)
                answers.renew(key, address)
                return _sent(request, recent, age_s=max(1, math.ceil(answers.clock() - recent.newest_at)))
            basis = await run_in_threadpool(complete_basis, request)
            tag = f'W/"{content_hash([answers.started, address, basis], length=32)}"'
            if _is_known(request, tag):
                return _unchanged(tag)
            async with answers.computing(tag):
                kept = answers.of(key, tag, at)
                if kept is None:
                    answer = await handler(request)
                    answer.headers["ETag"] = tag
                    answer.headers["Cache-Control"] = "no-cache"
                    answer = await run_in_threadpool(_compressed, answer)
                    kept = _Kept(tag, answer, basis, at)
                    answers.keep(key, kept)
            return _sent(request, kept)

        return answering


def _accepted_s(request: Request) -> float:
    """How many seconds ago an answer may have been the newest one. Negative if it must be the newest one now."""
    asked = _MAX_STALE.search(request.headers.get("Cache-Control", ""))
    return min(float(asked[1]), MOST_OUTDATED_S) if asked else -1.0


def _sent(request: Request, kept: _Kept, age_s: int = 0) -> Response:
    if _is_known(request, kept.tag):
        return _unchanged(kept.tag, age_s)
    return _for_client(kept.answer, request, age_s)


def _is_known(request: Request, tag: str) -> bool:
    return tag in request.headers.get("If-None-Match", "")


def _unchanged(tag: str, age_s: int = 0) -> Response:
    """Browsers keep the headers that an answer had before, except for those that they get again."""
    headers = {"ETag": tag, "Age": str(age_s), "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
    return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
