"""The cluster's port: what the dispatcher may ask of Kubernetes, and what it sees there."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol


class ClusterError(Exception):
    """Kubernetes refused or could not be asked; the text says what to do."""


class Phase(StrEnum):
    """Of a workflow and of its tasks, as Argo names them; UNSEEN is before Argo has looked at it."""

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
    """A job or the build of a kit, as Argo tells of it: its newest pod, and why earlier ones ended."""

    of: str
    """A job's id or a kit's reference."""
    phase: Phase
    message: str = ""
    """Of the newest pod, or of the one before where the newest has nothing to say yet."""
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
    """What it has until it ends; nothing before it is scheduled."""
    is_pending: bool = True
    """Whether nothing of it runs yet."""
    reason: str = ""
    """Why it is pending, such as Unschedulable or ImagePullBackOff; nothing where it is just being started."""
    message: str = ""
    disruption: str = ""
    """Why Kubernetes ends it, such as an eviction; nothing where it does not."""


class Cluster(Protocol):
    """Everything is in the namespace of jobs, but for nodes and the lease. All of it raises ClusterError."""

    def submit(self, manifest: Mapping[str, Any]) -> bool:
        """Whether the workflow is new; one of the same name that is there already is left as it is."""
        ...

    def workflows(self, labels: Mapping[str, str]) -> tuple[WorkflowView, ...]: ...
    def stop(self, name: str) -> None:
        """End a workflow's pods and start no more; one that is gone is stopped."""
        ...

    def delete(self, name: str) -> None:
        """One that is gone is deleted."""
        ...

    def cron_workflows(self) -> Mapping[str, str]:
        """What each CronWorkflow of ours says of its content, by its name."""
        ...

    def apply_cron(self, manifest: Mapping[str, Any]) -> None:
        """Make a CronWorkflow, or make the one of this name what the manifest says."""
        ...

    def delete_cron(self, name: str) -> None:
        """Its workflows go with it; one that is gone is deleted."""
        ...

    def ready_nodes(self, selector: Mapping[str, str]) -> tuple[str, ...]:
        """Names of the nodes with these labels that take pods."""
        ...

    def pods(self) -> tuple[PodView, ...]:
        """All of kexbench that have not ended, of whatever run."""
        ...

    def hold_lease(self, name: str, identity: str) -> bool:
        """Take or renew a lease for LEASE_S; whether it is ours now."""
        ...

    def release_lease(self, name: str, identity: str) -> None:
        """Let another take it at once; nothing where it is not ours."""
        ...


LEASE_S = 30
"""A holder that is not heard of for so long has lost its lease."""
