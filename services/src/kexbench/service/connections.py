"""Connections as the service takes them: a bounded number, answered without delay, and none that stays silent."""

import asyncio
import socket
from typing import cast

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

MOST_CONNECTIONS = 256
"""Another one is closed at once: whoever has it can try again, and nobody's requests are held in memory without end."""
HEADERS_WITHIN_S = 15.0
"""So long a request may take from its first byte, or a connection from its beginning, to the end of its headers."""


class Connection(H11Protocol):
    """One connection. Times out while its headers are on their way; how long a body may take, the application says."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        if len(self.connections) >= MOST_CONNECTIONS:
            transport.abort()
            return
        connected = cast("socket.socket | None", transport.get_extra_info("socket"))
        if connected is not None and connected.family in (socket.AF_INET, socket.AF_INET6):
            # asyncio does so for sockets that say they are of TCP, which one from socket.create_server does not.
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        super().connection_made(transport)
        self._expect_headers()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._has_request():
            self._stop_waiting()
        else:
            self._expect_headers()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._stop_waiting()  # idle connections are closed by uvicorn's own clock

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        if hasattr(self, "transport"):  # else it was never taken
            super().connection_lost(exc)

    def _has_request(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle  # None before the first request
        return cycle is not None and not cycle.response_complete

    def _expect_headers(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(HEADERS_WITHIN_S, self._give_up)

    def _stop_waiting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _give_up(self) -> None:
        self._late = None
        if not self._has_request() and not self.transport.is_closing():
            self.transport.close()
