"""Refused writes: counted by reason. The reasons are few and fixed, since each is a series of Prometheus."""

import re
from collections.abc import Callable
from typing import Literal

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kexbench.api.calling import API_PREFIX

Written = Literal["upload", "other"]
REASONS = {
    400: "malformed",
    401: "unknown_caller",
    403: "forbidden",
    404: "not_found",
    405: "no_such_method",
    408: "too_slow",
    409: "conflict",
    411: "no_length",
    413: "too_large",
    414: "long_path",
    421: "other_host",
    422: "invalid",
}
"""By the status of the answer."""
OTHER = "other"
_WRITING = ("POST", "PUT", "PATCH", "DELETE")
_UPLOAD = re.compile(rf"{API_PREFIX}/runs/[^/]+/(?:invocations|invocation-batches)")


class Refusals:
    """Reports each write that is answered with 4xx, whatever refused it."""

    def __init__(self, app: ASGIApp, count: Callable[[Written, str], None]) -> None:
        """`count` gets whether it was an upload of results, and the reason."""
        self._app = app
        self._count = count

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] not in _WRITING:
            await self._app(scope, receive, send)
            return

        async def send_watched(message: Message) -> None:
            if message["type"] == "http.response.start" and 400 <= (status := message["status"]) < 500:
                is_upload = _UPLOAD.fullmatch(scope["path"])
                self._count("upload" if is_upload else "other", REASONS.get(status, OTHER))
            await send(message)

        await self._app(scope, receive, send_watched)
