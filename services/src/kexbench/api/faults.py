"""Large bodies with more faults than anybody reads: refused by their number, since to list them takes much longer than
to find them, and everybody else waits meanwhile."""

from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from pydantic import TypeAdapter, ValidationError
from starlette.concurrency import run_in_threadpool

from kexbench.api.problems import ProblemError

MOST_FAULTS = 1000
LARGE_BYTES = 1 << 17
"""A smaller body cannot have so many faults that listing them takes long."""


class CountedRoute(APIRoute):
    """A route that counts the faults of a large body before FastAPI lists them."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()
        bodies = self.dependant.body_params
        if len(bodies) != 1:
            return handler
        form: Any = bodies[0].field_info.annotation
        adapter: TypeAdapter[Any] = TypeAdapter(form)

        async def counting(request: Request) -> Response:
            body = await request.body()
            if len(body) > LARGE_BYTES and (found := await run_in_threadpool(_faults, adapter, body)) > MOST_FAULTS:
                detail = f"the request is not of the expected form at {found:,} places"
                raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, detail, "see /api/v1/openapi.json")
            return await handler(request)

        return counting


def _faults(form: TypeAdapter[Any], body: bytes) -> int:
    try:
        form.validate_json(body)
    except ValidationError as error:
        return error.error_count()
    return 0
