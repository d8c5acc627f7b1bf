"""Errors as RFC 9457 problem details, rendered by one set of handlers."""

from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.encoders import jsonable_encoder
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match, Mount
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kexbench.api.models import Problem
from kexbench.api.refusals import note_detail
from kexbench.domain.refusals import Candidate, Refusal, RefusalReason
from kexbench.store.port import NotTheWriter, StoreError, StoreFull

_STATUS = {
    RefusalReason.MISSING: HTTPStatus.NOT_FOUND,
    RefusalReason.CONFLICT: HTTPStatus.CONFLICT,
    RefusalReason.UNUSABLE: HTTPStatus.UNPROCESSABLE_ENTITY,
}
MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_S = 2
"""While no process writes to the store."""
_MOST_ERRORS = 5
"""Faults of a request that the answer lists. A large body can have a million."""
_MOST_CHARACTERS = 200
"""Of a name or message that repeats parts of the request."""
_MOST_DETAIL = 1 << 17
"""Characters. The faults of a document take less."""


class ProblemError(Exception):
    """Raised by routes: the status, what is wrong, and the remedy."""

    def __init__(self, status: HTTPStatus, detail: str, remedy: str | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.remedy = remedy


def install_problem_handlers(app: FastAPI) -> None:
    """The API answers every error with a Problem."""

    @app.exception_handler(ProblemError)
    def _problem(request: Request, error: ProblemError) -> JSONResponse:
        note_detail(request.scope, error.detail)
        return problem_response(error)

    @app.exception_handler(Refusal)
    def _refused(request: Request, error: Refusal) -> JSONResponse:
        note_detail(request.scope, error.detail)
        return _respond(_STATUS[error.reason], error.detail, error.remedy, candidates=error.candidates)

    @app.exception_handler(StoreError)
    def _store(request: Request, error: StoreError) -> JSONResponse:
        if isinstance(error, StoreFull):
            request.app.state.monitoring.has_no_room(error)
        headers = {"Retry-After": str(RETRY_AFTER_S)} if isinstance(error, NotTheWriter) else None
        return _respond(HTTPStatus.SERVICE_UNAVAILABLE, str(error), error.remedy, headers=headers)

    @app.exception_handler(RequestValidationError)
    def _invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        faults = error.errors()
        problems = jsonable_encoder([_shortened(fault) for fault in faults[:_MOST_ERRORS]])
        places = ", ".join(".".join(map(str, problem["loc"])) for problem in problems)
        if len(faults) > _MOST_ERRORS:
            places = f"{len(faults)} places, first {places}"
        detail = f"the request is invalid at {places}"
        note_detail(request.scope, detail)
        return _respond(HTTPStatus.UNPROCESSABLE_ENTITY, detail, "see /api/v1/openapi.json", errors=problems)

    @app.exception_handler(HTTPException)
    def _http(request: Request, error: HTTPException) -> JSONResponse:
        headers = dict(error.headers or {})
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:  # a route knows only its own methods
            headers["Allow"] = ", ".join(served_methods(app.routes, request.scope["path"]))
        return _respond(HTTPStatus(error.status_code), str(error.detail), headers=headers)


def _shortened(fault: Mapping[str, Any]) -> dict[str, Any]:
    """A fault as the answer lists it. Its place contains keys of the body."""
    place = [_shorten(part) if isinstance(part, str) else part for part in fault["loc"]]
    return {"loc": place, "msg": _shorten(fault["msg"]), "type": fault["type"]}


def _shorten(text: str, most: int = _MOST_CHARACTERS) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


def problem_response(error: ProblemError) -> JSONResponse:
    """Also for middleware: handlers do not see its exceptions."""
    headers = {"WWW-Authenticate": "Bearer"} if error.status is HTTPStatus.UNAUTHORIZED else None
    return _respond(error.status, error.detail, error.remedy, headers=headers)


def _respond(
    status: HTTPStatus,
    detail: str,
    remedy: str | None = None,
    *,
    errors: list[dict[str, Any]] | None = None,
    headers: dict[str, str] | None = None,
    candidates: Sequence[Candidate] = (),
) -> JSONResponse:
    problem = Problem(
        title=status.phrase,
        status=status,
        detail=_shorten(detail, _MOST_DETAIL),
        remedy=remedy,
        errors=errors,
        candidates=list(candidates) or None,
    )
    return JSONResponse(
        problem.model_dump(exclude_none=True), status_code=status, media_type=MEDIA_TYPE, headers=headers
    )


_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_API = "/api"


class HeadAsGet:
    """Answers HEAD as GET, without the body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return
        ended = False

        async def send_headers(message: Message) -> None:
            nonlocal ended
            if message["type"] == "http.response.start":
                await send(message)
            elif not ended:
                ended = True
                await send({"type": "http.response.body", "body": b""})

        await self._app({**scope, "method": "GET"}, receive, send_headers)


class PagesMount(Mount):
    """Serves all addresses outside the API, read-only."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, child_scope = super().matches(scope)
        path: str = scope.get("path", "")
        if match is Match.FULL and (path == _API or path.startswith(f"{_API}/")):
            return Match.NONE, {}
        if match is Match.FULL and scope["type"] == "http" and scope["method"] != "GET":
            return Match.PARTIAL, child_scope
        return match, child_scope


def served_methods(routes: Iterable[BaseRoute], path: str) -> list[str]:
    """The methods of an address; none if the address does not exist. One that has routes of its own is not also the id
    of something."""
    scope = {"type": "http", "path": path, "root_path": "", "headers": []}
    routes = list(routes)
    of_pattern: dict[str, bool] = {}
    for method in _METHODS:
        matches = [route.matches({**scope, "method": method}) for route in routes]
        found = [child for match, child in matches if match is Match.FULL]
        if found:
            of_pattern[method] = bool(found[0].get("path_params"))
    methods = [method for method, by_pattern in of_pattern.items() if by_pattern == all(of_pattern.values())]
    return ["GET", "HEAD", *methods[1:]] if methods[:1] == ["GET"] else methods
