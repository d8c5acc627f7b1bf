"""Nodes of one pool that are not comparable are named, with what they differ in."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from kexbench.store.clickhouse import ClickHouseStore
from tests.api.cluster import ClusterApi, an_attempt, cluster_api
from tests.api.conftest import ClientOf
from tests.builders import HOST, NOON, a_run, an_invocation

SLOW = HOST.model_copy(update={"governor": "powersave", "microcode": "0x1"})
FAST = HOST.model_copy(update={"governor": "performance", "microcode": "0x1"})
RECYCLED = FAST.model_copy(update={"kernel": "6.1.1", "memory_bytes": 1})
POOL = "pool-a"


@pytest.fixture
def api(empty_store: ClickHouseStore, client_of: ClientOf, tmp_path: Path) -> ClusterApi:
    return cluster_api(empty_store, client_of, tmp_path)


def kinds(mixed: dict[str, Any]) -> list[tuple[list[str], list[str]]]:
    return [(kind["nodes"], kind["traits"]) for kind in mixed["kinds"]]


def test_a_run_names_the_nodes_of_a_pool_that_are_not_comparable(api: ClusterApi) -> None:
    run = api.started()
    for number, (node, host) in enumerate((("a", FAST), ("b", SLOW), ("c", RECYCLED)), start=1):
        tried = an_attempt(run, uid=node, attempt=number, host=host).model_copy(update={"node": node})
        api.store.add_attempt(tried, POOL)
    (mixed,) = api.http.get(f"/runs/{run.run_id}").json()["mixed_pools"]
    assert mixed["pool"] == POOL
    assert kinds(mixed) == [(["a", "c"], ["governor performance"]), (["b"], ["governor powersave"])]


def test_nodes_that_are_comparable_are_no_mixture(api: ClusterApi) -> None:
    run = api.started()
    for number, host in enumerate((FAST, RECYCLED), start=1):
        api.store.add_attempt(an_attempt(run, uid=str(number), attempt=number, host=host), POOL)
    assert api.http.get(f"/runs/{run.run_id}").json()["mixed_pools"] == []


def test_a_machine_by_itself_is_no_mixture(api: ClusterApi) -> None:
    api.store.add_run(a_run("alone"))
    assert api.http.get("/runs/alone").json()["mixed_pools"] == []


def test_a_pool_is_mixed_by_what_its_nodes_were_last_and_lately(api: ClusterApi) -> None:
    """What they were before is over, and a node that had no job for a week may be gone."""
    run = api.started()
    assert api.announce(run, host=FAST).status_code == 204
    upload = an_invocation(run, cpu_ns={"fake@1.0": [1.0]}, host=FAST).model_dump(mode="json")
    who = f"pod {run.run_id} {run.plan.jobs[0].job_id} uid-1"
    assert api.ask(who, "POST", f"/runs/{run.run_id}/invocations", upload).status_code == 204

    def mixed() -> Any:
        return api.http.get("/qualifications", params={"pool": POOL}).json()["mixed_pool"]

    def announce(number: int, node: str, host: Any, days: int) -> None:
        changed = {"node": node, "started_at": NOON + timedelta(days=days)}
        tried = an_attempt(run, uid=str(number), attempt=number, host=host).model_copy(update=changed)
        api.store.add_attempt(tried, POOL)

    assert mixed() is None
    announce(2, "node-2", SLOW, 1)
    assert kinds(mixed()) == [(["node-1"], ["governor performance"]), (["node-2"], ["governor powersave"])]
    announce(3, "node-1", SLOW, 2)
    assert mixed() is None
    announce(4, "node-3", FAST, 3)
    assert [nodes for nodes, _ in kinds(mixed())] == [["node-1", "node-2"], ["node-3"]]
    announce(5, "node-3", FAST, 8)
    assert [nodes for nodes, _ in kinds(mixed())] == [["node-3"], ["node-1"]]
    announce(6, "node-3", FAST, 9)
    assert mixed() is None
