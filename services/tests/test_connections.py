"""Connections of the service, by real sockets: how many there may be, and how long one may say nothing."""

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, closing, contextmanager
from http.client import HTTPConnection

import httpx2
import pytest
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import Response, StreamingResponse

from kexbench.service import connections
from kexbench.service.connections import Connection, config_of

REQUEST = b"GET /none HTTP/1.1\r\nHost: localhost\r\n\r\n"


def answering() -> FastAPI:
    app = FastAPI()

    @app.api_route("/large", methods=["GET", "POST"])
    async def large(request: Request) -> Response:
        """More than sockets hold."""
        await request.body()
        return Response(b"0" * (16 << 20))

    @app.get("/begun")
    async def begun() -> StreamingResponse:
        async def parts() -> AsyncIterator[bytes]:
            yield b"begun"
            await asyncio.Event().wait()

        return StreamingResponse(parts())

    return app


@contextmanager
def listening() -> Iterator[tuple[str, int]]:
    bound = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(config_of(answering()))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
    thread.start()
    try:
        yield bound.getsockname()
    finally:
        server.should_exit = True
        thread.join()


def answered(one: socket.socket) -> bytes:
    one.sendall(REQUEST)
    return one.recv(12)


@pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.1\r\nHost: localh"])
def test_a_connection_whose_headers_do_not_come_is_closed(monkeypatch: pytest.MonkeyPatch, said: bytes) -> None:
    monkeypatch.setattr(connections, "HEADERS_WITHIN_S", 0.05)
    with listening() as address, socket.create_connection(address, timeout=30) as slow:
        slow.sendall(said)
        assert slow.recv(1) == b""


def test_the_headers_of_a_second_request_are_not_waited_for_either(monkeypatch: pytest.MonkeyPatch) -> None:
    with listening() as address, socket.create_connection(address, timeout=30) as slow:
        assert answered(slow) == b"HTTP/1.1 404"
        monkeypatch.setattr(connections, "HEADERS_WITHIN_S", 0.05)
        slow.sendall(b"GET / HT")
        while slow.recv(4096):
            pass


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        (b"", b""),
        (b"GET / HT", b""),
        (b"POST /large HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{", b""),
        (b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n", b"H"),
    ],
    ids=["silent", "half a request", "half a body", "never reading on"],
)
def test_connections_that_do_nothing_give_way_to_one_that_asks(
    monkeypatch: pytest.MonkeyPatch, said: bytes, heard: bytes
) -> None:
    """They are as many as there may be, and of the same address, as on one machine or behind a proxy. Until its answer
    begins, a connection is at work and keeps its place."""
    monkeypatch.setattr(connections, "QUIET_S", 0.0)
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 8)
    with listening() as address, ExitStack() as opened:
        for _ in range(8):
            idle = opened.enter_context(socket.create_connection(address, timeout=30))
            idle.sendall(said)
            assert idle.recv(len(heard)) == heard
        for _ in range(3):
            with closing(HTTPConnection(*address, timeout=30)) as one:
                assert status(one) == 404


def test_a_connection_more_than_there_may_be_is_closed_where_all_are_at_work(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 2)
    with (
        listening() as address,
        closing(HTTPConnection(*address, timeout=30)) as first,
        closing(HTTPConnection(*address, timeout=30)) as second,
        closing(HTTPConnection(*address, timeout=30)) as third,
    ):
        for one in (first, second):
            one.request("GET", "/begun")
            assert one.getresponse().read(5) == b"begun"  # the rest does not come
        third.connect()
        third.auto_open = 0
        with pytest.raises(ConnectionError):
            status(third)
        assert second.sock is not None
    assert [record.getMessage() for record in caplog.records if record.name == "asyncio"] == []


def test_one_address_leaves_room_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST_OF_A_CLIENT", 2)
    with listening() as address, ExitStack() as opened:
        for _ in range(2):
            busy = opened.enter_context(closing(HTTPConnection(*address, timeout=30)))
            busy.request("GET", "/begun")
            assert busy.getresponse().read(5) == b"begun"
        with closing(HTTPConnection(*address, timeout=30)) as third, pytest.raises(ConnectionError):
            status(third)
        other = HTTPConnection(*address, timeout=30, source_address=("127.0.0.2", 0))
        with closing(other):
            assert status(other) == 404


def status(one: HTTPConnection) -> int:
    one.request("GET", "/none")
    answer = one.getresponse()
    answer.read()
    return answer.status


def test_small_answers_are_not_held_back(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    made = Connection.connection_made

    def watched(self: Connection, transport: object) -> None:
        made(self, transport)  # type: ignore[arg-type]
        connected = transport.get_extra_info("socket")  # type: ignore[attr-defined]
        seen.append(connected.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    monkeypatch.setattr(Connection, "connection_made", watched)
    with listening() as address, socket.create_connection(address, timeout=30) as one:
        answered(one)
    assert seen == [1]


def test_an_idle_connection_is_kept_longer_than_clients_use_it() -> None:
    assert config_of(FastAPI()).timeout_keep_alive >= 2 * (httpx2.Limits().keepalive_expiry or 0) > 0
