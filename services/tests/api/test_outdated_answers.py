"""Readers that accept answers from before what was stored in the last seconds, and those that do not."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from threading import Event, Timer

import httpx2
import pytest

from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.api.caching import MOST_OUTDATED_S, Answers
from kexbench.api.calling import API_PREFIX
from kexbench.store.clickhouse import ClickHouseStore
from kexbench.store.port import RunKey
from tests.api.conftest import SECRET, ClientOf
from tests.builders import a_run, an_invocation
from tests.serving import serving

LENIENT = {"Cache-Control": "max-stale=5"}


@dataclass
class Clock:
    now_s: float = 1000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def client(empty_store: ClickHouseStore, client_of: ClientOf) -> Iterator[httpx2.Client]:
    """Of a service for which no time passes: a busy machine may take seconds for an insert."""
    app = create_app(empty_store, LocalGatekeeper(SECRET), None)
    app.state.answers = Answers(app, Clock())
    with client_of(app) as client:
        client.base_url = httpx2.URL(f"http://localhost{API_PREFIX}")
        yield client


def age_s(answer: httpx2.Response) -> int:
    return int(answer.headers["age"])


@pytest.mark.parametrize("address", ["/filters", "/matrix", "/runs"])
def test_an_outdated_answer_is_given_while_the_new_one_is_computed(
    client: httpx2.Client, empty_store: ClickHouseStore, address: str
) -> None:
    first = client.get(address, headers=LENIENT)
    assert age_s(first) == 0, "nobody asked before"
    assert age_s(client.get(address, headers=LENIENT)) == 0, "nothing was stored since"
    run = a_run()
    empty_store.add_run(run)
    empty_store.add_invocation(run, an_invocation(run, cpu_ns={"fake@1.0": 1.0, "fake@1.1": 2.0}))

    outdated = client.get(address, headers=LENIENT)
    assert outdated.content == first.content
    assert 1 <= age_s(outdated) <= MOST_OUTDATED_S
    while age_s(newest := client.get(address, headers=LENIENT)):
        pass
    assert newest.content == client.get(address).content != first.content


def test_who_has_the_outdated_answer_is_not_sent_it_again(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    tag = client.get("/runs").headers["etag"]
    empty_store.add_run(a_run())
    answer = client.get("/runs", headers={**LENIENT, "If-None-Match": tag})
    assert (answer.status_code, answer.headers["etag"]) == (304, tag)
    assert age_s(answer) > 0


@pytest.mark.parametrize("accepted", ["", "no-cache", "max-age=5", "max-stale=0", "x-max-stale=5"])
def test_who_accepts_no_outdated_answer_gets_the_new_one(
    client: httpx2.Client, empty_store: ClickHouseStore, accepted: str
) -> None:
    client.get("/runs")
    empty_store.add_run(run := a_run())
    answer = client.get("/runs", headers={"Cache-Control": accepted})
    assert [each["run_id"] for each in answer.json()["runs"]] == [run.run_id]
    assert age_s(answer) == 0


@pytest.mark.parametrize("accepted", ["max-stale", "max-stale=3600"])
def test_an_answer_that_was_the_newest_one_long_ago_is_not_given(
    empty_store: ClickHouseStore, client_of: ClientOf, accepted: str
) -> None:
    app, clock = create_app(empty_store, LocalGatekeeper(SECRET), None), Clock()
    app.state.answers = Answers(app, clock)
    with client_of(app) as client:

        def asked() -> httpx2.Response:
            return client.get(f"{API_PREFIX}/runs", headers={"Cache-Control": accepted})

        asked()
        clock.now_s += MOST_OUTDATED_S + 1
        asked()  # still the newest one
        empty_store.add_run(run := a_run())
        clock.now_s += MOST_OUTDATED_S - 0.5
        outdated = asked()
        assert (outdated.json()["runs"], age_s(outdated)) == ([], MOST_OUTDATED_S)
        clock.now_s += 1
        assert [each["run_id"] for each in asked().json()["runs"]] == [run.run_id]


def test_a_service_ends_after_the_answer_that_is_being_renewed(
    empty_store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its store is closed next, which no query survives."""
    begun, allowed, ended = Event(), Event(), Event()
    run_keys = empty_store.run_keys

    def slowly(limit: int, before: datetime | None) -> list[RunKey]:
        begun.set()
        assert allowed.wait(60)
        ended.set()
        return run_keys(limit, before)

    app = create_app(empty_store, LocalGatekeeper(SECRET), None)
    app.state.answers = Answers(app, Clock())
    with serving(app) as url:
        httpx2.get(f"{url}{API_PREFIX}/runs", timeout=60)
        empty_store.add_run(a_run())
        monkeypatch.setattr(empty_store, "run_keys", slowly)
        assert age_s(httpx2.get(f"{url}{API_PREFIX}/runs", headers=LENIENT, timeout=60)) > 0
        assert begun.wait(60)
        Timer(0.2, allowed.set).start()
    assert ended.is_set()


def test_an_answer_that_cannot_be_renewed_keeps_no_other_from_it(
    client: httpx2.Client, empty_store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    addresses = ("/filters", "/runs")
    for address in addresses:
        client.get(address, headers=LENIENT)
    get = httpx2.AsyncClient.get

    async def refused(asking: httpx2.AsyncClient, url: str) -> httpx2.Response:
        if "filters" in url:
            raise httpx2.InvalidURL("not an address")
        return await get(asking, url)

    monkeypatch.setattr(httpx2.AsyncClient, "get", refused)
    empty_store.add_run(a_run())
    for address in addresses:
        assert age_s(client.get(address, headers=LENIENT)) > 0
    while age_s(client.get("/runs", headers=LENIENT)):
        pass
    assert age_s(client.get("/filters", headers=LENIENT)) > 0
    assert age_s(client.get("/filters")) == 0


def test_a_badge_is_not_of_characters_that_nobody_sees(client: httpx2.Client) -> None:
    assert client.get("http://localhost/badge/openssl/%00.svg").status_code == 422
