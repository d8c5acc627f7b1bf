"""Implements the port of the cluster with the Kubernetes API. Argo's own server is not needed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx2
from lightkube import Client, KubeConfig
from lightkube.generic_resource import create_namespaced_resource
from lightkube.models.meta_v1 import OwnerReference
from lightkube.operators import not_in
from lightkube.resources.core_v1 import Node, Pod, ServiceAccount
from lightkube.types import PatchType

from kexbench.execution.argo import names
from kexbench.execution.argo.cluster import PodView, WorkflowView
from kexbench.execution.argo.views import cron_content, pod_view, takes_pods, workflow_view
from kexbench.execution.lightkube_errors import CONFLICT, GONE, explaining, unless
from kexbench.execution.lightkube_leases import LightkubeLeases

_Workflow = create_namespaced_resource("argoproj.io", "v1alpha1", "Workflow", "workflows")
_CronWorkflow = create_namespaced_resource("argoproj.io", "v1alpha1", "CronWorkflow", "cronworkflows")
_FIELD_MANAGER = "kexbench-dispatcher"
_TIMEOUT_S = 60.0
"""A large run has thousands of pods; a small API server needs longer to list them than the client's ten seconds."""


@dataclass(frozen=True)
class Accounts:
    """Names of the ServiceAccounts of jobs and of the lease holder, each in its namespace; empty for none."""

    of_jobs: str
    of_lease: str


class LightkubeCluster:
    """Implements Cluster."""

    def __init__(
        self,
        client: Client,
        namespace: str,
        lease_namespace: str,
        clock: Callable[[], datetime] | None = None,
        accounts: Accounts | None = None,
    ) -> None:
        """These accounts own all created objects, so that Kubernetes deletes the objects with them."""
        self._accounts = accounts
        self._client = client
        self._namespace = namespace
        self._leases = LightkubeLeases(client, lease_namespace, clock, lambda: self._lease_owners(lease_namespace))

    @classmethod
    def connect(
        cls, namespace: str, lease_namespace: str, kubeconfig: Path | None = None, accounts: Accounts | None = None
    ) -> "LightkubeCluster":
        """Uses the kubeconfig; without one, the pod's account or KUBECONFIG. Raises ClusterError."""
        with explaining("finding the cluster"):
            config = KubeConfig.from_file(kubeconfig) if kubeconfig else KubeConfig.from_env()
            client = Client(config=config, namespace=namespace, timeout=httpx2.Timeout(_TIMEOUT_S))
            return cls(client, namespace, lease_namespace, accounts=accounts)

    def close(self) -> None:
        self._client.close()

    def submit(self, manifest: Mapping[str, Any]) -> bool:
        name = manifest["metadata"]["name"]
        with explaining(f"submitting workflow {name}"), unless(CONFLICT):
            self._client.create(_Workflow(**self._owned(manifest)), namespace=self._namespace)
            return True
        return False

    def workflows(self, labels: Mapping[str, str]) -> tuple[WorkflowView, ...]:
        with explaining("listing workflows"):
            workflows = self._client.list(_Workflow, namespace=self._namespace, labels=dict(labels))
            return tuple(workflow_view(dict(workflow)) for workflow in workflows)

    def stop(self, name: str) -> None:
        with explaining(f"stopping workflow {name}"), unless(GONE):
            patch = {"spec": {"shutdown": "Terminate"}}
            self._client.patch(_Workflow, name, patch, namespace=self._namespace, patch_type=PatchType.MERGE)

    def delete(self, name: str) -> None:
        with explaining(f"deleting workflow {name}"), unless(GONE):
            self._client.delete(_Workflow, name, namespace=self._namespace)

    def cron_workflows(self) -> Mapping[str, str]:
        with explaining("listing cron workflows"):
            crons = self._client.list(
                _CronWorkflow,
                namespace=self._namespace,
                labels={names.PART_OF: names.KEXBENCH, names.SCHEDULE: None},  # with any value
            )
            return dict(cron_content(dict(cron)) for cron in crons)

    def apply_cron(self, manifest: Mapping[str, Any]) -> None:
        # Server-side apply keeps what Argo writes into the same object.
        with explaining(f"applying cron workflow {manifest['metadata']['name']}"):
            self._client.apply(_CronWorkflow(**self._owned(manifest)), field_manager=_FIELD_MANAGER, force=True)

    def delete_cron(self, name: str) -> None:
        with explaining(f"deleting cron workflow {name}"), unless(GONE):
            self._client.delete(_CronWorkflow, name, namespace=self._namespace)

    def ready_nodes(self, selector: Mapping[str, str]) -> tuple[str, ...]:
        with explaining("listing nodes"):
            nodes = [node.to_dict() for node in self._client.list(Node, labels=dict(selector))]
        return tuple(sorted(node["metadata"]["name"] for node in nodes if takes_pods(node)))

    def pods(self) -> tuple[PodView, ...]:
        with explaining("listing pods"):
            # Ended pods are kept for a while, and a large run has thousands.
            pods = self._client.list(
                Pod,
                namespace=self._namespace,
                labels={names.PART_OF: names.KEXBENCH},
                fields={"status.phase": not_in(["Succeeded", "Failed"])},
            )
            return tuple(pod_view(pod.to_dict()) for pod in pods)

    def hold_lease(self, name: str, identity: str) -> bool:
        return self._leases.hold(name, identity)

    def release_lease(self, name: str, identity: str) -> None:
        self._leases.release(name, identity)

    def _owned(self, manifest: Mapping[str, Any]) -> dict[str, Any]:
        account = self._accounts.of_jobs if self._accounts else ""
        owners = self._owners(account, self._namespace)
        return {**manifest, "metadata": {**manifest["metadata"], **({"ownerReferences": owners} if owners else {})}}

    def _lease_owners(self, namespace: str) -> list[OwnerReference]:
        account = self._accounts.of_lease if self._accounts else ""
        return [OwnerReference(**owner) for owner in self._owners(account, namespace)]

    def _owners(self, account: str, namespace: str) -> list[dict[str, Any]]:
        """The current account: a recreated owner has another uid, and Kubernetes does not accept the old one."""
        if not account:
            return []
        with unless(GONE):
            metadata = self._client.get(ServiceAccount, account, namespace=namespace).metadata
            assert metadata is not None
            assert metadata.uid is not None
            return [{"apiVersion": "v1", "kind": "ServiceAccount", "name": account, "uid": metadata.uid}]
        return []
