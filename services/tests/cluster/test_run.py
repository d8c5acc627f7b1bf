"""A spec that is submitted is measured on both pools by real Argo Workflows, whatever goes wrong meanwhile."""

from pathlib import Path

import pytest

from tests.cluster.kexbench import JOBS, Kexbench
from tests.cluster.kubectl import Kubectl

pytestmark = pytest.mark.cluster


def test_a_spec_is_measured_on_both_pools_with_cpus_of_their_own(kexbench: Kexbench, tmp_path: Path) -> None:
    run_id = kexbench.submit(tmp_path)
    assert kexbench.wait_for(run_id, "finished")["invocations_stored"] == 8
    detail = kexbench.get(f"/runs/{run_id}")
    assert {kind["pool"] for kind in detail["host_kinds"]} == {"pool-a", "pool-b"}
    assert sorted(node for host in detail["hosts"] for node in host["nodes"]) == ["node-a", "node-b"]
    assert {isolation for host in detail["hosts"] for isolation in host["isolation"]} == {"exclusive"}
    for pool in ("pool-a", "pool-b"):
        cells = kexbench.get(f"/runs/{run_id}?pool={pool}")["cells"]
        assert {cell["subject"].partition("@")[0] for cell in cells if cell["estimate"]} == {"openssl", "gnutls"}
    assert {kind["pool"] for kind in kexbench.get("/filters")["host_kinds"]} >= {"pool-a", "pool-b"}


def test_a_pod_that_is_killed_amid_a_run_is_replaced_and_nothing_counts_twice(
    kexbench: Kexbench, kubectl: Kubectl, tmp_path: Path
) -> None:
    run_id = kexbench.submit(tmp_path, invocations=20)
    victim = kexbench.job_that_measures(run_id)["metadata"]["name"]
    kubectl("delete", "pod", victim, "--namespace", JOBS, "--force", "--grace-period=0")
    assert kexbench.wait_for(run_id, "finished")["invocations_stored"] == kexbench.counted(run_id) == 40
    assert kexbench.outcomes(run_id) == []


def test_a_pod_that_is_deleted_with_time_to_end_stores_no_crash(
    kexbench: Kexbench, kubectl: Kubectl, tmp_path: Path
) -> None:
    run_id = kexbench.submit(tmp_path, invocations=20)
    victim = kexbench.job_that_measures(run_id)["metadata"]["name"]
    kubectl("delete", "pod", victim, "--namespace", JOBS)
    assert kexbench.wait_for(run_id, "finished")["invocations_stored"] == kexbench.counted(run_id) == 40
    assert kexbench.outcomes(run_id) == []


def test_a_run_that_is_cancelled_stores_no_crash_and_a_resumed_one_measures_what_is_missing(
    kexbench: Kexbench, tmp_path: Path
) -> None:
    run_id = kexbench.submit(tmp_path, invocations=300)  # more than are measured while the command starts
    kexbench.job_that_measures(run_id)
    (ended,) = kexbench.done(kexbench.command("runs", "cancel", run_id, "--wait", "--json"))["runs"]
    assert ended["state"] == "cancelled"
    assert 0 < kexbench.counted(run_id) < 600
    assert kexbench.outcomes(run_id) == []
    kexbench.done(kexbench.command("runs", "resume", run_id, "--wait", "--json"))
    assert kexbench.get(f"/runs/{run_id}")["summary"]["invocations_stored"] == kexbench.counted(run_id) == 600
    stored = kexbench.get(f"/runs/{run_id}/invocations")
    assert len(stored) == 600  # none was measured twice
    assert len({one["attempt"] for one in stored}) > 1  # of the cancelled submission and of the resumed one
    assert kexbench.outcomes(run_id) == []


def test_an_api_that_is_away_while_a_job_ends_loses_nothing(kexbench: Kexbench, tmp_path: Path) -> None:
    run_id = kexbench.submit(tmp_path, invocations=100)  # more than are measured while the API ends
    name = kexbench.job_that_measures(run_id)["metadata"]["name"]
    with kexbench.without_api(), kexbench.said_by(name) as lines:
        assert any("waiting for the API" in line for line in lines)
    assert kexbench.wait_for(run_id, "finished")["invocations_stored"] == kexbench.counted(run_id) == 200


def test_a_workflow_that_somebody_deletes_is_reported_and_the_run_can_be_resumed(
    kexbench: Kexbench, kubectl: Kubectl, tmp_path: Path
) -> None:
    run_id = kexbench.submit(tmp_path, invocations=100)  # more than are measured while the pods end
    kexbench.job_that_measures(run_id)
    kubectl("delete", "workflows", "--namespace", JOBS, f"--selector=kexbench.dev/run={run_id}")
    assert "deleted" in kexbench.wait_for(run_id, "failed")["detail"]
    kexbench.done(kexbench.command("runs", "resume", run_id, "--wait", "--json"))
    assert kexbench.get(f"/runs/{run_id}")["summary"]["invocations_stored"] == kexbench.counted(run_id) == 200


def test_a_pool_without_nodes_is_reported_and_the_run_can_be_cancelled(kexbench: Kexbench, tmp_path: Path) -> None:
    run_id = kexbench.submit(tmp_path, pools="nowhere")
    assert "nowhere" in kexbench.wait_for(run_id, "no ready node")["detail"]
    (ended,) = kexbench.done(kexbench.command("runs", "cancel", run_id, "--wait", "--json"))["runs"]
    assert ended["state"] == "cancelled"


def test_a_spec_with_faults_is_refused_with_their_places(kexbench: Kexbench, tmp_path: Path) -> None:
    spec = tmp_path / "wrong.yaml"
    spec.write_text("apiVersion: kexbench.dev/v1\nkind: Benchmark\nmetadata: { nmae: wrong }\n")
    refused = kexbench.command("submit", str(spec))
    _, said = refused.communicate()
    assert refused.returncode == 1
    assert "wrong.yaml:3:" in said
