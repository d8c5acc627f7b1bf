"""What is refused before anything of a request is looked at."""

import asyncio
import itertools
import re
from contextlib import suppress
from datetime import UTC, datetime
from http import HTTPStatus
from types import SimpleNamespace

import httpx2
import pytest
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kexbench.api import gate
from kexbench.api.access import Caller, LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.api.calling import API_PREFIX, sign_role_token
from kexbench.api.gate import MAX_QUESTION_BYTES, MAX_UPLOAD_BYTES, Gate, Reading
from kexbench.api.problems import ProblemError, problem_response
from kexbench.api.rights import RIGHTS
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.conftest import SECRET, ClientOf, assert_problem, token
from tests.api.documented import document


def submitter() -> dict[str, str]:
    return {"Authorization": f"Bearer {sign_role_token('alice', 'submitter', SECRET, now=datetime.now(UTC))}"}


class Roles:
    """A gatekeeper that takes the name of a role for the token."""

    def identify(self, token: str) -> Caller:
        (role,) = {role for roles in RIGHTS.values() for role in roles if role == token}
        return Caller(role, "alice")


def client_for(method: str, path: str, store: ClickHouseStore, client_of: ClientOf) -> httpx2.Client:
    """Whoever uses it may use this route."""
    operation = document()["paths"][path][method]["operationId"]
    client = client_of(create_app(store, Roles(), None))
    client.headers["Authorization"] = f"Bearer {min(RIGHTS.get(operation, {'submitter'}))}"
    return client


def asked_as(client: httpx2.Client, host: str) -> httpx2.Response:
    return client.get(f"{API_PREFIX}/health", headers={"Host": host})


@pytest.fixture
def client(empty_store: ClickHouseStore, client_of: ClientOf) -> httpx2.Client:
    app = create_app(empty_store, LocalGatekeeper(SECRET), None, hosts=("bench.example.org", "kexbench-api"))
    return client_of(app)


@pytest.mark.parametrize(
    "host",
    [
        *("localhost", "localhost:8350", "LOCALHOST", "127.0.0.1:8350", "[::1]:8350", "10.2.3.4:8350"),
        *("bench.example.org", "Bench.Example.org.:443", "kexbench-api:8350"),
    ],
)
def test_a_service_answers_under_its_own_names_and_by_addresses(client: httpx2.Client, host: str) -> None:
    assert asked_as(client, host).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "evil.example:8350", "127.0.0.1.evil.example", "", "[evil]"]
)
def test_a_page_whose_name_was_made_to_lead_here_reads_nothing(client: httpx2.Client, host: str) -> None:
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


def test_nothing_is_read_of_a_body_that_is_announced_as_too_large() -> None:
    """No part of it is held in memory, whoever sends it."""
    headers = [*SCOPE["headers"], (b"content-length", str(MAX_UPLOAD_BYTES + 1).encode())]
    answers: list[Message] = []

    async def receive() -> Message:
        raise AssertionError("it was read")

    async def send(message: Message) -> None:
        answers.append(message)

    asyncio.run(Gate(whole_body)({**SCOPE, "headers": headers}, receive, send))
    assert answers[0]["status"] == HTTPStatus.REQUEST_ENTITY_TOO_LARGE


def asked_in_pieces(monkeypatch: pytest.MonkeyPatch, piece: bytes, pieces: int) -> int:
    """How many pieces were taken of a body that has one a second."""
    seconds = itertools.count()
    monkeypatch.setattr(gate, "time", SimpleNamespace(monotonic=lambda: float(next(seconds))))
    taken = 0

    async def receive() -> Message:
        nonlocal taken
        taken += 1
        return {"type": "http.request", "body": piece, "more_body": taken < pieces}

    asyncio.run(Gate(whole_body)(SCOPE, receive, no_answer))
    return taken


def test_a_body_that_arrives_byte_by_byte_is_not_waited_for_either(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(HTTPException, match="too slowly: 30 bytes in 32 s") as raised:
        asked_in_pieces(monkeypatch, b"x", 100)
    assert raised.value.status_code == HTTPStatus.REQUEST_TIMEOUT


def test_a_body_that_arrives_fast_enough_may_take_longer_than_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked_in_pieces(monkeypatch, bytes(gate.SLOWEST_BYTES_S), 100) == 100


def test_a_body_is_not_slow_while_its_request_waits_for_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 0.0
    monkeypatch.setattr(gate, "time", SimpleNamespace(monotonic=lambda: now_s))
    seen: list[str] = []

    async def app(_: Scope, receive: Receive, __: Send) -> None:
        nonlocal now_s
        now_s = 10 * gate.PAUSE_S
        seen.append((await receive())["type"])

    async def receive() -> Message:
        await asyncio.sleep(0)
        return {"type": "http.request", "body": b""}

    asyncio.run(Gate(app)(SCOPE, receive, no_answer))
    assert seen == ["http.request"]


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
    answer = client.post(f"{API_PREFIX}/runs", json=body, headers=submitter())
    assert_problem(answer, 422, "in 50,001 places")
    assert len(answer.content) < 1000


def test_a_fault_with_a_long_name_is_answered_shortly(empty_store: ClickHouseStore, client_of: ClientOf) -> None:
    client = client_of(create_app(empty_store, LocalGatekeeper(SECRET), None))
    for length in (1000, 1 << 20):
        answer = client.post(f"{API_PREFIX}/runs/one/events", json={"n" * length: 1}, headers=token("one"))
        assert_problem(answer, 422, "body.nnn")
        assert len(answer.content) < 2000


WITH_BODY = [
    (method, path)
    for path, operations in document()["paths"].items()
    for method, operation in operations.items()
    if "requestBody" in operation and "/webhooks/" not in path
]


FOR_ANYBODY = {("post", f"{API_PREFIX}/capacity")}
"""What stores nothing takes a small body from anybody."""


class WatchedBody:
    """Notes what is read of a request."""

    def __init__(self, app: ASGIApp, read: list[Message]) -> None:
        self._app = app
        self._read = read

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def receive_watched() -> Message:
            message = await receive()
            if message["type"] == "http.request":
                self._read.append(message)
            return message

        await self._app(scope, receive_watched, send)


def test_a_body_from_anybody_is_small(empty_store: ClickHouseStore, client_of: ClientOf) -> None:
    client = client_of(create_app(empty_store, LocalGatekeeper(SECRET), None))
    for method, path in FOR_ANYBODY:
        assert_problem(client.request(method, path, content=b" " * (MAX_QUESTION_BYTES + 1)), 413)


@pytest.mark.parametrize(("method", "path"), [each for each in WITH_BODY if each not in FOR_ANYBODY])
def test_nothing_is_read_of_a_body_from_nobody(
    method: str, path: str, empty_store: ClickHouseStore, client_of: ClientOf
) -> None:
    """Whoever is known by no token can make this service neither hold a body in memory nor look at it."""
    app = create_app(empty_store, LocalGatekeeper(SECRET), None)
    read: list[Message] = []
    app.add_middleware(WatchedBody, read=read)
    client = client_of(app)
    body = {f"unknown{number}": 1 for number in range(30_000)}
    answer = client.request(method, re.sub(r"\{[^}]*\}", "1", path), json=body)
    assert_problem(answer, 401)
    assert read == []


@pytest.mark.parametrize(("method", "path"), WITH_BODY)
def test_every_body_with_more_faults_than_anybody_reads_is_refused_by_their_number(
    method: str, path: str, empty_store: ClickHouseStore, client_of: ClientOf
) -> None:
    client = client_for(method, path, empty_store, client_of)
    faulty = {f"unknown{number}": 1 for number in range(30_000)}
    body = [faulty] if path.endswith("/invocation-batches") else faulty
    answer = client.request(method, re.sub(r"\{[^}]*\}", "1", path), json=body)
    assert_problem(answer, 422, "places")
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


@pytest.mark.parametrize(("method", "path"), WITH_BODY)
def test_half_a_character_is_refused_wherever_it_stands(
    method: str, path: str, empty_store: ClickHouseStore, client_of: ClientOf
) -> None:
    """Neither a store nor an answer can write it."""
    client = client_for(method, path, empty_store, client_of)
    headers = {"Content-Type": "application/json"}
    for body in (b'{"cases": ["\\ud800"]}', b'[{"\\uDC00x": 1}]'):
        answer = client.request(method, re.sub(r"\{[^}]*\}", "1", path), content=body, headers=headers)
        assert_problem(answer, 422, "half a character")


def test_a_character_of_two_halves_is_whole(empty_store: ClickHouseStore, client_of: ClientOf) -> None:
    client = client_of(create_app(empty_store, LocalGatekeeper(SECRET), None))
    headers = {**token("one"), "Content-Type": "application/json"}
    answer = client.post(f"{API_PREFIX}/runs/one/events", content=b'{"\\ud83d\\ude42": 1}', headers=headers)
    assert_problem(answer, 422, "body.\U0001f642")


def test_an_answer_that_repeats_what_was_sent_is_bounded() -> None:
    assert len(problem_response(ProblemError(HTTPStatus.BAD_REQUEST, "x" * (1 << 20))).body) < 140_000


def test_a_path_that_is_longer_than_any_of_the_service_is_tried_on_no_route(client: httpx2.Client) -> None:
    answer = client.get(f"{API_PREFIX}/runs/{'a/' * 30_000}")
    assert_problem(answer, HTTPStatus.REQUEST_URI_TOO_LONG, "4096 characters")
    assert_problem(client.get(f"{API_PREFIX}/runs/{'a' * 4000}"), HTTPStatus.NOT_FOUND)


def test_a_wrong_method_is_answered_with_the_documented_ones_of_each_address(client: httpx2.Client) -> None:
    allowed, documented = {}, {}
    for path, operations in document()["paths"].items():
        address = re.sub(r"{\w+}", "1", path.replace("{library}", "fake"))
        answer = client.request("OPTIONS", address)
        assert answer.status_code == HTTPStatus.METHOD_NOT_ALLOWED
        allowed[path] = set(answer.headers["allow"].split(", "))
        documented[path] = {method.upper() for method in operations} | ({"HEAD"} if "get" in operations else set())
    assert allowed == documented


def test_a_client_that_leaves_before_its_answer_is_no_fault(empty_store: ClickHouseStore) -> None:
    """As a proxy or a browser does that no longer needs it: the server says so instead of a body."""
    app = create_app(empty_store, LocalGatekeeper(SECRET), None)
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "path": f"{API_PREFIX}/capacity",
        "raw_path": b"/",
        "query_string": b"",
        "root_path": "",
        "server": ("localhost", 80),
        "client": ("a", 1),
        "headers": [(b"host", b"localhost"), (b"content-length", b"100"), (b"content-type", b"application/json")],
    }
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    with suppress(ClientDisconnect):
        asyncio.run(app(scope, receive, send))
    assert all(message["type"].startswith("http.response") for message in sent)
