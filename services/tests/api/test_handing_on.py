"""What an API hands on that does not write, and what it answers if nobody writes. `tests/service` has two processes."""

from dataclasses import dataclass

import httpx2
import pytest
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from kexbench.api.app import create_app
from kexbench.api.calling import API_PREFIX
from kexbench.api.dependencies import supplies_of
from kexbench.api.handing_on import _OF_WRITER
from kexbench.api.webhooks import _doorbell
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.cluster import Names
from tests.api.conftest import ClientOf, assert_problem

WRITES = f"{API_PREFIX}/runs"


@dataclass
class Follower:
    url: str | None = None
    knows_schema: bool = True

    def leads(self) -> bool:
        return False

    def answers(self) -> bool:
        return self.knows_schema

    def writer_url(self) -> str | None:
        return self.url


def a_client(store: ClickHouseStore, client_of: ClientOf, follower: Follower) -> httpx2.Client:
    return client_of(create_app(store, Names(), None, writing=follower))


def test_it_answers_readers_and_no_writes_while_nobody_writes(
    empty_store: ClickHouseStore, client_of: ClientOf
) -> None:
    client = a_client(empty_store, client_of, Follower())
    assert client.get(f"{API_PREFIX}/runs").json() == {"runs": [], "next_before": None}
    refused = client.post(WRITES, json={}, headers={"Authorization": "Bearer submitter"})
    assert_problem(refused, 503, "no process writes to the store at the moment")
    assert refused.headers["Retry-After"] == "2"


def test_a_writer_that_is_gone_is_reported_before_anything_was_sent(
    empty_store: ClickHouseStore, client_of: ClientOf
) -> None:
    client = a_client(empty_store, client_of, Follower("http://127.0.0.1:9"))
    assert_problem(client.post(WRITES, json={}), 503, "the process that writes to the store does not answer")


def test_what_was_handed_on_goes_no_further(empty_store: ClickHouseStore, client_of: ClientOf) -> None:
    client = a_client(empty_store, client_of, Follower("http://127.0.0.1:9"))
    refused = client.post(WRITES, json={}, headers={"X-Kexbench-Handed-On": "1"})
    assert_problem(refused, 503, "no process writes to the store at the moment")


def test_it_hands_on_readers_too_while_it_does_not_know_the_schema(
    empty_store: ClickHouseStore, client_of: ClientOf
) -> None:
    client = a_client(empty_store, client_of, Follower(knows_schema=False))
    assert client.get(f"{API_PREFIX}/runs").status_code == 503
    assert client.get(f"{API_PREFIX}/health").status_code == 200
    assert client.get("/healthz").text == "OK"


@pytest.mark.parametrize("path", ["/kits/0123456789abcdef", "/runs/x/material/a.pem", "/runs/x/kits", "/rings"])
def test_what_only_the_writer_has_is_handed_on(empty_store: ClickHouseStore, client_of: ClientOf, path: str) -> None:
    client = a_client(empty_store, client_of, Follower())
    assert client.get(f"{API_PREFIX}{path}").status_code == 503


def test_every_route_that_reads_files_or_memory_of_the_writer_is_known(empty_store: ClickHouseStore) -> None:
    app = create_app(empty_store, Names(), None)
    routes = [route for route in app.routes if isinstance(route, APIRoute) and "GET" in (route.methods or ())]
    named = {route.path for route in routes if _needs(route.dependant, supplies_of, _doorbell)}
    named |= {route.path for route in routes if route.name == "back_up"}
    assert len(named) == 5
    assert {route.path for route in routes if _OF_WRITER.fullmatch(route.path)} == named


def _needs(dependant: Dependant, *calls: object) -> bool:
    return any(child.call in calls or _needs(child, *calls) for child in dependant.dependencies)


def test_one_machine_has_nobody_to_hand_on_to(empty_store: ClickHouseStore) -> None:
    app = create_app(empty_store, Names(), None)
    assert "HandOn" not in [getattr(middleware.cls, "__name__", "") for middleware in app.user_middleware]
