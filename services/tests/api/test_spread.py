"""How a run is spread over the nodes of its pools."""

from pathlib import Path
from typing import Any

import pytest

from kexbench.domain.runs import JobAttempt, Run
from kexbench.store.clickhouse import ClickHouseStore
from tests.api.cluster import CLUSTER_SPEC, ClusterApi, an_attempt, cluster_api
from tests.api.conftest import ClientOf
from tests.builders import HOST, a_run, an_invocation

POOL = "pool-a"
SPEC = CLUSTER_SPEC.replace("pools: [pool-a, pool-b]", "pools: [pool-a]").replace(
    "invocations: 6", "invocations: 6, jobs: 3"
)


@pytest.fixture
def api(empty_store: ClickHouseStore, client_of: ClientOf, tmp_path: Path) -> ClusterApi:
    return cluster_api(empty_store, client_of, tmp_path)


def tried(run: Run, job: int, attempt: int, node: str) -> JobAttempt:
    return an_attempt(run, uid=f"{node}-{job}-{attempt}", attempt=attempt, job=job).model_copy(update={"node": node})


def spread(api: ClusterApi, run_id: str) -> list[Any]:
    found: list[Any] = api.http.get(f"/runs/{run_id}").json()["spread"]
    return found


def test_each_node_has_its_jobs_and_what_is_stored_of_them(api: ClusterApi) -> None:
    run = api.started(SPEC)
    assert len(run.plan.jobs) == 3
    for attempt in (tried(run, 0, 1, "a"), tried(run, 1, 1, "b"), tried(run, 2, 1, "a"), tried(run, 2, 2, "b")):
        api.store.add_attempt(attempt, POOL)
    for number in run.plan.jobs[2].numbers:
        stored = an_invocation(run, number, cpu_ns={"fake@1.0": [1.0]}, case_id=run.plan.cases[0].case_id)
        api.store.add_invocation(run, stored, HOST)
    planned = [job.count for job in run.plan.jobs]
    assert spread(api, run.run_id) == [
        {
            "pool": POOL,
            "node": "a",
            "jobs": 1,
            "invocations_stored": 0,
            "invocations": planned[0],
            "lost_attempts": 1,
        },
        {
            "pool": POOL,
            "node": "b",
            "jobs": 2,
            "invocations_stored": len(run.plan.jobs[2].numbers),
            "invocations": planned[1] + planned[2],
            "lost_attempts": 0,
        },
    ]


def test_a_machine_by_itself_has_no_nodes(api: ClusterApi) -> None:
    api.store.add_run(a_run("alone"))
    assert spread(api, "alone") == []
