"""What every cluster behind the port does: written once, run on the fake and on a real one."""

from dataclasses import replace
from typing import Any, Protocol

from kexbench.execution.argo import names
from kexbench.execution.argo.cluster import Cluster
from kexbench.execution.argo.schedules import cron_workflow
from kexbench.execution.argo.workflows import run_workflows
from tests.execution.argo.cases import POOLS, SETTINGS, a_cluster_run

RUN_ID = "20260101-120000-0a0b0c0d"
LABELS = names.labels_of(RUN_ID, 1)


class Bed(Protocol):
    """A cluster and what only a test may do to it."""

    cluster: Cluster
    namespace: str

    def add_pod_for_no_node(self, name: str, labels: dict[str, str]) -> None: ...
    def pass_s(self, seconds: float) -> None: ...


class ClusterContract:
    def test_a_workflow_is_new_once_however_often_it_is_submitted(self, bed: Bed) -> None:
        (manifest, other), cluster = _manifests(bed), bed.cluster
        assert [cluster.submit(manifest), cluster.submit(manifest), cluster.submit(other)] == [True, False, True]
        seen = cluster.workflows(LABELS)
        assert {view.name for view in seen} == {manifest["metadata"]["name"], other["metadata"]["name"]}
        assert all(LABELS.items() <= view.labels.items() for view in seen)

    def test_workflows_of_another_series_are_not_seen(self, bed: Bed) -> None:
        bed.cluster.submit(_manifests(bed)[0])
        assert bed.cluster.workflows(names.labels_of(RUN_ID, 2)) == ()

    def test_a_workflow_that_is_stopped_is_stopping_and_stopping_it_again_changes_nothing(self, bed: Bed) -> None:
        manifest, cluster = _manifests(bed)[0], bed.cluster
        cluster.submit(manifest)
        assert [view.stopping for view in cluster.workflows(LABELS)] == [False]
        for _ in range(2):
            cluster.stop(manifest["metadata"]["name"])
            assert [view.stopping for view in cluster.workflows(LABELS)] == [True]

    def test_a_workflow_that_is_gone_is_stopped_and_deleted(self, bed: Bed) -> None:
        manifest, cluster = _manifests(bed)[0], bed.cluster
        cluster.submit(manifest)
        for _ in range(2):
            cluster.delete(manifest["metadata"]["name"])
        cluster.stop(manifest["metadata"]["name"])
        assert cluster.workflows(LABELS) == ()

    def test_a_cron_workflow_is_what_was_applied_last_and_seen_with_what_it_says_of_its_content(self, bed: Bed) -> None:
        cluster = bed.cluster
        assert cluster.cron_workflows() == {}
        for cron in ("0 3 * * *", "30 4 * * 1"):
            manifest = _a_cron(bed, cron)
            for _ in range(2):
                cluster.apply_cron(manifest)
            assert cluster.cron_workflows() == {
                "kexbench-schedule-nightly": manifest["metadata"]["annotations"][names.CONTENT]
            }

    def test_a_cron_workflow_that_is_gone_is_deleted(self, bed: Bed) -> None:
        bed.cluster.apply_cron(_a_cron(bed))
        for _ in range(2):
            bed.cluster.delete_cron("kexbench-schedule-nightly")
        assert bed.cluster.cron_workflows() == {}

    def test_no_node_is_ready_that_lacks_a_label(self, bed: Bed) -> None:
        assert bed.cluster.ready_nodes({"kexbench.dev/pool": "there-is-none"}) == ()

    def test_a_pod_that_waits_is_seen_with_its_labels(self, bed: Bed) -> None:
        bed.add_pod_for_no_node("waits", {**LABELS, names.POOL: "amd-epyc"})
        (pod,) = bed.cluster.pods()
        assert (pod.name, pod.labels[names.POOL]) == ("waits", "amd-epyc")
        assert LABELS.items() <= pod.labels.items()
        assert (pod.is_pending, pod.node) == (True, "")
        assert pod.reason in ("", "Unschedulable")

    def test_a_lease_is_held_by_one_until_it_is_not_heard_of_any_more(self, bed: Bed) -> None:
        held = bed.cluster.hold_lease
        assert [held("dispatcher", "a"), held("dispatcher", "b"), held("dispatcher", "a")] == [True, False, True]
        bed.pass_s(20)
        assert held("dispatcher", "a")
        bed.pass_s(20)
        assert not held("dispatcher", "b")
        bed.pass_s(31)
        assert [held("dispatcher", "b"), held("dispatcher", "a")] == [True, False]

    def test_a_released_lease_is_free_at_once_and_only_its_holder_releases_it(self, bed: Bed) -> None:
        held, release = bed.cluster.hold_lease, bed.cluster.release_lease
        release("dispatcher", "a")
        assert held("dispatcher", "a")
        release("dispatcher", "b")
        assert not held("dispatcher", "b")
        release("dispatcher", "a")
        assert [held("dispatcher", "b"), held("dispatcher", "a")] == [True, False]


def _a_cron(bed: Bed, cron: str = "0 3 * * *") -> dict[str, Any]:
    return cron_workflow("nightly", cron, replace(SETTINGS, namespace=bed.namespace))


def _manifests(bed: Bed) -> tuple[dict[str, Any], ...]:
    run = a_cluster_run(RUN_ID)
    return run_workflows(run, 1, run.plan.jobs, POOLS, replace(SETTINGS, namespace=bed.namespace))
