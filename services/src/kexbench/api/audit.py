"""The audit trail: what people and their programs wrote or were refused. The only place that writes it.

An entry is stored once the status is known, before the answer is sent. If that fails, the entry is logged instead: what
somebody asked is done by then, and must not be reported as failed (docs/adr/0048).
"""

import logging
import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from http import HTTPStatus
from urllib.parse import unquote

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kexbench.api.access import Caller
from kexbench.api.calling import API_PREFIX
from kexbench.api.refusals import WRITING
from kexbench.api.rights import PERSON
from kexbench.domain.moments import in_milliseconds
from kexbench.domain.people import PERSON_ROLES, AuditEntry
from kexbench.store.port import AuditStore, StoreError

_log = logging.getLogger(__name__)
_MOST_CHARACTERS = 300


class Audit:
    def __init__(
        self, app: ASGIApp, store: AuditStore, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._app = app
        self._store = store
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] not in WRITING:
            await self._app(scope, receive, send)
            return

        async def send_noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                await self._note(scope, message["status"], Headers(raw=message["headers"]).get("location", ""))
            await send(message)

        try:
            await self._app(scope, receive, send_noted)
        except Exception:
            await self._note(scope, HTTPStatus.INTERNAL_SERVER_ERROR, "")
            raise

    async def _note(self, scope: Scope, status: int, location: str) -> None:
        state = scope.get("state", {})
        caller: Caller | None = state.get("caller") or state.get("ended_caller")
        if caller is None or caller.role not in PERSON:
            return
        entry = AuditEntry(
            entry_id=secrets.token_hex(8),
            at=in_milliseconds(self._clock()),
            name=caller.name,
            role=next(role for role in PERSON_ROLES if role == caller.role),
            proof=caller.proof,
            token_id=caller.token_id,
            method=scope["method"],
            route=_route_of(scope),
            subject=_subject(scope, state.get("subject", ""), location)[:_MOST_CHARACTERS],
            status=status,
        )
        try:
            await run_in_threadpool(self._store.add_audit_entry, entry)
        except StoreError as error:
            words, fields = entry.model_dump_json(), {"audit": entry.model_dump(mode="json")}
            _log.warning("not in the audit trail, since %s: %s", error, words, extra=fields)


def _route_of(scope: Scope) -> str:
    """Its template. Where reading needs a login, callers are known before it turns out that there is no route."""
    route = scope.get("route")
    return API_PREFIX + route.path.removeprefix(API_PREFIX) if route else API_PREFIX


def note_subject(request: Request, *subjects: str) -> None:
    """What a request is about that neither its address nor the `Location` of its answer names."""
    request.state.subject = " ".join(subjects)


def _subject(scope: Scope, noted: str, location: str) -> str:
    parameters = "/".join(map(str, scope.get("path_params", {}).values()))
    created = unquote("/".join(location.removeprefix(f"{API_PREFIX}/").split("/")[1:]))
    return noted or parameters or created
