"""Which methods an address is served with: HEAD wherever GET is, and `Allow` where another one is asked for."""

from collections.abc import Iterable

from starlette.routing import BaseRoute, Match, Mount
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_ASKED = ("GET", "POST", "PUT", "PATCH", "DELETE")
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
    """Everything that is no address of the API, to be read."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, child_scope = super().matches(scope)
        path: str = scope.get("path", "")
        if match is Match.FULL and (path == _API or path.startswith(f"{_API}/")):
            return Match.NONE, {}
        if match is Match.FULL and scope["type"] == "http" and scope["method"] != "GET":
            return Match.PARTIAL, child_scope
        return match, child_scope


def served_methods(routes: Iterable[BaseRoute], path: str) -> list[str]:
    """Those that an address is served with; none where there is no such address."""
    scope = {"type": "http", "path": path, "root_path": "", "headers": []}
    routes = list(routes)
    found = [
        method
        for method in _ASKED
        if any(route.matches({**scope, "method": method})[0] is Match.FULL for route in routes)
    ]
    return ["GET", "HEAD", *found[1:]] if found[:1] == ["GET"] else found
