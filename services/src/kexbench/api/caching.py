"""A cache in front of the routes: answers are kept until something is stored, and a little longer for those who accept
that (RFC 9111)."""

import asyncio
import gzip
import logging
import math
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any

import httpx2
from anyio import CapacityLimiter, to_thread
from fastapi import Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Receive, Scope, Send

from kexbench.api.dependencies import catalogue_of, store_of
from kexbench.api.gate import CountedRoute, needs_caller
from kexbench.api.problems import ProblemError
from kexbench.domain.canonical import content_hash
from kexbench.store.port import StoreError

_log = logging.getLogger(__name__)
MOST_OUTDATED_S = 60.0
"""No request gets an older answer."""
_MAX_STALE = re.compile(r"(?:^|[\s,])max-stale(?:=(\d{1,9}))?\b")
_ACCEPTS_GZIP = re.compile(r"\bgzip\b(?!\s*;\s*q=0(?:\.0+)?\s*(?:,|$))")
_CHECKS_AT_ONCE = 4
"""Whether an answer is the newest one. They have threads of their own, so that they take none from what is written."""
_LARGE_BYTES = 1000
_LEVEL = 4
"""Of gzip. The default takes twice as long, and saves 6% of a matrix."""
_ENTRY_BYTES = 1000
"""What keeping an answer takes beside its address and body."""


@dataclass
class _Kept:
    tag: str
    answer: Response
    basis: str
    """Of the newest write to the store and the catalogue, before the answer was computed."""
    newest_basis: Callable[[], str]
    """The basis of an answer that is computed now."""
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
        self._outdated: dict[str, None] = {}
        """The addresses to ask again, in this order."""
        self._renewing: asyncio.Task[None] | None = None
        self._checks = CapacityLimiter(_CHECKS_AT_ONCE)

    async def at_hand(self, request: Request) -> Response | None:
        """The kept answer to a request, if it is the newest one or new enough for who asks. One that is not the newest
        is computed anew for the next request."""
        address, at = _address(request), self.clock()
        kept = self._kept.get(address)
        if kept is None:
            return None
        try:
            newest_basis = await to_thread.run_sync(kept.newest_basis, limiter=self._checks)
        except (ProblemError, StoreError):  # the route reports it
            return None
        if newest_basis == kept.basis:
            return self.newest(address, kept.tag, at, request)
        if kept.newest_at <= self.clock() - _accepted_s(request):
            return None
        self._renew(address)
        return _sent(request, kept, age_s=max(1, math.ceil(self.clock() - kept.newest_at)))

    def newest(self, address: str, tag: str, at: float, request: Request) -> Response | None:
        """The kept answer with a tag that was the newest one at a time."""
        kept = self._kept.get(address)
        if kept is None or kept.tag != tag:
            return None
        self._kept.move_to_end(address)
        kept.newest_at = max(kept.newest_at, at)
        return _sent(request, kept)

    @asynccontextmanager
    async def computing(self, tag: str) -> AsyncIterator[None]:
        """One request computes an answer; others that want the same wait for it."""
        try:
            async with self._being_computed.setdefault(tag, asyncio.Lock()):
                yield
        finally:
            self._being_computed.pop(tag, None)

    def keep(self, address: str, kept: _Kept) -> None:
        if before := self._kept.pop(address, None):
            self._bytes -= _size(address, before)
        self._kept[address] = kept
        self._bytes += _size(address, kept)
        while self._bytes > self.most_bytes:
            self._bytes -= _size(*self._kept.popitem(last=False))

    async def end(self) -> None:
        """Wait for the answer that is being renewed. Call it before the store is closed."""
        self._outdated.clear()
        if self._renewing:
            await self._renewing

    def _renew(self, address: str) -> None:
        """Have an answer computed anew. This is done one after the other, so that it delays readers little."""
        self._outdated[address] = None
        if self._renewing is None or self._renewing.done():
            self._renewing = asyncio.create_task(self._renew_outdated())

    async def _renew_outdated(self) -> None:
        """Ask as a reader does who accepts no outdated answer."""
        transport = httpx2.ASGITransport(self._app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
            while self._outdated:
                address = next(iter(self._outdated))
                try:
                    await client.get(address)
                except Exception:
                    _log.exception("The answer to %r cannot be renewed", address)
                finally:
                    self._outdated.pop(address, None)


def _address(request: Request) -> str:
    """As it was sent, with what is escaped."""
    return f"{request.scope['raw_path'].decode('latin-1')}?{request.scope['query_string'].decode('latin-1')}"


def _accepted_s(request: Request) -> float:
    """How many seconds ago an answer may have been the newest one."""
    asked = _MAX_STALE.search(request.headers.get("Cache-Control", ""))
    return min(float(asked[1] or math.inf), MOST_OUTDATED_S) if asked else 0.0


def _size(address: str, kept: _Kept) -> int:
    return len(address) + len(kept.answer.body) + _ENTRY_BYTES


def _compressed(answer: Response) -> Response:
    """A large answer as it is kept: compressed once, however often it is sent. A matrix may have a megabyte."""
    if len(answer.body) < _LARGE_BYTES:
        return answer
    headers = {**answer.headers, "Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
    return _with_body(answer, gzip.compress(answer.body, _LEVEL, mtime=0), headers)


def _sent(request: Request, kept: _Kept, age_s: int = 0) -> Response:
    if _is_known(request, kept.tag):
        return _unchanged(kept.tag, age_s)
    headers = {**kept.answer.headers, "Age": str(age_s)}
    if "content-encoding" not in headers or _ACCEPTS_GZIP.search(request.headers.get("Accept-Encoding", "")):
        return _with_body(kept.answer, bytes(kept.answer.body), headers)
    del headers["content-encoding"]
    return _with_body(kept.answer, gzip.decompress(kept.answer.body), headers)


def _with_body(answer: Response, body: bytes, headers: dict[str, str]) -> Response:
    headers.pop("content-length", None)
    return Response(body, answer.status_code, headers)


def _is_known(request: Request, tag: str) -> bool:
    return tag in request.headers.get("If-None-Match", "")


def _unchanged(tag: str, age_s: int = 0) -> Response:
    """Browsers keep the headers that an answer had before, except for those that they get again."""
    headers = {"ETag": tag, "Age": str(age_s), "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
    return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)


class AnswersAtHand:
    """Sends answers that need no computation. It comes before requests wait for their turn to read, so that such an
    answer waits for nobody."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = None
        if scope["type"] == "http" and scope["method"] == "GET":
            answers: Answers = scope["app"].state.answers
            answer = await answers.at_hand(Request(scope))
        await (answer or self._app)(scope, receive, send)


class KeptRoute(CountedRoute):
    """A route whose answer depends only on its address, the store and the catalogue. Its ETag names these, so a page
    that has the newest answer gets 304, and others get the same answer again without a query.

    A request with `Cache-Control: max-stale=SECONDS` (RFC 9111) gets an answer that was the newest one up to so long
    ago, if there is one, and a new one is computed for the next request. `Age` is 0 if an answer lacks nothing."""

    def __init__(self, *given: Any, **named: Any) -> None:
        if "GET" in named["methods"]:
            named["responses"] = {304: {"description": "Not changed"}, **named["responses"]}
        super().__init__(*given, **named)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()
        if self.methods != {"GET"} or needs_caller(self.dependant):  # a kept answer is sent to everybody
            return handler

        needs_catalogue = any(child.call is catalogue_of for child in self.dependant.dependencies)

        def basis_of(request: Request, version: str) -> str:
            return content_hash([version, catalogue_of(request).model_dump_json() if needs_catalogue else ""])

        def newest_basis(request: Request) -> str:
            return basis_of(request, store_of(request).newest_write())

        def complete_basis(request: Request) -> str:
            """Taken before the answer is computed: what is stored in between makes another one."""
            return basis_of(request, store_of(request).content_version())

        async def computed(request: Request) -> Response:
            answers: Answers = request.app.state.answers
            address, at = _address(request), answers.clock()
            basis = await run_in_threadpool(complete_basis, request)
            tag = f'W/"{content_hash([answers.started, address, basis], length=32)}"'
            if _is_known(request, tag):
                return _unchanged(tag)
            async with answers.computing(tag):
                if by_another := answers.newest(address, tag, at, request):
                    return by_another
                answer = await handler(request)
                answer.headers["ETag"] = tag
                answer.headers["Cache-Control"] = "no-cache"
                answer = await run_in_threadpool(_compressed, answer)
                application = Request({"type": "http", "app": request.app})  # keeps nothing of this request
                kept = _Kept(tag, answer, basis, partial(newest_basis, application), at)
                answers.keep(address, kept)
            return _sent(request, kept)

        return computed
