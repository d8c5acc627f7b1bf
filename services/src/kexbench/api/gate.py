"""What a request must be before anything of it is looked at: for this host, of bounded size, and arriving in time."""

import asyncio
import json
import re
import time
from collections.abc import Callable, Collection, Coroutine, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from http import HTTPStatus
from ipaddress import ip_address
from typing import Any

from fastapi import Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic import TypeAdapter, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kexbench.api.access import caller_of, identify_caller
from kexbench.api.calling import API_PREFIX
from kexbench.api.models import Problem
from kexbench.api.problems import ProblemError, problem_response
from kexbench.kits.transport import KIT_MAX_BYTES

MAX_UPLOAD_BYTES = 16 << 20
PAUSE_S = 30.0
"""So long the next piece of a body may take."""
READERS_AT_ONCE = 4
"""Requests of readers that are worked at, the others waiting in line: more would only take turns, and keep health, a
run's delivery and the measurement from theirs."""
SLOWEST_BYTES_S = 16_384
"""So fast a body must arrive, after a first pause: else one byte now and then holds a connection without end."""
ANY_HOST = "*"
_LOCAL = "localhost"
_CLOSE = {"Connection": "close"}

REFUSALS: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "Malformed, or of two lengths"},
    408: {"model": Problem, "description": "Nothing of the body came for too long"},
    411: {"model": Problem, "description": "No length given"},
    413: {"model": Problem, "description": "Too large"},
    421: {"model": Problem, "description": "This service is not reached by that host's name"},
}
"""What any request may be answered before a route looks at it."""


@dataclass
class Reading:
    """What readers have asked of this service so far: the seconds that their requests took, together."""

    spent_s: float = 0.0


class Gate:
    """Answers what it refuses and closes its connection, so that nothing more of it is read.

    `hosts` are the names that this service is reached by, beside `localhost` and addresses: a page of somebody else
    whose name was made to lead here (DNS rebinding) asks by its own name.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str] = (), reading: Reading | None = None) -> None:
        self._app = app
        self._reading = reading or Reading()
        self._hosts = {name.lower() for name in hosts}
        self._line = asyncio.Semaphore(READERS_AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        most = _most_bytes(scope["method"], scope["path"])
        refusal = self._wrong_host(headers) or _wrong_length(headers, most)
        if refusal:
            await _refuse(refusal, scope, receive, send)
            return
        body = _Body(receive, most)
        if _reads(scope):
            await self._read(scope, body.receive, send)
        else:
            await self._app(scope, body.receive, send)

    async def _read(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A place in line is given back when the answer begins: who takes it slowly keeps nobody waiting."""
        began = time.monotonic()
        async with AsyncExitStack() as place:
            await place.enter_async_context(self._line)

            async def sending(message: Message) -> None:
                await place.aclose()
                await send(message)

            try:
                await self._app(scope, receive, sending)
            finally:
                self._reading.spent_s += time.monotonic() - began

    def _wrong_host(self, headers: Mapping[str, str]) -> ProblemError | None:
        name = _name_of(headers.get("host", ""))
        if ANY_HOST in self._hosts or name in self._hosts or name == _LOCAL or _is_address(name):
            return None
        detail = f"this service is not reached as {name!r}" if name else "the request names no host"
        remedy = "ask by an address, or name the host in KEXBENCH_ALLOWED_HOSTS of the service"
        return ProblemError(HTTPStatus.MISDIRECTED_REQUEST, detail, remedy)


class _Body:
    """Counts a body as it arrives, whatever its headers say, and does not wait for it without end."""

    def __init__(self, receive: Receive, most: int) -> None:
        self._receive = receive
        self._most = most
        self._received = 0
        self._whole = False
        self._began = time.monotonic()

    async def receive(self) -> Message:
        if self._whole:
            return await self._receive()  # of who has gone
        try:
            message = await asyncio.wait_for(self._receive(), self._patience_s())
        except TimeoutError:
            detail = f"the body came too slowly: {self._received} bytes in {time.monotonic() - self._began:.0f} s"
            raise HTTPException(HTTPStatus.REQUEST_TIMEOUT, detail, headers=_CLOSE) from None
        self._received += len(message.get("body", b""))
        if self._received > self._most:
            raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _too_large(self._most), headers=_CLOSE)
        self._whole = not message.get("more_body", False)
        return message

    def _patience_s(self) -> float:
        """How long to wait for the next piece."""
        end = self._began + PAUSE_S + self._received / SLOWEST_BYTES_S
        return min(PAUSE_S, max(0.0, end - time.monotonic()))


async def _refuse(problem: ProblemError, scope: Scope, receive: Receive, send: Send) -> None:
    response = problem_response(problem)
    response.headers.update(_CLOSE)
    await response(scope, receive, send)


def _wrong_length(headers: Mapping[str, str], most: int) -> ProblemError | None:
    """Why a body must not even be read: it would be held in memory before anybody asks for a token."""
    length = headers.get("content-length")
    if "transfer-encoding" in headers:
        if length is None:
            return ProblemError(HTTPStatus.LENGTH_REQUIRED, "the body's length is not given", "send Content-Length")
        detail = "the request has both Content-Length and Transfer-Encoding"
        return ProblemError(HTTPStatus.BAD_REQUEST, detail, "send Content-Length alone")
    if length is not None and int(length) > most:
        return ProblemError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _too_large(most))
    return None


def _reads(scope: Scope) -> bool:
    """Whether a request makes the store work for a reader."""
    path: str = scope["path"]
    return scope["method"] == "GET" and path.startswith(f"{API_PREFIX}/") and path != f"{API_PREFIX}/health"


def _most_bytes(method: str, path: str) -> int:
    """That the body of a request may have."""
    kit = method == "PUT" and path.startswith(f"{API_PREFIX}/kits/")
    return KIT_MAX_BYTES if kit else MAX_UPLOAD_BYTES


def _too_large(most: int) -> str:
    return f"more than {most} bytes in one upload"


def _name_of(host: str) -> str:
    """Without the port; an IPv6 address is in brackets."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].rstrip(".").lower()


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


MOST_FAULTS = 1000
LARGE_BYTES = 1 << 17
"""A smaller body cannot have so many faults that listing them takes long."""
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
"""An escape that stands for half a character, as both halves of a pair do."""


class CountedRoute(APIRoute):
    """A route that asks who calls before it reads a body, which FastAPI does in the other order, and counts the faults
    of a large body before FastAPI lists them."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()
        bodies = self.dependant.body_params
        if len(bodies) != 1:
            return handler
        form: Any = bodies[0].field_info.annotation
        adapter: TypeAdapter[Any] = TypeAdapter(form)
        needs_caller = _needs_caller(self.dependant)

        async def counting(request: Request) -> Response:
            if needs_caller:
                await identify_caller(request)
            body = await request.body()
            if len(body) > LARGE_BYTES and (found := await run_in_threadpool(_faults, adapter, body)) > MOST_FAULTS:
                detail = f"the request is not of the expected form at {found:,} places"
                raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, detail, "see /api/v1/openapi.json")
            if _HALF.search(body) and not await run_in_threadpool(_is_text, body):
                detail = "a text of the request has half a character: a surrogate without the other one"
                raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, detail, "send whole characters")
            return await handler(request)

        return counting


def _needs_caller(dependant: Dependant) -> bool:
    return any(each.call is caller_of or _needs_caller(each) for each in dependant.dependencies)


def _is_text(body: bytes) -> bool:
    """Whether what is in the body can be written in UTF-8, to a store or in an answer."""
    try:
        json.dumps(json.loads(body), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    except ValueError:
        pass  # FastAPI says what is wrong with it
    return True


def _faults(form: TypeAdapter[Any], body: bytes) -> int:
    try:
        form.validate_json(body)
    except ValidationError as error:
        return error.error_count()
    return 0
