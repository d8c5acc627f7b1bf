"""What a cluster does to its pods: the run ends in the right state, says what happened, and has every number once."""

from pathlib import Path

import pytest

from devcluster.cluster import Cluster
from tests.cluster.faults import duplicate, first_results_of, kill_argo, without_kubelet
from tests.cluster.kexbench import JOBS, NAMESPACE, Kexbench
from tests.cluster.kubectl import Kubectl

pytestmark = [pytest.mark.cluster, pytest.mark.xdist_group("cluster")]


def test_a_node_whose_kubelet_stops_is_told_and_its_job_ends_when_it_is_back(
    kexbench: Kexbench, devcluster: Cluster, tmp_path: Path
) -> None:
    run_id = kexbench.submit(tmp_path, pools="pool-b", invocations=20)
    kexbench.job_that_measures(run_id)
    with without_kubelet(devcluster, "node-b"):
        kexbench.wait_for(run_id, "node node-b is not ready")
    assert kexbench.wait_for(run_id, "finished")["invocations_stored"] == kexbench.counted(run_id) == 20


def test_argo_may_be_restarted_while_jobs_run(kexbench: Kexbench, devcluster: Cluster, tmp_path: Path) -> None:
    run_id = kexbench.submit(tmp_path, invocations=20)
    kexbench.job_that_measures(run_id)
    kill_argo(devcluster)
    assert kexbench.wait_for(run_id, "finished")["invocations_stored"] == kexbench.counted(run_id) == 40


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
    kubectl("delete", "pod/duplicate", "--namespace", JOBS, "--now")
    assert kexbench.wait_for(run_id, "finished")["invocations_stored"] == kexbench.counted(run_id) == 20

    attempts = [one["attempt"] for one in kexbench.get(f"/runs/{run_id}/invocations")]
    assert (attempts.count(1), attempts.count(2)) == (20, 10)  # the run's two jobs, and one of them once more
    exported = kexbench.get(f"/export?format=json&run_id={run_id}")
    assert len(exported) == 20 * 2  # subjects
    measured = [one for one in early["samples"] if one["metric"] == "cpu_ns" and one["subject"] != "sentinel"]
    assert len(measured) == 2
    assert {tuple(one["values"]) for one in measured} <= {tuple(row["values"]) for row in exported}


def test_an_image_that_is_missing_is_told_and_the_run_can_be_cancelled_and_resumed(
    kexbench: Kexbench, kubectl: Kubectl, tmp_path: Path
) -> None:
    dispatcher = ("deployment/kexbench-dispatcher", "--namespace", NAMESPACE)
    told = ("--output=jsonpath={.spec.template.spec.containers[0].env[?(@.name=='KEXBENCH_RUNNER_IMAGE')].value}",)
    image = kubectl("get", *dispatcher, *told)
    _set_image(kubectl, dispatcher, "local.test/kexbench/runner:there-is-none")
    try:
        run_id = kexbench.submit(tmp_path, pools="pool-a")
        assert "Push the image" in kexbench.wait_for(run_id, "there-is-none")["detail"]
        ended = kexbench.done(kexbench.command("runs", "cancel", run_id, "--wait", "--json"))
        assert ended["state"] == "cancelled"
    finally:
        _set_image(kubectl, dispatcher, image)
    kexbench.done(kexbench.command("runs", "resume", run_id, "--wait", "--json"))
    assert kexbench.wait_for(run_id, "finished")["invocations_stored"] == kexbench.counted(run_id) == 4


def _set_image(kubectl: Kubectl, deployment: tuple[str, ...], image: str) -> None:
    kubectl("set", "env", *deployment, f"KEXBENCH_RUNNER_IMAGE={image}")
    kubectl("rollout", "status", *deployment, "--timeout=300s")
