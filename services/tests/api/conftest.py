"""The API around a real embedded store, without a socket."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import httpx2
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from fastapi import FastAPI

from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.api.calling import API_PREFIX, sign_run_token
from kexbench.domain.runs import Run
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.documented import documented_statuses

SECRET = "s" * 64
ClientOf = Callable[[FastAPI], httpx2.Client]


class AppTransport(httpx2.BaseTransport):
    """Hands requests to an application in this process. What the application raises is raised here, and an answer whose
    status the OpenAPI document does not tell is a fault of whichever test got it."""

    def __init__(self, app: FastAPI, portal: BlockingPortal) -> None:
        self._inner = httpx2.ASGITransport(app)
        self._portal = portal

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        return self._portal.call(self._handle, request)

    async def _handle(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._inner.handle_async_request(request)
        documented = documented_statuses(request.method, request.url.path)
        assert documented is None or response.status_code in documented, (
            f"{request.method} {request.url.path} answers {response.status_code}, which its document does not tell"
        )
        body = httpx2.ByteStream(b"".join([piece async for piece in response.aiter_raw()]))
        return httpx2.Response(response.status_code, headers=response.headers, stream=body)


@pytest.fixture
def client_of() -> Iterator[ClientOf]:
    apps: list[FastAPI] = []

    def client_of(app: FastAPI) -> httpx2.Client:
        apps.append(app)
        return httpx2.Client(transport=AppTransport(app, portal), base_url="http://localhost")

    with start_blocking_portal() as portal:
        yield client_of
        for app in apps:  # the store that they read is closed next
            portal.call(app.state.answers.end)


@pytest.fixture
def client(empty_store: ClickHouseStore, client_of: ClientOf) -> Iterator[httpx2.Client]:
    """Its addresses begin behind the API's prefix."""
    with client_of(create_app(empty_store, LocalGatekeeper(SECRET), None)) as client:
        client.base_url = httpx2.URL(f"http://localhost{API_PREFIX}")
        yield client


def token(run_id: str, secret: str = SECRET, now: datetime | None = None) -> dict[str, str]:
    """The header that lets a runner write its run."""
    return {"Authorization": f"Bearer {sign_run_token(run_id, secret, now=now or datetime.now(UTC))}"}


def put(client: httpx2.Client, run: Run, **changes: object) -> httpx2.Response:
    body = run.model_dump(mode="json") | changes
    return client.put(f"/runs/{run.run_id}", json=body, headers=token(run.run_id))


def assert_problem(response: httpx2.Response, status: int, *says: str) -> None:
    """An RFC 9457 problem that says what is wrong."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert problem["status"] == status
    assert problem["title"]
    for text in says:
        assert text in problem["detail"]
