"""Of several processes that serve one store, one writes. The others hand on to it what they cannot do themselves
(docs/adr/0050)."""

import re
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from http import HTTPStatus
from typing import Protocol

import httpx2
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kexbench.api.calling import API_PREFIX, NO_CERTIFICATES
from kexbench.api.problems import RETRY_AFTER_S, ProblemError, problem_response
from kexbench.api.refusals import note_detail
from kexbench.store.port import TRY_AGAIN, StoreError, Upkeep

_MARK = b"x-kexbench-handed-on"
"""A request that has it goes no further: two processes that each take the other for the writer would never answer."""
_OF_WRITER = re.compile(rf"{API_PREFIX}/(kits/[^/]+|runs/[^/]+/(kits|material/[^/]+)|rings|store/backup)")
"""What is read from the writer's memory or from files that it may be writing."""
_STAYS = re.compile(rf"{API_PREFIX}/health|/(?!api/|badge/|feed).*")
"""Answered by every process: what is about itself, and the pages."""
_OF_ONE_CONNECTION = {
    b"connection",
    b"keep-alive",
    b"transfer-encoding",
    b"te",
    b"trailer",
    b"upgrade",
    b"proxy-connection",
}
"""Headers that are not handed on (RFC 9110, section 7.6.1)."""
_CONNECTIONS = httpx2.Limits(max_connections=64, max_keepalive_connections=16, keepalive_expiry=5)
_TIMEOUT = httpx2.Timeout(120, connect=3)


class Writing(Protocol):
    """Which process writes. No method waits."""

    def leads(self) -> bool:
        """Whether it is this one."""
        ...

    def answers(self) -> bool:
        """Whether this process knows the store's schema, so that it can answer readers."""
        ...

    def writer_url(self) -> str | None:
        """The address of another process that writes, if one is known."""
        ...


class NothingDone(ProblemError):
    """The request did not reach a process that writes."""

    def __init__(self, detail: str) -> None:
        super().__init__(HTTPStatus.SERVICE_UNAVAILABLE, detail, TRY_AGAIN)


class Courier:
    """Sends requests to the writer, each once."""

    def __init__(self) -> None:
        self._http: httpx2.AsyncClient | None = None

    async def hand_on(self, url: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Raises ProblemError before anything is sent to the client."""
        headers = [(name, value) for name, value in scope["headers"] if name not in _OF_ONE_CONNECTION]
        has_body = int(Headers(scope=scope).get("content-length") or 0) > 0
        query = f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else ""
        request = self._client().build_request(
            scope["method"],
            f"{url}{scope['raw_path'].decode('latin-1')}{query}",
            headers=[*headers, (_MARK, b"1")],
            content=_body(receive) if has_body else None,
        )
        try:
            answer = await self._client().send(request, stream=True)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout):
            raise NothingDone("the process that writes to the store does not answer") from None
        except httpx2.HTTPError:
            detail = "the process that writes to the store broke off: it may have done what was requested"
            raise ProblemError(
                HTTPStatus.SERVICE_UNAVAILABLE, detail, "look whether it was done, or repeat it"
            ) from None
        response = StreamingResponse(answer.aiter_raw(), answer.status_code)
        response.raw_headers = [
            (name.lower(), value) for name, value in answer.headers.raw if name.lower() not in _OF_ONE_CONNECTION
        ]
        async with aclosing(answer):
            await response(scope, receive, send)

    async def end(self) -> None:
        if self._http:
            await self._http.aclose()

    def _client(self) -> httpx2.AsyncClient:
        if self._http is None:
            self._http = httpx2.AsyncClient(
                limits=_CONNECTIONS, timeout=_TIMEOUT, trust_env=False, verify=NO_CERTIFICATES
            )
        return self._http


class HandOn:
    """Hands requests on, or answers a write once every process can read it."""

    def __init__(self, app: ASGIApp, writing: Writing, store: Upkeep, courier: Courier) -> None:
        self._app = app
        self._writing = writing
        self._store = store
        self._courier = courier

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or _STAYS.fullmatch(scope["path"]):
            await self._app(scope, receive, send)
        elif self._writing.leads():
            await self._app(scope, receive, self._once_readable(send) if _is_write(scope) else send)
        elif self._writing.answers() and not _is_write(scope) and not _OF_WRITER.fullmatch(scope["path"]):
            await self._app(scope, receive, send)
        else:
            try:
                await self._hand_on(scope, receive, send)
            except ProblemError as problem:
                await _refuse(problem, scope, receive, send)
            except HTTPException as error:  # the body was too large or too slow
                await _refuse(ProblemError(HTTPStatus(error.status_code), str(error.detail)), scope, receive, send)

    async def _hand_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        url = self._writing.writer_url()
        if url is None or any(name == _MARK for name, _ in scope["headers"]):
            raise NothingDone("no process writes to the store at the moment")
        await self._courier.hand_on(url, scope, receive, send)

    def _once_readable(self, send: Send) -> Send:
        async def send_later(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < HTTPStatus.BAD_REQUEST:
                with suppress(StoreError):  # it is stored; the next write or the next writer computes its summaries
                    await run_in_threadpool(self._store.content_version)
            await send(message)

        return send_later


async def _body(receive: Receive) -> AsyncIterator[bytes]:
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise httpx2.ReadError("the client is gone")
        yield message.get("body", b"")
        more = message.get("more_body", False)


async def _refuse(problem: ProblemError, scope: Scope, receive: Receive, send: Send) -> None:
    note_detail(scope, problem.detail)
    response = problem_response(problem)
    if isinstance(problem, NothingDone):
        response.headers["Retry-After"] = str(RETRY_AFTER_S)
    response.headers["Connection"] = "close"  # the body may not have been read
    await response(scope, receive, send)


def _is_write(scope: Scope) -> bool:
    return scope["method"] not in ("GET", "HEAD", "OPTIONS") and scope["path"] != f"{API_PREFIX}/capacity"
