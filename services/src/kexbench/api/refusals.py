"""Refused writes: logged, and counted by reason. The reasons are few and fixed, since each is a series of Prometheus.

The log has who was refused what and why, but nothing of the request: no token, no query and no body.
"""

import logging
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
_log = logging.getLogger(__name__)
_MOST_CHARACTERS = 300
WRITING = ("POST", "PUT", "PATCH", "DELETE")
_UPLOAD = re.compile(rf"{API_PREFIX}/runs/[^/]+/(?:invocations|invocation-batches)")


class Refusals:
    """Reports each write that is answered with 4xx, whatever refused it."""

    def __init__(self, app: ASGIApp, count: Callable[[Written, str], None]) -> None:
        """`count` gets whether it was an upload of results, and the reason."""
        self._app = app
        self._count = count

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] not in WRITING:
            await self._app(scope, receive, send)
            return

        async def send_watched(message: Message) -> None:
            if message["type"] == "http.response.start" and 400 <= (status := message["status"]) < 500:
                is_upload = _UPLOAD.fullmatch(scope["path"])
                reason = REASONS.get(status, OTHER)
                self._count("upload" if is_upload else "other", reason)
                _log_refusal(scope, status, reason)
            await send(message)

        await self._app(scope, receive, send_watched)


def note_detail(scope: Scope, detail: str) -> None:
    """What the answer says, for the log."""
    scope.setdefault("state", {})["refusal"] = detail


def _log_refusal(scope: Scope, status: int, reason: str) -> None:
    """Not a warning: on one machine, whoever was refused reads it."""
    state = scope.get("state", {})
    caller = state.get("caller")
    name = caller.name if caller else ""
    run_id = str(scope.get("path_params", {}).get("run_id", ""))
    detail = state.get("refusal", "")[:_MOST_CHARACTERS]
    method, path = scope["method"], scope["path"][:_MOST_CHARACTERS]
    fields = {"method": method, "path": path, "status": status, "reason": reason, "detail": detail}
    _log.info(
        "refused %s %s of %s: %s",
        method,
        path,
        name or "an unknown caller",
        detail or reason,
        extra={"event": "refusal", "caller": name, "run_id": run_id, **fields},
    )
