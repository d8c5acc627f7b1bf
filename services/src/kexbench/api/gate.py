"""Checks of requests before they reach a route: their host name, their size, and how fast they arrive."""

import asyncio
import json
import re
import time
from collections.abc import Callable, Collection, Coroutine, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from http import HTTPStatus
from ipaddress import ip_address
from typing import Any, TypeVar

from fastapi import APIRouter, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
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
from kexbench.api.refusals import note_detail
from kexbench.kits.transport import KIT_MAX_BYTES

MAX_UPLOAD_BYTES = 16 << 20
MAX_QUESTION_BYTES = 1 << 20
"""Of a body that is read from anybody, since it stores nothing: a traffic mix."""
MAX_PATH_CHARACTERS = 4096
"""The longest path of a page has two names of subjects."""
PAUSE_S = 30.0
"""Time limit for the next piece of a body."""
READERS_AT_ONCE = 4
"""Read requests that are processed at once; others wait. More would only slow down each other, the health check, the
delivery of runs and the measurement."""
SLOWEST_BYTES_S = 16_384
"""Minimum rate of a body, after a first pause. Otherwise a byte now and then would hold a connection forever."""
STORE_HANGS = "the store does not answer"
ANY_HOST = "*"
_LOCAL = "localhost"
_CLOSE = {"Connection": "close"}

REFUSALS: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "Malformed, or with two lengths"},
    401: {"model": Problem, "description": "No valid token, or no login where reading needs one"},
    408: {"model": Problem, "description": "The body arrived too slowly"},
    411: {"model": Problem, "description": "No length given"},
    413: {"model": Problem, "description": "Too large"},
    414: {"model": Problem, "description": "The path is too long"},
    421: {"model": Problem, "description": "The service does not answer to this host name"},
}
"""Answers that any request may get before it reaches a route."""


def api_router(
    *, prefix: str = API_PREFIX, responses: Mapping[int | str, dict[str, Any]] = {}, **options: Any
) -> APIRouter:
    """Applications share its routes. FastAPI would make the routes of an included router anew for each application."""
    return APIRouter(prefix=prefix, responses=REFUSALS | dict(responses), **options)


@dataclass
class Reading:
    """The total time that read requests took so far, in seconds."""

    spent_s: float = 0.0


class Gate:
    """Answers refused requests and closes their connections, so that nothing more is read.

    `hosts` are the host names that the service answers to, besides `localhost` and addresses. A foreign page whose
    name was made to lead here (DNS rebinding) sends its own name.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str] = ()) -> None:
        self._app = app
        self._hosts = {name.lower() for name in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        max_bytes = _size_limit(scope["method"], scope["path"])
        refusal = self._wrong_host(headers) or _long_path(scope) or _wrong_length(headers, max_bytes)
        if refusal:
            await _refuse(refusal, scope, receive, send)
            return
        await self._app(scope, _Body(receive, max_bytes).receive, send)

    def _wrong_host(self, headers: Mapping[str, str]) -> ProblemError | None:
        name = _name_of(headers.get("host", ""))
        if ANY_HOST in self._hosts or name in self._hosts or name == _LOCAL or _is_address(name):
            return None
        detail = f"this service does not answer to {name!r}" if name else "the request names no host"
        remedy = "use an IP address, or add the host name to KEXBENCH_ALLOWED_HOSTS of the service"
        return ProblemError(HTTPStatus.MISDIRECTED_REQUEST, detail, remedy)


class StoreHangs:
    """Answers read requests at once while the store hangs. They would wait for minutes, and keep the threads of the
    service from pages, metrics and uploads."""

    def __init__(self, app: ASGIApp, hangs: Callable[[], bool]) -> None:
        self._app = app
        self._hangs = hangs

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _reads(scope) and self._hangs():
            problem = ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, STORE_HANGS, "try again; nothing was lost")
            await _refuse(problem, scope, receive, send)
            return
        await self._app(scope, receive, send)


class ReadingTurns:
    """Processes few read requests at once. A turn ends when the answer begins, so that a slow client keeps nobody
    waiting."""

    def __init__(self, app: ASGIApp, reading: Reading) -> None:
        self._app = app
        self._reading = reading
        self._turns = asyncio.Semaphore(READERS_AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _reads(scope):
            await self._app(scope, receive, send)
            return
        began = time.monotonic()
        async with AsyncExitStack() as turn:
            await turn.enter_async_context(self._turns)

            async def send_and_end(message: Message) -> None:
                await turn.aclose()
                await send(message)

            try:
                await self._app(scope, receive, send_and_end)
            finally:
                self._reading.spent_s += time.monotonic() - began


class _Body:
    """Counts the bytes of a body as they arrive, whatever its headers say, and limits the time."""

    def __init__(self, receive: Receive, max_bytes: int) -> None:
        self._receive = receive
        self._max_bytes = max_bytes
        self._received = 0
        self._whole = False
        self._began: float | None = None
        """When the body was first waited for. Until then the request waits for its turn, or for the store."""

    async def receive(self) -> Message:
        if self._whole:
            return await self._receive()  # reports that the client is gone
        if self._began is None:
            self._began = time.monotonic()
        try:
            message = await asyncio.wait_for(self._receive(), self._patience_s(self._began))
        except TimeoutError:
            detail = f"the body arrived too slowly: {self._received} bytes in {time.monotonic() - self._began:.0f} s"
            raise HTTPException(HTTPStatus.REQUEST_TIMEOUT, detail, headers=_CLOSE) from None
        self._received += len(message.get("body", b""))
        if self._received > self._max_bytes:
            raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _too_large(self._max_bytes), headers=_CLOSE)
        self._whole = not message.get("more_body", False)
        return message

    def _patience_s(self, began: float) -> float:
        """How long to wait for the next piece."""
        end = began + PAUSE_S + self._received / SLOWEST_BYTES_S
        return min(PAUSE_S, max(0.0, end - time.monotonic()))


async def _refuse(problem: ProblemError, scope: Scope, receive: Receive, send: Send) -> None:
    note_detail(scope, problem.detail)
    response = problem_response(problem)
    response.headers.update(_CLOSE)
    await response(scope, receive, send)


def _long_path(scope: Scope) -> ProblemError | None:
    """Every route would be tried on it, which takes a third of a second with the longest that a request may have."""
    if len(scope["path"]) <= MAX_PATH_CHARACTERS:
        return None
    return ProblemError(HTTPStatus.REQUEST_URI_TOO_LONG, f"the path has more than {MAX_PATH_CHARACTERS} characters")


def _wrong_length(headers: Mapping[str, str], max_bytes: int) -> ProblemError | None:
    """Why a body is refused unread. It would be held in memory before the token is checked."""
    length = headers.get("content-length")
    if "transfer-encoding" in headers:
        if length is None:
            return ProblemError(HTTPStatus.LENGTH_REQUIRED, "the body's length is not given", "send Content-Length")
        detail = "the request has both Content-Length and Transfer-Encoding"
        return ProblemError(HTTPStatus.BAD_REQUEST, detail, "send Content-Length alone")
    if length is not None and int(length) > max_bytes:
        return ProblemError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _too_large(max_bytes))
    return None


def _reads(scope: Scope) -> bool:
    """Whether a request reads from the store. Streams wait most of the time, and are limited by themselves."""
    path: str = scope["path"]
    reads = path.startswith((f"{API_PREFIX}/", "/badge/", "/feed"))
    exempt = path == f"{API_PREFIX}/health" or path.endswith("/stream")
    return scope["method"] == "GET" and reads and not exempt


def _size_limit(method: str, path: str) -> int:
    """The size limit of the body of a request."""
    if path == f"{API_PREFIX}/capacity":
        return MAX_QUESTION_BYTES
    kit = method == "PUT" and path.startswith(f"{API_PREFIX}/kits/")
    return KIT_MAX_BYTES if kit else MAX_UPLOAD_BYTES


def _too_large(max_bytes: int) -> str:
    return f"more than {max_bytes} bytes in one upload"


def _name_of(host: str) -> str:
    """The host without its port; an IPv6 address is in brackets."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].rstrip(".").lower()


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


Form = TypeVar("Form")
MOST_FAULTS = 1000
LARGE_BYTES = 1 << 17
"""A smaller body has too few faults for the list to take long."""
_HALF_CHARACTER = re.compile(rb"\\u[dD][89a-fA-F]")
"""An escape of half a character; each half of a pair is one."""


class CountedRoute(APIRoute):
    """A route that identifies the caller before it reads the body; FastAPI does it the other way round. It also counts
    the faults of a large body before FastAPI lists them."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()
        bodies = self.dependant.body_params
        if len(bodies) != 1:
            return handler
        body_type: Any = bodies[0].field_info.annotation
        adapter: TypeAdapter[Any] = TypeAdapter(body_type)

        for_callers = needs_caller(self.dependant)

        async def counting(request: Request) -> Response:
            if for_callers:
                await identify_caller(request)
            body = await request.body()
            if len(body) > LARGE_BYTES and (count := await run_in_threadpool(_faults, adapter, body)) > MOST_FAULTS:
                raise _too_many_faults(count)
            if _HALF_CHARACTER.search(body):
                await run_in_threadpool(_refuse_half_characters, body)
            return await handler(request)

        return counting


def needs_caller(dependant: Dependant) -> bool:
    return any(child.call is caller_of or needs_caller(child) for child in dependant.dependencies)


def _refuse_half_characters(body: bytes) -> None:
    """Raises a 422 problem if a text of the body cannot be written as UTF-8, to a store or in an answer."""
    try:
        json.dumps(json.loads(body), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        detail = "a text of the request has half a character: an unpaired surrogate"
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, detail, "send whole characters") from None
    except ValueError:
        pass  # FastAPI reports the fault


def _too_many_faults(count: int) -> ProblemError:
    detail = f"the request is invalid in {count:,} places"
    return ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, detail, "see /api/v1/openapi.json")


def validated(form: TypeAdapter[Form], body: bytes) -> Form:
    """A body that a route reads itself. Raises the same errors as for one that FastAPI reads."""
    if _HALF_CHARACTER.search(body):
        _refuse_half_characters(body)
    try:
        return form.validate_json(body)
    except ValidationError as error:
        if error.error_count() > MOST_FAULTS:
            raise _too_many_faults(error.error_count()) from None
        faults = [{**fault, "loc": ("body", *fault["loc"])} for fault in error.errors(include_url=False)]
        raise RequestValidationError(faults) from None


def _faults(form: TypeAdapter[Any], body: bytes) -> int:
    try:
        form.validate_json(body)
    except ValidationError as error:
        return error.error_count()
    return 0
