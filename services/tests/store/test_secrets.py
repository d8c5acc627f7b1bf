"""A ClickHouse server that is away, refuses or breaks off costs an answer; its password reaches nobody."""

import logging
import socketserver
import threading
import traceback
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from http import HTTPStatus
from unittest.mock import Mock

import httpx2
import pytest
from anyio.from_thread import start_blocking_portal
from clickhouse_connect.driver.exceptions import OperationalError
from clickhouse_connect.driver.query import QueryResult

from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.settings import Settings
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.migrate import EngineClauses
from kexbench.store.port import StoreAway, StoreError
from kexbench.wiring import Installation
from tests.api.conftest import SECRET, AppTransport

PASSWORD = "s3cret-w@rd"
QUOTED = "s3cret-w%40rd"
ADDRESS = "reader:{password}@127.0.0.1:{port}"
REFUSED = "HTTP/1.1 403 Forbidden\r\nX-ClickHouse-Exception-Code: 516\r\nContent-Length: {length}\r\n\r\n"
CUT_OFF = b"HTTP/1.1 200 OK\r\nX-ClickHouse-Format: Native\r\nContent-Length: 100000\r\n\r\nfirst bytes"
READ = (
    "/api/v1/runs",
    "/api/v1/filters",
    "/api/v1/queue",
    "/api/v1/health",
    "/metrics",
    "/api/v1/alerts",
)


class _Faulty(socketserver.StreamRequestHandler):
    """Says the password where a server could, and breaks off where one can."""

    answer: bytes

    def handle(self) -> None:
        length = 0
        while (line := self.rfile.readline()).strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        self.rfile.read(length)
        self.wfile.write(self.answer)


@pytest.fixture(params=["away", "refusing", "cut off"])
def fault(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a server with a fault."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Faulty) as server:
        port = server.server_address[1]
        address = "http://" + ADDRESS.format(password=QUOTED, port=port)
        text = f"Code: 516. DB::Exception: reader: {PASSWORD} of {address} is wrong. (AUTHENTICATION_FAILED)".encode()
        refused = REFUSED.format(length=len(text)).encode() + text
        _Faulty.answer = {"away": b"", "refusing": refused, "cut off": CUT_OFF}[request.param]
        if request.param == "away":
            server.server_close()
            yield address
            return
        serving = threading.Thread(target=server.serve_forever, args=(0.01,))
        serving.start()
        yield address
        server.shutdown()
        serving.join()


def test_a_server_that_does_not_answer_yet_is_waited_for_and_one_that_refuses_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Faulty) as server:
        port = server.server_address[1]
    monkeypatch.setenv("KEXBENCH_STORE_URL", "http://" + ADDRESS.format(password=QUOTED, port=port))
    _Faulty.answer = REFUSED.format(length=0).encode()
    waited: list[str] = []
    with ExitStack() as stack:

        def start(why: str) -> None:
            waited.append(why)
            server = stack.enter_context(socketserver.ThreadingTCPServer(("127.0.0.1", port), _Faulty))
            serving = threading.Thread(target=server.serve_forever, args=(0.01,))
            serving.start()
            stack.callback(serving.join)
            stack.callback(server.shutdown)

        with pytest.raises(StoreError, match="refuses the user name"):
            Installation(Settings()).open_store(start)
    assert waited == ["the ClickHouse server does not answer: waiting for it"]
    with pytest.raises(StoreAway):
        Installation(Settings()).open_store()


def has_secret(text: str) -> bool:
    return PASSWORD in text or QUOTED in text


def test_no_answer_and_no_log_has_the_password_however_many_ask(fault: str, caplog: pytest.LogCaptureFixture) -> None:
    store = ClickHouseStore(fault, "kexbench", EngineClauses())
    app = create_app(store, LocalGatekeeper(SECRET), None)
    with caplog.at_level(logging.DEBUG), start_blocking_portal() as portal, ThreadPoolExecutor(12) as readers:

        def read(path: str) -> httpx2.Response:
            with httpx2.Client(transport=AppTransport(app, portal), base_url="http://localhost") as client:
                return client.get(path)

        answers = list(readers.map(read, READ * 6))
    refused = [answer for answer in answers if answer.status_code == HTTPStatus.SERVICE_UNAVAILABLE]
    assert len(refused) >= len(answers) // 2
    assert not [answer.text for answer in answers if has_secret(answer.text)]
    assert not has_secret(caplog.text)  # with the tracebacks
    assert "ClickHouse" in refused[0].json()["detail"]


def test_a_server_that_is_away_is_one_line_of_the_log_until_it_answers(caplog: pytest.LogCaptureFixture) -> None:
    store = ClickHouseStore("http://127.0.0.1:1", "kexbench", EngineClauses())
    for _ in range(3):
        with pytest.raises(StoreAway):
            store.check_readable()
    assert [record.getMessage().partition(":")[0] for record in caplog.records] == ["ClickHouse does not open"]


def test_what_is_raised_has_the_password_in_none_of_its_causes(fault: str) -> None:
    store = ClickHouseStore(fault, "kexbench", EngineClauses())
    with pytest.raises(StoreError) as raised:
        store.migrate()
    assert not has_secret("".join(traceback.format_exception(raised.value)))


def test_an_answer_that_breaks_off_after_its_first_rows_has_the_password_nowhere(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    address = "http://" + ADDRESS.format(password=QUOTED, port=8123)
    store = ClickHouseStore(address, "kexbench", EngineClauses())

    def breaks_off() -> Generator[list[list[str]]]:
        yield [["first"]]
        raise OperationalError(f"Failed to read the answer of {address}")

    client = Mock(query=lambda *_, **__: QueryResult(block_gen=breaks_off(), column_names=("run_id",)))
    monkeypatch.setattr(ClickHouseStore, "_client", client)
    with caplog.at_level(logging.DEBUG), pytest.raises(StoreError) as raised:
        store.open_runs()
    assert not has_secret("".join(traceback.format_exception(raised.value)))
    assert not has_secret(caplog.text)


@pytest.mark.parametrize("wrong", ["http://reader:s3cret-w@rd#1@h:no", "http://reader:s3cret-w%40rd@h:no", "h:no"])
def test_an_address_that_is_none_is_refused_without_being_shown(wrong: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises(StoreError, match="KEXBENCH_STORE_URL") as raised:
        ClickHouseStore(wrong, "kexbench", EngineClauses()).migrate()
    assert "s3cret" not in "".join(traceback.format_exception(raised.value)) + caplog.text


def test_settings_do_not_show_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEXBENCH_STORE_URL", "http://" + ADDRESS.format(password=QUOTED, port=8123))
    assert not has_secret(repr(Settings()))
