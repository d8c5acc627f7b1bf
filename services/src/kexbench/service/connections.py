"""Connections of the service: limited in number, answered without delay, and closed if they stay silent."""

import asyncio
import socket
from typing import cast

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from kexbench.logs import are_json

MOST_CONNECTIONS = 256
"""Memory use stays bounded. A further connection takes the place of one that does nothing; if all are at work, it is
closed at once, and its client can retry."""
MOST_OF_A_CLIENT = 192
"""Of one address, so that there is always room for others: for pods that deliver results, and for health checks. A
reverse proxy is one address, and keeps far fewer connections to a service."""
QUIET_S = 1.0
"""For so long a client sends nothing of its body, or takes nothing of its answer, before its connection may be closed
for another one."""
HEADERS_WITHIN_S = 15.0
"""Time limit for the headers of a request, from its first byte or from the start of the connection."""


IDLE_S = 15
"""How long an idle connection is kept: longer than clients keep theirs (httpx2: 5 s), so that no request is sent on one
that is being closed."""


def config_of(app: FastAPI) -> uvicorn.Config:
    """The server configuration, with the connections of this module."""
    return uvicorn.Config(
        app,
        http=Connection,
        log_level="warning",
        log_config=None if are_json() else uvicorn.config.LOGGING_CONFIG,  # with None its records reach our handler
        access_log=False,
        workers=1,
        timeout_keep_alive=IDLE_S,
        timeout_graceful_shutdown=5,
    )


class Connection(H11Protocol):
    """One connection. It is closed if its headers arrive too late; the application limits the time of a body."""

    _deadline: asyncio.TimerHandle | None = None
    _address = ""
    _heard_at = 0.0
    """When the client connected, or last sent something."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._address = str((transport.get_extra_info("peername") or ("",))[0])
        self._heard_at = self.loop.time()
        if not self._has_room():
            transport.abort()
            return
        client_socket = cast("socket.socket | None", transport.get_extra_info("socket"))
        if client_socket is not None and client_socket.family in (socket.AF_INET, socket.AF_INET6):
            # asyncio sets this only for sockets declared as TCP; those of socket.create_server are not.
            client_socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        super().connection_made(transport)
        self._expect_headers()

    def data_received(self, data: bytes) -> None:
        self._heard_at = self.loop.time()
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
        if self.transport is not None:  # None if it was refused
            super().connection_lost(exc)

    def _has_room(self) -> bool:
        """Whether there may be one connection more, if need be instead of one that does nothing."""
        everybody = cast("set[Connection]", self.connections)
        own = [each for each in everybody if each._address == self._address]
        if len(own) < MOST_OF_A_CLIENT and len(everybody) < MOST_CONNECTIONS:
            return True
        candidates = own if len(own) >= MOST_OF_A_CLIENT else everybody
        idle = [(uselessness, each._heard_at, each) for each in candidates if (uselessness := each._uselessness())]
        if not idle:
            return False
        *_, closed = min(idle, key=lambda entry: (-entry[0], entry[1]))
        closed.transport.abort()
        everybody.discard(closed)
        return True

    def _uselessness(self) -> int:
        """0 for a connection at work. Those without a request are closed before those whose body does not arrive, and
        these before those that do not take their answer; of each kind, the one first that has been silent longest."""
        if not self._has_request():
            return 3
        if self.loop.time() - self._heard_at < QUIET_S:
            return 0
        if self.cycle.more_body:
            return 2
        return 1 if self.flow.write_paused else 0

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
