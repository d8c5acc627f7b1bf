"""The port of the cluster: the requests of the dispatcher to Kubernetes, and what it reads there."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol


class ClusterError(Exception):
    """Kubernetes refused a request or did not answer; the text has the remedy."""


class Phase(StrEnum):
    """Phase of a workflow or a task, as Argo names it; UNSEEN until Argo has processed it."""

    UNSEEN = "Unseen"
    PENDING = "Pending"
    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    ERROR = "Error"

    @property
    def has_ended(self) -> bool:
        return self in (Phase.SUCCEEDED, Phase.FAILED, Phase.ERROR)


@dataclass(frozen=True)
class TaskView:
    """A job or the build of a kit, as Argo reports it: its newest pod, and why earlier pods ended."""

    of: str
    """A job's id or a kit's reference."""
    phase: Phase
    message: str = ""
    """Message of the newest pod that has one."""
    node: str = ""
    pod: str = ""
    retries: int = 0
    started_at: datetime | None = None
    finished_at: datetime | None = None


@dataclass(frozen=True)
class WorkflowView:
    name: str
    labels: Mapping[str, str]
    phase: Phase
    created_at: datetime
    message: str = ""
    stopping: bool = False
    tasks: tuple[TaskView, ...] = ()


@dataclass(frozen=True)
class PodView:
    """A pod that has not ended."""

    name: str
    labels: Mapping[str, str]
    created_at: datetime
    node: str = ""
    """Empty before it is scheduled."""
    is_pending: bool = True
    """Whether none of its containers runs yet."""
    reason: str = ""
    """Why it is pending, such as Unschedulable or ImagePullBackOff; empty if it is just starting."""
    message: str = ""
    disruption: str = ""
    """Why Kubernetes stops it, such as an eviction; empty if it does not."""


class Cluster(Protocol):
    """Everything is in the namespace of jobs, except nodes and the lease. Every method raises ClusterError."""

    def submit(self, manifest: Mapping[str, Any]) -> bool:
        """Whether the workflow is new; an existing workflow of the same name does not change."""
        ...

    def workflows(self, labels: Mapping[str, str]) -> tuple[WorkflowView, ...]: ...
    def stop(self, name: str) -> None:
        """End a workflow's pods and start no more. A missing workflow is no error."""
        ...

    def delete(self, name: str) -> None:
        """A missing workflow is no error."""
        ...

    def cron_workflows(self) -> Mapping[str, str]:
        """The content hash of each of our CronWorkflows, by its name."""
        ...

    def apply_cron(self, manifest: Mapping[str, Any]) -> None:
        """Create a CronWorkflow, or update the one of this name."""
        ...

    def delete_cron(self, name: str) -> None:
        """Deletes its workflows too. A missing CronWorkflow is no error."""
        ...

    def ready_nodes(self, selector: Mapping[str, str]) -> tuple[str, ...]:
        """Names of the nodes with these labels that take pods; without labels, of all."""
        ...

    def pods(self) -> tuple[PodView, ...]:
        """All pods of kexbench that have not ended, of any run."""
        ...

    def hold_lease(self, name: str, identity: str) -> bool:
        """Take or renew a lease for LEASE_S. Returns whether it is ours now."""
        ...

    def release_lease(self, name: str, identity: str) -> None:
        """Let another holder take it at once. Does nothing if it is not ours."""
        ...
