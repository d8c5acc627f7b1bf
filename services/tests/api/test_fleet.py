"""Machines side by side: a slow one is named, and one that is set aside counts nowhere until it is returned."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kexbench.api.metrics import NODES_AGE
from kexbench.api.monitoring import Monitoring
from kexbench.domain.fleet import SetAside
from kexbench.domain.plans import SENTINEL, Isolation
from kexbench.domain.runs import Run, RunReason, RunState
from kexbench.domain.samples import OutcomeKind
from kexbench.queue.troubles import Troubles
from tests.api.cluster import ClusterApi, an_attempt, cluster_api
from tests.api.conftest import ClientOf, assert_problem
from tests.builders import HOST, NOON, RSA, a_kit, a_run, an_event, an_invocation, an_outcome
from tests.stores import raw

ONE, TWO = "fake@1.0", "fake@1.1"
FROZEN = a_kit("openssl@system", version="3.0.2")
POOL = "local"
"""As the plan of `a_run` names it; its runs have attempts here, as those of a cluster."""
ANSWERS = (
    *("/filters", "/matrix", "/upgrades", "/overview", "/runs/day-1", "/runs/day-1/verdict", "/export?metric=cpu_ns"),
    *(f"/trends?levels=true&case_id={RSA}", "/compare?base=fake@1.0&other=fake@1.1"),
)
NODES = {"node-a": 1.0, "node-b": 1.03}


@pytest.fixture
def api(empty_store: Any, client_of: ClientOf, tmp_path: Path) -> ClusterApi:
    return cluster_api(empty_store, client_of, tmp_path)


def measured(api: ClusterApi, day: int, nodes: dict[str, float], seed: int = 0) -> Run:
    """A run whose invocations are shared by nodes, each with its own speed. 1.1 costs 2% more than 1.0."""
    chance = np.random.default_rng((seed, day))
    run = a_run(f"day-{day}", kits={SENTINEL: FROZEN}, created_at=NOON + timedelta(days=day), host=None)
    api.store.add_run(run)
    for place, (node, speed) in enumerate(nodes.items()):
        own = run.plan.jobs[place :: len(nodes)]
        for number, job in enumerate(own):
            announced(api, run, node, run.plan.jobs.index(job), f"{node}-{number}")
        of_day = speed * np.exp(chance.normal(0, 0.0002))
        noise = np.exp(chance.normal(0, 0.001, 6))
        api.store.add_invocations(
            run,
            [
                an_invocation(run, number, cpu_ns=costs(of_day * noise[number]), case_id=case.case_id)
                for case in run.plan.cases
                for job in own
                for number in job.numbers
            ],
            HOST,
        )
    api.store.add_event(an_event(run, RunState.FINISHED))
    return run


def costs(speed: float) -> dict[str, list[float]]:
    return {ONE: [4e8 * speed] * 4, TWO: [4.08e8 * speed] * 4, SENTINEL: [5e8 * speed] * 4}


def announced(api: ClusterApi, run: Run, node: str, job: int, uid: str, attempt: int = 1) -> None:
    tried = an_attempt(run, uid=uid, attempt=attempt, job=job)
    api.store.add_attempt(tried.model_copy(update={"node": node, "started_at": run.created_at}), POOL)


def nodes(api: ClusterApi) -> dict[str, dict[str, Any]]:
    (pool,) = api.http.get("/fleet").json()["pools"]
    return {node["node"]: node for node in pool["nodes"]}


def a_fleet(api: ClusterApi) -> None:
    """Four nodes: one is fine, one differs, one is silent for eleven days, and one is set aside."""
    measured(api, 0, {"node-c": 1.0, "node-d": 1.0})
    for day in (10, 11):
        measured(api, day, NODES)
    set_aside(api, "node-d", since="2026-01-01T00:00:00Z")


def set_aside(api: ClusterApi, node: str = "node-b", reason: str = "its fan failed", **more: Any) -> Any:
    body = {"pool": POOL, "node": node, "reason": reason, **more}
    return api.ask("triager", "POST", "/fleet/set-asides", body)


def give_back(api: ClusterApi, node: str = "node-b") -> Any:
    return api.ask("triager", "DELETE", f"/fleet/set-asides/{POOL}/{node}")


def answers(api: ClusterApi) -> dict[str, Any]:
    return {path: api.http.get(path).text for path in ANSWERS}


def test_an_empty_store_has_no_machines(api: ClusterApi) -> None:
    fleet = api.http.get("/fleet").json()
    assert (fleet["pools"], fleet["days"], fleet["until"]) == ([], [], None)
    assert "clock source" in fleet["not_stored"]


def test_a_slow_node_is_named_at_its_second_run(api: ClusterApi) -> None:
    measured(api, 0, NODES)
    assert [node["differs"] for node in nodes(api).values()] == [None, None]
    measured(api, 1, NODES)
    named = nodes(api)
    assert list(named) == ["node-b", "node-a"], "findings come first"
    assert named["node-a"]["differs"] is None
    differs = named["node-b"]["differs"]
    assert differs["ratio"] == pytest.approx(1.03, abs=0.002)
    assert 1.005 < differs["low"] < 1.03 < differs["high"] < 1.05
    assert (differs["runs"], differs["peers"]) == (2, 1)


def test_the_nodes_of_a_pool_come_in_the_order_of_what_needs_attention(api: ClusterApi) -> None:
    a_fleet(api)
    states = {name: (node["state"], node["silent_days"]) for name, node in nodes(api).items()}
    assert list(states.items()) == [
        ("node-b", ("differs", None)),
        ("node-c", ("silent", 11)),
        ("node-d", ("set aside", None)),
        ("node-a", ("fine", None)),
    ]


@pytest.mark.parametrize(("day", "silent_days"), [(7, None), (8, 8)])
def test_a_node_is_silent_after_a_week_without_a_result(api: ClusterApi, day: int, silent_days: int | None) -> None:
    measured(api, 0, {"node-c": 1.0, "node-a": 1.0})
    measured(api, day, {"node-a": 1.0})
    assert nodes(api)["node-c"]["silent_days"] == silent_days


@pytest.mark.parametrize("seed", range(5))
def test_equal_nodes_are_not_named(api: ClusterApi, seed: int) -> None:
    for day in range(3):
        measured(api, day, {"node-a": 1.0, "node-b": 1.0}, seed)
    assert [node["differs"] for node in nodes(api).values()] == [None, None]


def test_a_node_shows_what_it_did_and_how_fast_it_was(api: ClusterApi) -> None:
    for day in range(3):
        measured(api, day, NODES)
    fleet = api.http.get("/fleet").json()
    node = nodes(api)["node-b"]
    assert fleet["days"][0] == "2025-12-21"
    assert fleet["days"][-1] == "2026-01-03"
    assert node["days"] == [*[0] * 11, 6, 6, 6]
    assert node["last_seen"] == "2026-01-03T12:01:05Z"
    assert (node["host"]["cpu_model"], node["host"]["cpus"]) == (HOST.cpu_model, HOST.cpus)
    assert [point["run_id"] for point in node["sentinel"]] == ["day-0", "day-1", "day-2"]
    for point in node["sentinel"]:
        assert point["low"] < point["ratio"] < point["high"]
        assert point["ratio"] == pytest.approx(1.015, abs=0.003), "of the median of both nodes"
    assert node["smallest_detectable_change"] == pytest.approx(0.0015, abs=0.001)
    assert (node["jobs"], node["lost_jobs"], node["failed_jobs"], node["failures"]) == (3, 0, 0, {})


def test_lost_and_failed_jobs_are_counted_where_they_ran(api: ClusterApi) -> None:
    run = a_run(kits={SENTINEL: FROZEN}, host=None)
    api.store.add_run(run)
    announced(api, run, "node-a", 0, "one")
    announced(api, run, "node-b", 0, "two", attempt=2)
    api.store.add_invocation(run, an_invocation(run, cpu_ns=costs(1), attempt=2), HOST)
    announced(api, run, "node-b", 1, "three")
    api.store.add_event(an_event(run, RunState.FAILED, reason=RunReason.JOBS_FAILED))
    counts = {name: (node["jobs"], node["lost_jobs"], node["failed_jobs"]) for name, node in nodes(api).items()}
    assert counts == {"node-a": (1, 1, 0), "node-b": (2, 0, 1)}
    assert {node["state"] for node in nodes(api).values()} == {"jobs lost or failed"}


def test_a_node_has_the_findings_that_jobs_record(api: ClusterApi) -> None:
    slow = HOST.model_copy(update={"governor": "powersave", "turbo": False, "virtualisation": "none"})
    run = a_run(host=None)
    api.store.add_run(run)
    tried = an_attempt(run, host=slow).model_copy(update={"isolation": Isolation.BEST_EFFORT})
    api.store.add_attempt(tried, POOL)
    load = an_invocation(run).host_load.model_copy(update={"steal_share": 0.07, "sibling_busy_share": 0.01})
    crashed = [an_outcome(ONE, OutcomeKind.CRASHED, "segmentation fault")]
    api.store.add_invocation(run, an_invocation(run, outcomes=crashed, load=load, host=slow), slow)
    (node,) = nodes(api).values()
    assert [(each["name"], each["verdict"], each["found"]) for each in node["findings"]] == [
        ("frequency governor", "warning", "powersave"),
        ("stolen time", "warning", "7.0% by the hypervisor"),
        ("isolation", "warning", "its pod had no CPUs of its own"),
    ]
    assert node["failures"] == {"crashed": 1}


def test_a_laptop_is_a_pool_of_one(api: ClusterApi) -> None:
    run = a_run(kits={SENTINEL: FROZEN})
    api.store.add_run(run)
    api.store.add_invocations(run, [an_invocation(run, number, cpu_ns=costs(1)) for number in range(6)])
    (node,) = nodes(api).values()
    assert (node["node"], node["days"][-1], len(node["sentinel"])) == ("local", 6, 1)
    assert_problem(set_aside(api, "local"), 409, "the only node of its pool")


def test_what_a_node_measured_counts_nowhere_while_it_is_set_aside(api: ClusterApi) -> None:
    for day in range(2):
        measured(api, day, NODES)
    before = answers(api)
    counted = api.http.get("/runs/day-1").json()["cells"]
    changed = set_aside(api, since="2026-01-02T00:00:00Z")
    assert (changed.status_code, changed.json()["number"], changed.json()["by"]) == (201, 1, "ops:triage")
    cells = api.http.get("/runs/day-1").json()["cells"]
    assert {cell["estimate"]["invocations"] for cell in counted} == {6}
    assert {cell["estimate"]["invocations"] for cell in cells} == {3}
    assert {(cell["outcome"]["kind"], cell["outcome"]["reason"], cell["outcome"]["invocations"]) for cell in cells} == {
        ("set aside", "node node-b was set aside: its fan failed", 3)
    }
    assert api.http.get("/runs/day-0").json()["cells"][0]["outcome"] is None, "it measured before that time"
    exported = {path: text for path, text in answers(api).items() if path.startswith("/export")}
    assert sum(text.count("\n") for text in exported.values()) < before["/export?metric=cpu_ns"].count("\n")
    assert api.http.get("/runs/day-1").json()["summary"]["invocations_stored"] == 12, "nothing is lost"
    assert nodes(api)["node-b"]["set_aside"]["reason"] == "its fan failed"
    assert give_back(api).status_code == 204
    assert answers(api) == before
    assert nodes(api)["node-b"]["set_aside"] is None


def test_results_that_arrive_from_a_node_that_is_set_aside_do_not_count(api: ClusterApi) -> None:
    measured(api, 0, NODES)
    set_aside(api, since="2026-01-01T00:00:00Z")
    measured(api, 1, {"node-b": 1.03})
    run = api.http.get("/runs/day-1").json()
    assert [cell["estimate"] for cell in run["cells"]] == [None] * 4
    assert {cell["outcome"]["kind"] for cell in run["cells"]} == {"set aside"}
    verdict = api.http.get("/runs/day-1/verdict").json()
    assert (verdict["compared"], verdict["missing"], verdict["lost"]) == (0, {"set aside": 2}, 0)
    give_back(api)
    assert api.http.get("/runs/day-1/verdict").json()["compared"] == 2


def test_a_change_that_a_kill_interrupted_is_completed_at_the_next_start(api: ClusterApi) -> None:
    measured(api, 0, NODES)
    change = SetAside(pool=POOL, node="node-b", number=1, at=NOON, by="alice", reason="slow", since=NOON)
    row = {"pool": POOL, "node": "node-b", "number": 1, "content": change.model_dump_json()}
    raw(api.store).insert("set_asides", [row])
    api.store.migrate()
    cells = api.http.get("/runs/day-0").json()["cells"]
    assert {cell["estimate"]["invocations"] for cell in cells} == {3}


def test_who_may_set_which_node_aside(api: ClusterApi) -> None:
    measured(api, 0, NODES)
    body = {"pool": POOL, "node": "node-b", "reason": "slow"}
    assert_problem(api.ask("dispatcher", "POST", "/fleet/set-asides", body), 403, "may not do this")
    assert_problem(set_aside(api, "node-x"), 404, "no job ran on node node-x of pool local")
    assert set_aside(api, reason="").status_code == 422
    assert_problem(give_back(api), 404, "was never set aside")
    first, again = set_aside(api).json(), set_aside(api).json()
    assert first == again
    assert [each["node"] for each in api.http.get("/fleet/set-asides").json()] == ["node-b"]
    assert set_aside(api, reason="another").json()["number"] == 2
    assert [give_back(api).status_code for _ in range(2)] == [204, 204]
    assert api.http.get("/fleet/set-asides").json() == []


def test_prometheus_reads_how_many_nodes_differ_and_count(api: ClusterApi) -> None:
    now = NOON
    monitoring = Monitoring(api.store, Troubles(), lambda: now)

    def differing() -> bool:
        shown = monitoring.text().decode().splitlines()
        return {"kexbench_differing_nodes 1.0": True, "kexbench_differing_nodes 0.0": False}[
            next(line for line in shown if line.startswith("kexbench_differing_nodes "))
        ]

    measured(api, 0, NODES)
    assert not differing()
    measured(api, 1, NODES)
    assert not differing(), "it was counted just now"
    now += NODES_AGE
    assert differing()
    set_aside(api)
    now += NODES_AGE
    assert not differing()
    give_back(api)
    now += NODES_AGE
    assert differing()


def test_the_answer_is_kept_until_something_is_stored(api: ClusterApi) -> None:
    measured(api, 0, NODES)
    first = api.http.get("/fleet")
    known = {"If-None-Match": first.headers["ETag"]}
    assert api.http.get("/fleet", headers=known).status_code == 304
    set_aside(api)
    assert api.http.get("/fleet", headers=known).status_code == 200
