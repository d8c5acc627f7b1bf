"""What is refused before anything of a request is looked at."""

import asyncio
from http import HTTPStatus

import httpx
import pytest
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from kexbench.api import gate
from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.api.calling import API_PREFIX
from kexbench.api.gate import Gate, Reading
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.conftest import SECRET, ClientOf, assert_problem


def asked_as(client: httpx.Client, host: str) -> httpx.Response:
    return client.get(f"{API_PREFIX}/health", headers={"Host": host})


@pytest.fixture
def client(empty_store: ClickHouseStore, client_of: ClientOf) -> httpx.Client:
    app = create_app(empty_store, LocalGatekeeper(SECRET), None, hosts=("bench.example.org", "kexbench-api"))
    return client_of(app)


@pytest.mark.parametrize(
    "host",
    [
        *("localhost", "localhost:8350", "LOCALHOST", "127.0.0.1:8350", "[::1]:8350", "10.2.3.4:8350"),
        *("bench.example.org", "Bench.Example.org.:443", "kexbench-api:8350"),
    ],
)
def test_a_service_answers_under_its_own_names_and_by_addresses(client: httpx.Client, host: str) -> None:
    assert asked_as(client, host).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "evil.example:8350", "127.0.0.1.evil.example", "", "[evil]"]
)
def test_a_page_whose_name_was_made_to_lead_here_reads_nothing(client: httpx.Client, host: str) -> None:
    answer = asked_as(client, host)
    assert_problem(answer, HTTPStatus.MISDIRECTED_REQUEST, host.partition(":")[0].strip("[]"))
    assert "KEXBENCH_ALLOWED_HOSTS" in answer.json()["remedy"]
    assert answer.headers["connection"] == "close"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_any_host_is_allowed_by_a_star(empty_store: ClickHouseStore, client_of: ClientOf) -> None:
    client = client_of(create_app(empty_store, LocalGatekeeper(SECRET), None, hosts=("*",)))
    assert asked_as(client, "anything.example").status_code == 200


SCOPE: Scope = {"type": "http", "method": "POST", "path": f"{API_PREFIX}/runs", "headers": [(b"host", b"localhost")]}


async def whole_body(scope: Scope, receive: Receive, send: Send) -> None:
    while (await receive()).get("more_body"):
        pass
    await Response()(scope, receive, send)


async def no_answer(_: Message) -> None:
    pass


def test_a_body_that_stops_arriving_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "PAUSE_S", 0.01)
    pieces: list[Message] = [{"type": "http.request", "body": b"half", "more_body": True}]

    async def receive() -> Message:
        return pieces.pop() if pieces else await asyncio.Event().wait()  # type: ignore[return-value]

    with pytest.raises(HTTPException) as raised:
        asyncio.run(Gate(whole_body)(SCOPE, receive, no_answer))
    assert raised.value.status_code == HTTPStatus.REQUEST_TIMEOUT
    assert raised.value.headers == {"Connection": "close"}


def test_whoever_is_gone_is_waited_for_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the body: that is how an application learns that nobody is there any more."""
    monkeypatch.setattr(gate, "PAUSE_S", 0.0)
    seen: list[str] = []

    async def app(_: Scope, receive: Receive, __: Send) -> None:
        seen.extend([(await receive())["type"], (await receive())["type"]])

    messages: list[Message] = [{"type": "http.disconnect"}, {"type": "http.request", "body": b""}]

    async def receive() -> Message:
        message = messages.pop()
        if message["type"] == "http.disconnect":
            await asyncio.sleep(0)
        return message

    monkeypatch.setattr(gate, "PAUSE_S", 10.0)
    asyncio.run(Gate(app)(SCOPE, receive, no_answer))
    assert seen == ["http.request", "http.disconnect"]


def test_a_body_with_more_faults_than_anybody_reads_is_refused_by_their_number(
    empty_store: ClickHouseStore, client_of: ClientOf
) -> None:
    client = client_of(create_app(empty_store, LocalGatekeeper(SECRET), None))
    body = {"spec_text": "", **{f"unknown{number}": 1 for number in range(50_000)}}
    answer = client.post(f"{API_PREFIX}/runs", json=body)
    assert_problem(answer, 422, "at 50,001 places")
    assert len(answer.content) < 1000


def test_what_readers_take_is_counted_and_health_is_not(empty_store: ClickHouseStore, client_of: ClientOf) -> None:
    app = create_app(empty_store, LocalGatekeeper(SECRET), None)
    reading: Reading = app.state.reading
    client = client_of(app)
    client.get(f"{API_PREFIX}/health")
    client.get("/")
    client.put(f"{API_PREFIX}/runs/one")
    assert reading.spent_s == 0
    client.get(f"{API_PREFIX}/runs")
    assert reading.spent_s > 0
