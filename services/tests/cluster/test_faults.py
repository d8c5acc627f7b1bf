"""What a cluster does to its pods: the run ends in the right state, says what happened, and has every number once."""

import re
from pathlib import Path

import pytest

from devcluster.cluster import Cluster
from tests.cluster.faults import (
    cut_off_power,
    drained,
    duplicate,
    first_results_of,
    kill_argo,
    run_out_of_memory,
    without_kubelet,
)
from tests.cluster.kexbench import JOBS, NAMESPACE, Kexbench
from tests.cluster.kubectl import Kubectl

pytestmark = pytest.mark.cluster


@pytest.mark.long
def test_a_node_whose_kubelet_stops_is_reported_and_its_job_ends_when_it_is_back(
    kexbench: Kexbench, devcluster: Cluster, tmp_path: Path
) -> None:
    run_id = kexbench.submit(tmp_path, pools="pool-b", invocations=20)
    kexbench.job_that_measures(run_id)
    with without_kubelet(devcluster, "node-b"):
        kexbench.wait_for(run_id, "node node-b is not ready")
    assert kexbench.wait_for(run_id, "finished")["invocations_stored"] == kexbench.counted(run_id) == 20
    assert kexbench.outcomes(run_id) == []


def test_a_job_whose_node_is_lost_is_measured_again_and_stores_no_crash(
    kexbench: Kexbench, devcluster: Cluster, kubectl: Kubectl, tmp_path: Path
) -> None:
    run_id = kexbench.submit(tmp_path, pools="pool-b", invocations=40)
    lost = kexbench.job_that_measures(run_id)
    first_results_of(devcluster, lost)
    with without_kubelet(devcluster, "node-b"):
        cut_off_power(devcluster)
        kexbench.wait_for(run_id, "node node-b is not ready")
        # What Kubernetes does once somebody deletes the node.
        kubectl("delete", "pod", lost["metadata"]["name"], "--namespace", JOBS, "--force", "--grace-period=0")
        # Argo counts that as a retry only if it had already synchronized the lost pod's result. Otherwise it makes a
        # pod of the same name. Either waits for a node.
        kexbench.wait_for(run_id, "pool pool-b has no ready node")
    assert kexbench.wait_for(run_id, "finished")["invocations_stored"] == kexbench.counted(run_id) == 40
    assert kexbench.outcomes(run_id) == []
    job_id = lost["metadata"]["labels"]["kexbench.dev/job"]
    stored = kexbench.get(f"/runs/{run_id}/invocations?job_id={job_id}")
    assert {invocation["attempt"] for invocation in stored} == {2}  # what was not sent went with the node


@pytest.mark.long
def test_a_job_whose_node_is_drained_is_measured_to_its_end_and_stores_no_crash(
    kexbench: Kexbench, devcluster: Cluster, kubectl: Kubectl, tmp_path: Path
) -> None:
    run_id = kexbench.submit(tmp_path, pools="pool-b", invocations=120)
    first_results_of(devcluster, kexbench.job_that_measures(run_id))
    with drained(kubectl, "node-b"):
        # As above, whether Argo counts it as a retry or makes a pod of the same name.
        kexbench.wait_for(run_id, "pool pool-b has no ready node")
    assert kexbench.wait_for(run_id, "finished")["invocations_stored"] == kexbench.counted(run_id) == 120
    assert len(kexbench.get(f"/runs/{run_id}/invocations")) == 120  # none was measured twice
    assert kexbench.outcomes(run_id) == []


def test_a_job_that_runs_out_of_memory_stores_no_crash_and_a_resumed_run_measures_what_is_missing(
    kexbench: Kexbench, devcluster: Cluster, tmp_path: Path
) -> None:
    run_id = kexbench.submit(tmp_path, pools="pool-b", invocations=80)
    first_results_of(devcluster, kexbench.job_that_measures(run_id))
    run_out_of_memory(devcluster)
    failed = kexbench.wait_for(run_id, "failed")
    assert "it ran out of memory: give the pool more" in failed["detail"]
    assert failed["invocations_stored"] == kexbench.counted(run_id) < 80
    assert kexbench.outcomes(run_id) == []
    kexbench.done(kexbench.command("runs", "resume", run_id, "--wait", "--json"))
    assert kexbench.get(f"/runs/{run_id}")["summary"]["invocations_stored"] == kexbench.counted(run_id) == 80
    assert len(kexbench.get(f"/runs/{run_id}/invocations")) == 80  # none was measured twice
    assert kexbench.outcomes(run_id) == []


@pytest.mark.long
def test_argo_may_be_restarted_while_jobs_run(kexbench: Kexbench, devcluster: Cluster, tmp_path: Path) -> None:
    run_id = kexbench.submit(tmp_path, invocations=20)
    kexbench.job_that_measures(run_id)
    kill_argo(devcluster)
    assert kexbench.wait_for(run_id, "finished")["invocations_stored"] == kexbench.counted(run_id) == 40
    assert kexbench.outcomes(run_id) == []


@pytest.mark.long
def test_of_two_pods_for_one_try_at_a_job_each_invocation_counts_once_however_often_it_is_sent(
    kexbench: Kexbench, devcluster: Cluster, kubectl: Kubectl, tmp_path: Path
) -> None:
    run_id = kexbench.submit(tmp_path, pools="pool-a", invocations=20, isolation="best-effort")
    first = kexbench.job_that_measures(run_id)
    duplicate(kubectl, first, "duplicate")
    early = first_results_of(devcluster, first)
    for _ in range(2):
        kexbench.post_as(first, f"/runs/{run_id}/invocations", early)
    kubectl("wait", "pod/duplicate", "--namespace", JOBS, "--for=jsonpath={.status.phase}=Succeeded", "--timeout=600s")
    said = kubectl("logs", "pod/duplicate", "--namespace", JOBS, "--container", "main")
    kubectl("delete", "pod/duplicate", "--namespace", JOBS, "--now")
    assert kexbench.wait_for(run_id, "finished")["invocations_stored"] == kexbench.counted(run_id) == 20

    attempts = [one["attempt"] for one in kexbench.get(f"/runs/{run_id}/invocations")]
    # The run's two jobs, and one of them once more, except what the first pod had delivered before the second asked.
    before = int(found[1]) if (found := re.search(r"(\d+) invocations? measured before", said)) else 0
    assert (attempts.count(1), attempts.count(2)) == (20, 10 - before)
    exported = kexbench.get(f"/export?format=json&run_id={run_id}")
    assert len(exported) == 20 * 2  # subjects
    measured = [one for one in early["samples"] if one["metric"] == "cpu_ns" and one["subject"] != "sentinel"]
    assert len(measured) == 2
    assert {tuple(one["values"]) for one in measured} <= {tuple(row["values"]) for row in exported}


@pytest.mark.long
def test_an_image_that_is_missing_is_reported_and_the_run_can_be_cancelled_and_resumed(
    kexbench: Kexbench, kubectl: Kubectl, tmp_path: Path
) -> None:
    dispatcher = ("deployment/kexbench-dispatcher", "--namespace", NAMESPACE)
    path = ("--output=jsonpath={.spec.template.spec.containers[0].env[?(@.name=='KEXBENCH_RUNNER_IMAGE')].value}",)
    image = kubectl("get", *dispatcher, *path)
    _set_image(kubectl, dispatcher, "local.test/kexbench/runner:there-is-none")
    try:
        run_id = kexbench.submit(tmp_path, pools="pool-a")
        assert "Push the image" in kexbench.wait_for(run_id, "there-is-none")["detail"]
        (ended,) = kexbench.done(kexbench.command("runs", "cancel", run_id, "--wait", "--json"))["runs"]
        assert ended["state"] == "cancelled"
    finally:
        _set_image(kubectl, dispatcher, image)
    kexbench.done(kexbench.command("runs", "resume", run_id, "--wait", "--json"))
    assert kexbench.wait_for(run_id, "finished")["invocations_stored"] == kexbench.counted(run_id) == 4


def _set_image(kubectl: Kubectl, deployment: tuple[str, ...], image: str) -> None:
    kubectl("set", "env", *deployment, f"KEXBENCH_RUNNER_IMAGE={image}")
    kubectl("rollout", "status", *deployment, "--timeout=300s")
