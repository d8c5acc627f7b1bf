"""Objects as Kubernetes and Argo write them, read into what the dispatcher sees."""

from datetime import UTC, datetime
from typing import Any

import pytest

from kexbench.execution.argo.cluster import Phase, TaskView
from kexbench.execution.argo.views import pod_view, takes_pods, workflow_view

WORKFLOW = "kexbench-run-r-1-0"
Object = dict[str, Any]


def step(kind: str, name: str, number: int, phase: str, **more: Any) -> tuple[str, Object]:
    """One of Argo's nodes, under its id."""
    node_id = f"{WORKFLOW}-{number}"
    parameters = {"parameters": [{"name": "job", "value": name.partition(".job-")[2].partition("(")[0]}]}
    inputs = {"inputs": parameters} if kind in ("Retry", "Pod") else {}
    template = {"templateName": "job" if inputs else "all"}
    return node_id, {"id": node_id, "name": name, "type": kind, "phase": phase, **template, **inputs, **more}


def a_workflow(*steps: tuple[str, Object], **status: Any) -> Object:
    return {
        "metadata": {"name": WORKFLOW, "labels": {"a": "b"}, "creationTimestamp": "2026-01-01T12:00:00Z"},
        "spec": {},
        "status": {"phase": "Running", "nodes": dict(steps), **status},
    }


def children(*numbers: int) -> list[str]:
    return [f"{WORKFLOW}-{number}" for number in numbers]


def only_task(*steps: tuple[str, Object]) -> TaskView:
    (task,) = workflow_view(a_workflow(*steps)).tasks
    return task


def test_a_workflow_that_argo_has_not_looked_at_has_no_phase() -> None:
    view = workflow_view({**a_workflow(), "status": None})
    assert (view.name, view.labels, view.phase, view.tasks) == (WORKFLOW, {"a": "b"}, Phase.UNSEEN, ())
    assert view.created_at == datetime(2026, 1, 1, 12, tzinfo=UTC)
    assert not view.stopping


def test_a_workflow_that_was_asked_to_stop_is_stopping() -> None:
    assert workflow_view({**a_workflow(), "spec": {"shutdown": "Terminate"}}).stopping


def test_a_job_is_seen_once_whatever_else_argo_counts_as_a_step() -> None:
    task = only_task(
        step("DAG", WORKFLOW, 1, "Succeeded"),
        step(
            "Retry",
            f"{WORKFLOW}.job-0a0b",
            2,
            "Succeeded",
            children=children(3),
            startedAt="2026-01-01T12:00:01Z",
            finishedAt="2026-01-01T12:00:09Z",
        ),
        step("Pod", f"{WORKFLOW}.job-0a0b(0)", 3, "Succeeded", hostNodeName="amd-1"),
    )
    assert task == TaskView(
        of="0a0b",
        phase=Phase.SUCCEEDED,
        node="amd-1",
        pod=f"{WORKFLOW}-job-3",
        started_at=datetime(2026, 1, 1, 12, 0, 1, tzinfo=UTC),
        finished_at=datetime(2026, 1, 1, 12, 0, 9, tzinfo=UTC),
    )


def test_a_job_that_is_tried_again_tells_of_its_newest_pod_and_why_the_one_before_ended() -> None:
    task = only_task(
        step("Retry", f"{WORKFLOW}.job-0a0b", 2, "Running", children=children(3, 4)),
        step("Pod", f"{WORKFLOW}.job-0a0b(0)", 3, "Error", message="pod deleted", hostNodeName="amd-1"),
        step("Pod", f"{WORKFLOW}.job-0a0b(1)", 4, "Pending", hostNodeName="amd-2"),
    )
    assert (task.phase, task.message, task.node, task.retries) == (Phase.PENDING, "pod deleted", "amd-2", 1)


def test_a_job_that_failed_for_good_has_failed() -> None:
    message = "main: Error (exit code 2)"
    task = only_task(
        step("Retry", f"{WORKFLOW}.job-0a0b", 2, "Failed", message="No more retries left", children=children(3)),
        step("Pod", f"{WORKFLOW}.job-0a0b(0)", 3, "Failed", message=message),
    )
    assert (task.phase, task.message) == (Phase.FAILED, message)


def test_a_job_whose_pod_could_not_be_made_tells_why() -> None:
    task = only_task(step("Retry", f"{WORKFLOW}.job-0a0b", 2, "Error", message="pods is forbidden"))
    assert (task.phase, task.message, task.pod) == (Phase.ERROR, "pods is forbidden", "")


def a_pod(**status: Any) -> Object:
    metadata = {"name": "pod-1", "labels": {"a": "b"}, "creationTimestamp": "2026-01-01T12:00:00Z"}
    return {"metadata": metadata, "status": {"phase": "Pending", **status}}


def test_a_pod_that_no_node_takes_tells_what_the_scheduler_says() -> None:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes"}
    found = pod_view(a_pod(conditions=[condition]))
    assert (found.name, found.labels, found.reason, found.message) == (
        "pod-1",
        {"a": "b"},
        "Unschedulable",
        "0/3 nodes",
    )


@pytest.mark.parametrize("which", ["initContainerStatuses", "containerStatuses"])
def test_a_pod_whose_image_is_missing_tells_what_its_node_says(which: str) -> None:
    waiting = {"name": "main", "state": {"waiting": {"reason": "ErrImagePull", "message": "not found"}}}
    scheduled = {"type": "PodScheduled", "status": "True"}
    found = pod_view(a_pod(conditions=[scheduled], **{which: [waiting]}))
    assert (found.reason, found.message) == ("ErrImagePull", "not found")


def test_a_pod_that_is_being_started_has_no_trouble() -> None:
    waiting = {"name": "main", "state": {"waiting": {"reason": "PodInitializing"}}}
    assert pod_view(a_pod(containerStatuses=[waiting])).reason == ""


@pytest.mark.parametrize(
    ("status", "cordoned", "takes"), [("True", False, True), ("False", False, False), ("True", True, False)]
)
def test_a_node_takes_pods_that_is_ready_and_not_cordoned(status: str, cordoned: bool, takes: bool) -> None:
    conditions = [{"type": "MemoryPressure", "status": "True"}, {"type": "Ready", "status": status}]
    node = {"spec": {"unschedulable": cordoned}, "status": {"conditions": conditions}}
    assert takes_pods(node) is takes


@pytest.mark.parametrize("phase", ["Pending", "Running"])
def test_a_pod_is_seen_with_its_node_and_whether_it_runs(phase: str) -> None:
    found = pod_view({**a_pod(phase=phase), "spec": {"nodeName": "amd-1"}})
    assert (found.node, found.is_pending) == ("amd-1", phase == "Pending")
    assert pod_view(a_pod(phase=phase)).node == ""


def test_a_pod_that_runs_has_no_trouble_though_one_of_its_containers_waits() -> None:
    waiting = {"name": "main", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
    assert pod_view(a_pod(phase="Running", containerStatuses=[waiting])).reason == ""


@pytest.mark.parametrize(
    ("status", "reason"),
    [("True", "EvictionByEvictionAPI: Eviction API: evicting"), ("False", "")],
)
def test_a_pod_that_kubernetes_ends_says_why(status: str, reason: str) -> None:
    condition = {
        "type": "DisruptionTarget",
        "status": status,
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
    }
    metadata = {"name": "pod", "creationTimestamp": "2026-01-01T12:00:00Z"}
    pod = {"metadata": metadata, "status": {"phase": "Running", "conditions": [condition]}}
    assert pod_view(pod).disruption == reason
