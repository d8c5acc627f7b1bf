"""What the benchmark of scale plans, simulates and reads of it; a real simulated cluster is `make bench`."""

import pytest
from lightkube.models.core_v1 import Taint

from bench.machine import QUICK, BenchError
from bench.report import scale_table, sharding_table
from bench.scale import Scaled, Simulated, measure_scale
from bench.scale_cluster import ended_at, is_free, peak_of, quantile, stored_bytes
from bench.scale_dispatcher import Dispatching, Look
from bench.scale_plan import POOLS, Planned, nodes_of, plan_at_scale, spec_text
from bench.sharding import Sharded
from kexbench.execution.argo.cluster import Phase
from kexbench.runner.cpus import Cpus
from tests.builders import a_catalogue
from tests.execution.argo.fake_cluster import FakeCluster

HISTOGRAM = """\
# TYPE seconds histogram
seconds_bucket{attempts="1",le="0.01"} 90
seconds_bucket{attempts="1",le="1"} 95
seconds_bucket{attempts="1",le="+Inf"} 95
seconds_sum{attempts="1"} 2.5
seconds_count{attempts="1"} 95
seconds_bucket{attempts="2",le="0.01"} 0
seconds_bucket{attempts="2",le="1"} 4
seconds_bucket{attempts="2",le="+Inf"} 5
"""


@pytest.fixture(scope="module")
def planned() -> Planned:
    return plan_at_scale(1000, a_catalogue())


def test_the_generated_spec_has_as_many_cases_as_are_asked_for_in_every_pool(planned: Planned) -> None:
    assert len(planned.plan.cases) == 1000
    assert not planned.plan.skipped
    assert {job.pool for job in planned.plan.jobs} == {pool.name for pool in POOLS}
    assert planned.run().spec_text == spec_text(1000)


def test_nodes_are_dealt_evenly_and_jobs_of_a_pool_fit_on_its_nodes() -> None:
    nodes = [node.to_dict() for node in nodes_of(1000)]
    assert len({node["metadata"]["name"] for node in nodes}) == 1000
    for pool in POOLS:
        mine = [node for node in nodes if pool.node_selector.items() <= node["metadata"]["labels"].items()]
        assert len(mine) == 50
        assert {taint["key"] for node in mine for taint in node["spec"]["taints"]} == {pool.tolerations[0].key}
        assert all(int(node["status"]["allocatable"]["cpu"]) >= pool.cpus for node in mine)


def test_a_node_is_free_when_only_the_taint_of_its_pool_is_left() -> None:
    (node,) = nodes_of(1)
    assert is_free(node)
    assert node.spec
    assert node.spec.taints
    node.spec.taints.append(Taint(key="node.kubernetes.io/not-ready", effect="NoSchedule"))
    assert not is_free(node)


def test_the_dispatcher_submits_what_is_planned_and_finishes_when_the_workflows_have_ended(planned: Planned) -> None:
    cluster = FakeCluster()
    cluster.nodes = {f"{pool.name}-1": pool.node_selector for pool in POOLS}
    dispatching = Dispatching(planned.run(), cluster, POOLS)
    dispatching.look()
    names = [manifest["metadata"]["name"] for manifest in cluster.submitted]
    assert sum(len(cluster.submitted_tasks(name)) for name in names) == len(planned.plan.jobs)
    for name in names:
        assert dispatching.newest.state == "running"
        cluster.turn(name, Phase.SUCCEEDED)
        dispatching.look()
    assert dispatching.newest.state == "finished"


def test_a_look_that_is_not_answered_is_reported(planned: Planned) -> None:
    cluster = FakeCluster()
    cluster.away = True
    assert not Dispatching(planned.run(), cluster, POOLS).look().was_answered


def test_the_size_of_an_object_is_that_of_its_json() -> None:
    assert stored_bytes({"n": [1, 2], "message": "ä"}) == len('{"n":[1,2],"message":"ä"}') + 1


def test_the_last_workflow_ends_the_run() -> None:
    ends = ["2026-01-01T00:00:05Z", "2026-01-01T00:02:00Z", "2026-01-01T00:01:00Z"]
    assert ended_at([{"status": {"finishedAt": end}} for end in ends]).minute == 2


def test_the_peak_of_a_process_is_what_the_kernel_says_in_kilobytes() -> None:
    assert peak_of("Name:\tetcd\nVmPeak:\t  900 kB\nVmHWM:\t  512 kB\nVmRSS:\t  100 kB\n") == 512 * 1024
    with pytest.raises(BenchError, match="no memory"):
        peak_of("Name:\tkthreadd\n")


@pytest.mark.parametrize(("share", "bound"), [(0.5, 0.01), (0.9, 0.01), (0.91, 1.0), (0.99, 1.0), (1.0, float("inf"))])
def test_a_quantile_of_a_histogram_counts_all_of_its_series(share: float, bound: float) -> None:
    assert quantile(HISTOGRAM, "seconds", share) == bound


def test_a_histogram_without_values_has_no_quantile() -> None:
    with pytest.raises(BenchError, match="no values"):
        quantile(HISTOGRAM, "others", 0.5)


def test_the_report_tells_what_was_simulated_or_why_nothing_was(planned: Planned) -> None:
    simulated = Simulated(
        nodes=1000,
        workflows=20,
        pods=400,
        submitted_s=2.0,
        bound_s=40.0,
        ended_s=50.0,
        scheduler_s=0.02,
        looks=(Look(0.5, 0.25, True), Look(1.5, 0.75, False)),
        submitted_bytes=1 << 17,
        ended_bytes=3 << 18,
        peak_bytes={"etcd": 5 << 20},
    )
    table = scale_table(Scaled(planned, simulated))
    assert "| largest workflow when it ended | 0.75 MiB, 50% of etcd's limit |" in table
    assert "| until all pods were bound | 40 s, 400 pods, 10/s |" in table
    assert "| round of the dispatcher | 1.0 s, at most 1.5 s (2 rounds, 1 unanswered) |" in table
    assert "| peak memory of etcd | 5 MiB |" in table
    assert "Not simulated: run it as root" in scale_table(Scaled(planned, "run it as root"))


def test_who_is_not_root_gets_the_plan_and_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    found = measure_scale(a_catalogue(), Cpus(None), QUICK)
    assert len(found.planned.plan.cases) == QUICK.cases
    assert "run it as root" in str(found.simulated)


def test_nodes_that_share_jobs_are_compared_with_one_node_where_the_jobs_are_the_same() -> None:
    results = [
        Sharded(pools=1, nodes=1, jobs=40, job_s=10, ended_s=500.0),
        Sharded(pools=1, nodes=20, jobs=40, job_s=10, ended_s=40.0),
        Sharded(pools=20, nodes=1000, jobs=2000, job_s=60, ended_s=240.0),
    ]
    assert [line.split(" | ")[3:] for line in sharding_table(results).splitlines()[2:]] == [
        ["1.0 times as fast", "80% |"],
        ["12.5 times as fast", "50% |"],
        ["", "50% |"],
    ]
