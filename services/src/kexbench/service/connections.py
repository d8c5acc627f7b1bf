"""Connections of the service: limited in number, answered without delay, and closed if they stay silent."""

import asyncio
import socket
from typing import cast

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

MOST_CONNECTIONS = 256
"""Further connections are closed at once. The client can retry, and memory use stays bounded."""
HEADERS_WITHIN_S = 15.0
"""Time limit for the headers of a request, from its first byte or from the start of the connection."""


IDLE_S = 15
"""How long an idle connection is kept: longer than clients keep theirs (httpx: 5 s), so that no request is sent on one
that is being closed."""


def config_of(app: FastAPI) -> uvicorn.Config:
    """The server configuration, with the connections of this module."""
    return uvicorn.Config(
        app,
        http=Connection,
        log_level="warning",
        access_log=False,
        workers=1,
        timeout_keep_alive=IDLE_S,
        timeout_graceful_shutdown=5,
    )


class Connection(H11Protocol):
    """One connection. It is closed if its headers arrive too late; the application limits the time of a body."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        if len(self.connections) >= MOST_CONNECTIONS:
            transport.abort()
            return
        client_socket = cast("socket.socket | None", transport.get_extra_info("socket"))
        if client_socket is not None and client_socket.family in (socket.AF_INET, socket.AF_INET6):
            # asyncio sets this only for sockets declared as TCP; those of socket.create_server are not.
            client_socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        super().connection_made(transport)
        self._expect_headers()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._has_request():
            self._cancel_deadline()
        else:
            self._expect_headers()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._cancel_deadline()  # uvicorn closes idle connections itself

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_deadline()
        if hasattr(self, "transport"):  # not set if it was refused
            super().connection_lost(exc)

    def _has_request(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle  # None before the first request
        return cycle is not None and not cycle.response_complete

    def _expect_headers(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(HEADERS_WITHIN_S, self._close_late)

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _close_late(self) -> None:
        self._deadline = None
        if not self._has_request() and not self.transport.is_closing():
            self.transport.close()
