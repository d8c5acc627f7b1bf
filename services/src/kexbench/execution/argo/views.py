"""Converts JSON objects of Kubernetes and Argo to the views of the dispatcher. Pure."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from kexbench.execution.argo import names
from kexbench.execution.argo.cluster import Phase, PodView, TaskView, WorkflowView

_PARAMETERS = ("job", "reference")
"""Inputs of our templates: a node with one of them is one of our tasks."""
_NO_TROUBLE = ("ContainerCreating", "PodInitializing")
Object = Mapping[str, Any]


def workflow_view(workflow: Object) -> WorkflowView:
    metadata, status = workflow["metadata"], workflow.get("status") or {}
    return WorkflowView(
        name=metadata["name"],
        labels=metadata.get("labels") or {},
        phase=_phase(status),
        created_at=datetime.fromisoformat(metadata["creationTimestamp"]),
        message=status.get("message", ""),
        stopping=bool(workflow.get("spec", {}).get("shutdown")),
        tasks=tuple(_tasks(metadata["name"], status.get("nodes") or {})),
    )


def cron_content(cron: Object) -> tuple[str, str]:
    """The name of one of our CronWorkflows, and its content hash."""
    metadata = cron["metadata"]
    return metadata["name"], (metadata.get("annotations") or {}).get(names.CONTENT, "")


def pod_view(pod: Object) -> PodView:
    """A waiting container's reason comes before the scheduler's, which has placed the pod by then."""
    metadata, status = pod["metadata"], pod.get("status") or {}
    is_pending = status.get("phase") == "Pending"
    reason, message = next(_troubles(status), ("", "")) if is_pending else ("", "")
    return PodView(
        name=metadata["name"],
        labels=metadata.get("labels") or {},
        created_at=datetime.fromisoformat(metadata["creationTimestamp"]),
        node=(pod.get("spec") or {}).get("nodeName") or "",
        is_pending=is_pending,
        reason=reason,
        message=message,
        disruption=_disruption(status),
    )


def takes_pods(node: Object) -> bool:
    conditions = (node.get("status") or {}).get("conditions") or []
    ready = any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)
    return ready and not (node.get("spec") or {}).get("unschedulable")


def _tasks(workflow: str, nodes: Mapping[str, Object]) -> Iterator[TaskView]:
    """Argo's nodes are steps, not machines: one of type Retry for each task, with a child for each of its pods."""
    for node in sorted(nodes.values(), key=lambda node: str(node["name"])):
        if node["type"] != "Retry" or (of := _parameter(node)) is None:
            continue
        pods = [nodes[child] for child in node.get("children") or [] if child in nodes]
        newest: Object = pods[-1] if pods else {}
        messages = [pod["message"] for pod in reversed(pods) if pod.get("message")]
        yield TaskView(
            of=of,
            # While Argo retries a task, its own phase stays Running.
            phase=_phase(node) if _phase(node).has_ended or not newest else _phase(newest),
            message=next(iter(messages), node.get("message", "")),
            node=newest.get("hostNodeName", ""),
            pod=_pod_name(workflow, newest) if newest else "",
            retries=max(0, len(pods) - 1),
            started_at=_moment(node.get("startedAt")),
            finished_at=_moment(node.get("finishedAt")),
        )


def _parameter(node: Object) -> str | None:
    parameters = (node.get("inputs") or {}).get("parameters") or []
    return next((parameter["value"] for parameter in parameters if parameter["name"] in _PARAMETERS), None)


def _pod_name(workflow: str, node: Object) -> str:
    """Argo names a pod by its workflow, its template and the hash that ends its node's id."""
    return f"{workflow}-{node.get('templateName', '')}-{str(node['id']).rpartition('-')[2]}"


def _troubles(status: Object) -> Iterator[tuple[str, str]]:
    containers = [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]
    for container in containers:
        waiting = (container.get("state") or {}).get("waiting") or {}
        if waiting.get("reason") and waiting["reason"] not in _NO_TROUBLE:
            yield waiting["reason"], waiting.get("message", "")
    for condition in status.get("conditions") or []:
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            yield condition.get("reason", ""), condition.get("message", "")


def _disruption(status: Object) -> str:
    """`EvictionByEvictionAPI: Eviction API: evicting`: the condition of a pod before Kubernetes stops it
    (https://kubernetes.io/docs/concepts/workloads/pods/disruptions/#pod-disruption-conditions)."""
    for condition in status.get("conditions") or []:
        if condition["type"] == "DisruptionTarget" and condition["status"] == "True":
            return ": ".join(filter(None, [condition.get("reason"), condition.get("message")]))
    return ""


def _phase(status: Object) -> Phase:
    phase = status.get("phase")
    return Phase(phase) if phase in set(Phase) else Phase.UNSEEN


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
