"""A cluster in memory, which does what the tests tell it to."""

import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from kexbench.execution.argo import names
from kexbench.execution.argo.cluster import ClusterError, Phase, PodView, TaskView, WorkflowView
from kexbench.execution.leases import LEASE_S
from tests.builders import NOON

Lease = tuple[str, datetime]


class FakeCluster:
    """Implements Cluster."""

    def __init__(self) -> None:
        self.now = NOON
        self.away = False
        self.submitted: list[Mapping[str, Any]] = []
        """Every workflow that was new, in their order."""
        self.found: dict[str, WorkflowView] = {}
        self.crons: dict[str, Mapping[str, Any]] = {}
        self.nodes: dict[str, Mapping[str, str]] = {}
        self.found_pods: dict[str, PodView] = {}
        self.leases: dict[str, Lease] = {}
        self.asked: Counter[str] = Counter()
        """How often each request was answered."""

    def submit(self, manifest: Mapping[str, Any]) -> bool:
        self._ask()
        name = manifest["metadata"]["name"]
        if name in self.found:
            return False
        self.submitted.append(manifest)
        self.found[name] = WorkflowView(
            name=name,
            labels=manifest["metadata"]["labels"],
            phase=Phase.UNSEEN,
            created_at=self.now,
        )
        return True

    def workflows(self, labels: Mapping[str, str]) -> tuple[WorkflowView, ...]:
        self._ask()
        return tuple(view for view in self.found.values() if labels.items() <= view.labels.items())

    def stop(self, name: str) -> None:
        self._ask()
        if name in self.found:
            self.found[name] = replace(self.found[name], stopping=True)

    def delete(self, name: str) -> None:
        self._ask()
        self.found.pop(name, None)

    def cron_workflows(self) -> Mapping[str, str]:
        self._ask()
        return {name: cron["metadata"]["annotations"][names.CONTENT] for name, cron in self.crons.items()}

    def apply_cron(self, manifest: Mapping[str, Any]) -> None:
        self._ask()
        self.crons[manifest["metadata"]["name"]] = manifest

    def delete_cron(self, name: str) -> None:
        self._ask()
        self.crons.pop(name, None)

    def ready_nodes(self, selector: Mapping[str, str]) -> tuple[str, ...]:
        self._ask()
        return tuple(sorted(name for name, labels in self.nodes.items() if selector.items() <= labels.items()))

    def pods(self) -> tuple[PodView, ...]:
        self._ask()
        return tuple(self.found_pods.values())

    def hold_lease(self, name: str, identity: str) -> bool:
        self._ask()
        holder, until = self.leases.get(name, (identity, self.now))
        if holder != identity and self.now <= until:
            return False
        self.leases[name] = (identity, self.now + timedelta(seconds=LEASE_S))
        return True

    def release_lease(self, name: str, identity: str) -> None:
        self._ask()
        if self.leases.get(name, ("", None))[0] == identity:
            del self.leases[name]

    def submitted_tasks(self, name: str) -> tuple[str, ...]:
        """What each task of a submitted workflow is of."""
        manifest = next(manifest for manifest in self.submitted if manifest["metadata"]["name"] == name)
        tasks = manifest["spec"]["templates"][0]["dag"]["tasks"]
        return tuple(task["arguments"]["parameters"][0]["value"] for task in tasks)

    def turn(self, name: str, phase: Phase, message: str = "", *, node: str = "node-1") -> None:
        """Lets a workflow and all its tasks come to a phase."""
        tasks = tuple(TaskView(of, phase, message, node) for of in self.submitted_tasks(name))
        self.found[name] = replace(self.found[name], phase=phase, tasks=tasks)

    def add_pod(self, name: str, labels: Mapping[str, str], trouble: tuple[str, str] = ("", "")) -> None:
        self.found_pods[name] = PodView(name, labels, self.now, reason=trouble[0], message=trouble[1])

    def _ask(self) -> None:
        if self.away:
            raise ClusterError("listing workflows: connection refused\n  remedy: is the API server up?")
        self.asked[sys._getframe(1).f_code.co_name] += 1
