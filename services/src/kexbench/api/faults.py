"""Bodies are read of callers who are known, and of those no more faults are listed than anybody reads: to list them
takes much longer than to count them, and everybody else waits meanwhile."""

import json
import re
from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any

from fastapi import Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic import TypeAdapter, ValidationError
from starlette.concurrency import run_in_threadpool

from kexbench.api.access import caller_of, identify_caller
from kexbench.api.problems import ProblemError

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
