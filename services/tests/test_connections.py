"""Connections of the service, by real sockets: how many there may be, and how long one may say nothing."""

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection

import httpx
import pytest
import uvicorn
from fastapi import FastAPI

from kexbench.service import connections
from kexbench.service.connections import Connection, config_of

REQUEST = b"GET /none HTTP/1.1\r\nHost: localhost\r\n\r\n"


@contextmanager
def listening() -> Iterator[tuple[str, int]]:
    bound = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(config_of(FastAPI()))
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


def test_one_connection_more_than_there_may_be_is_closed_and_the_others_are_served(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 2)
    with (
        listening() as address,
        closing(HTTPConnection(*address, timeout=30)) as first,
        closing(HTTPConnection(*address, timeout=30)) as second,
        closing(HTTPConnection(*address, timeout=30)) as third,
    ):
        for one in (first, second):
            one.connect()
            one.auto_open = 0  # else it would connect once more where it was closed
            assert status(one) == 404
        with pytest.raises(ConnectionError):
            status(third)
        assert [status(one) for one in (first, second)] == [404, 404]


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
    assert config_of(FastAPI()).timeout_keep_alive >= 2 * (httpx.Limits().keepalive_expiry or 0) > 0
