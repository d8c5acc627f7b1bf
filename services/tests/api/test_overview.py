"""The overview: what is new of each library, in the words of its upgrade's report, and what measures now."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import httpx2
import pytest

from kexbench.api.access import LocalGatekeeper
from kexbench.api.app import create_app
from kexbench.api.calling import API_PREFIX
from kexbench.domain.runs import RunState
from kexbench.planning.catalogue import read_catalogue
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.asking import upgrade_report
from tests.api.conftest import SECRET, ClientOf, assert_problem
from tests.api.test_upgrades import CATALOGUE, ONE, THREE, TWO, VERSIONS, measured
from tests.builders import ECDSA, HOST, RSA, an_event, an_invocation

OTHER_CPU = HOST.model_copy(update={"cpu_model": "Other CPU"})
OTHER_SPEC = VERSIONS.replace("name: example", "name: other").replace("[RSA, ECDHE-ECDSA]", "[RSA]")


@pytest.fixture
def client(empty_store: ClickHouseStore, client_of: ClientOf) -> Iterator[httpx2.Client]:
    app = create_app(
        empty_store, LocalGatekeeper(SECRET), None, catalogue=lambda: read_catalogue(CATALOGUE, "libraries.yaml")
    )
    with client_of(app) as client:
        client.base_url = httpx2.URL(f"http://localhost{API_PREFIX}")
        yield client


def overview(client: httpx2.Client) -> dict[str, Any]:
    answer: dict[str, Any] = client.get("/overview").raise_for_status().json()
    return answer


def test_an_empty_store_has_an_empty_overview(client: httpx2.Client) -> None:
    assert overview(client) == {"libraries": [], "under_way": [], "waiting": 0, "specs": {}, "views": []}


def test_the_newest_upgrade_is_worded_as_in_its_report(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.02, THREE: 1.05})
    measured(empty_store, "other", {TWO: 1.0, THREE: 1.0}, host=OTHER_CPU)
    (library,) = overview(client)["libraries"]
    upgrade = library["upgrade"]
    report = upgrade_report(client, *(upgrade[end]["version"] for end in ("before", "after")))
    assert (upgrade["before"]["version"], upgrade["after"]["version"]) == ("1.1", "1.2")
    assert upgrade["sentence"] == report["sentence"]
    assert upgrade["counts"] == {"more": 2, "same": 2}


def test_tracked_versions_newer_than_all_measured_ones_are_listed(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, "one", {ONE: 1.0})
    (library,) = overview(client)["libraries"]
    assert (library["newest"]["version"], library["upgrade"]) == ("1.0", None)
    assert library["unmeasured"] == ["1.1", "1.2", "1.3"]


def test_runs_under_way_and_waiting_runs_are_counted_apart(client: httpx2.Client, empty_store: ClickHouseStore) -> None:
    running = measured(empty_store, "running", {ONE: 1.0, TWO: 1.0})
    waiting = measured(empty_store, "waiting", {}, cases=(), spec=OTHER_SPEC)
    empty_store.add_event(an_event(running, RunState.RUNNING))
    empty_store.add_event(an_event(waiting, RunState.QUEUED))
    answer = overview(client)
    assert [(run["run_id"], run["invocations_stored"]) for run in answer["under_way"]] == [("running", 20)]
    assert answer["waiting"] == 1
    assert list(answer["specs"]) == ["example"]


def test_a_delivery_has_only_its_own_run_counted_again(
    client: httpx2.Client, empty_store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = (measured(empty_store, name, {ONE: 1.0}) for name in ("one", "other"))
    for run in (one, other):
        empty_store.add_event(an_event(run, RunState.RUNNING))
    counted: list[str] = []
    count = empty_store.stored_by_job

    def counting(run_id: str, before: datetime | None = None) -> dict[str, int]:
        counted.append(run_id)
        return count(run_id, before)

    monkeypatch.setattr(empty_store, "stored_by_job", counting)
    assert len(overview(client)["under_way"]) == 2
    assert set(counted) == {"one", "other"}
    counted.clear()
    empty_store.add_invocation(one, an_invocation(one, 0, cpu_ns={ONE: 2.0}))
    assert len(overview(client)["under_way"]) == 2
    assert set(counted) == {"one"}


def test_the_matrix_of_a_spec_has_only_what_its_newest_run_measured(
    client: httpx2.Client, empty_store: ClickHouseStore
) -> None:
    measured(empty_store, "one", {ONE: 1.0, TWO: 1.02, THREE: 1.02})
    measured(empty_store, "two", {TWO: 1.0, THREE: 1.02}, cases=(RSA,), spec=OTHER_SPEC.replace("1.0, ", ""))

    def shown(**asked: str) -> tuple[list[str], list[str]]:
        matrix = client.get("/matrix", params=asked).raise_for_status().json()
        return [case["id"] for case in matrix["cases"]], [subject["version"] for subject in matrix["subjects"]]

    assert shown() == ([RSA, ECDSA], ["1.0", "1.1", "1.2"])
    assert shown(spec="other") == ([RSA], ["1.1", "1.2"])
    assert_problem(client.get("/matrix", params={"spec": "none"}), 404, "none")
