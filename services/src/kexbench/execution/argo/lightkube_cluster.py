"""Implements the port of the cluster with the Kubernetes API. Argo's own server is not needed."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
from lightkube import Client, KubeConfig
from lightkube.core.exceptions import ApiError, ConfigError
from lightkube.generic_resource import create_namespaced_resource
from lightkube.models.coordination_v1 import LeaseSpec
from lightkube.models.meta_v1 import ObjectMeta, OwnerReference
from lightkube.operators import not_in
from lightkube.resources.coordination_v1 import Lease
from lightkube.resources.core_v1 import Node, Pod, ServiceAccount
from lightkube.types import PatchType

from kexbench.execution.argo import names
from kexbench.execution.argo.cluster import LEASE_S, ClusterError, PodView, WorkflowView
from kexbench.execution.argo.views import cron_content, pod_view, takes_pods, workflow_view

_Workflow = create_namespaced_resource("argoproj.io", "v1alpha1", "Workflow", "workflows")
_CronWorkflow = create_namespaced_resource("argoproj.io", "v1alpha1", "CronWorkflow", "cronworkflows")
_FIELD_MANAGER = "kexbench-dispatcher"
_TIMEOUT_S = 60.0
"""A large run has thousands of pods; a small API server needs longer to list them than the client's ten seconds."""
_REMEDIES = {
    401: "Kubernetes rejects the token of this process: mount one for its ServiceAccount, or renew the kubeconfig",
    403: "grant the permission to the ServiceAccount of this process, as the roles of the Helm chart do",
    404: "install Argo Workflows with its CustomResourceDefinitions, and create the namespace of jobs",
    422: "Kubernetes rejects the object: install Argo Workflows 3.7 or newer",
}
_GONE, _CONFLICT = 404, 409


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
        self._lease_namespace = lease_namespace
        self._clock = clock or (lambda: datetime.now(UTC))

    @classmethod
    def connect(
        cls, namespace: str, lease_namespace: str, kubeconfig: Path | None = None, accounts: Accounts | None = None
    ) -> "LightkubeCluster":
        """Uses the kubeconfig; without one, the pod's account or KUBECONFIG. Raises ClusterError."""
        with _explaining("finding the cluster"):
            config = KubeConfig.from_file(kubeconfig) if kubeconfig else KubeConfig.from_env()
            client = Client(config=config, namespace=namespace, timeout=httpx2.Timeout(_TIMEOUT_S))
            return cls(client, namespace, lease_namespace, accounts=accounts)

    def close(self) -> None:
        self._client.close()

    def submit(self, manifest: Mapping[str, Any]) -> bool:
        name = manifest["metadata"]["name"]
        with _explaining(f"submitting workflow {name}"), _unless(_CONFLICT):
            self._client.create(_Workflow(**self._owned(manifest)), namespace=self._namespace)
            return True
        return False

    def workflows(self, labels: Mapping[str, str]) -> tuple[WorkflowView, ...]:
        with _explaining("listing workflows"):
            workflows = self._client.list(_Workflow, namespace=self._namespace, labels=dict(labels))
            return tuple(workflow_view(dict(workflow)) for workflow in workflows)

    def stop(self, name: str) -> None:
        with _explaining(f"stopping workflow {name}"), _unless(_GONE):
            patch = {"spec": {"shutdown": "Terminate"}}
            self._client.patch(_Workflow, name, patch, namespace=self._namespace, patch_type=PatchType.MERGE)

    def delete(self, name: str) -> None:
        with _explaining(f"deleting workflow {name}"), _unless(_GONE):
            self._client.delete(_Workflow, name, namespace=self._namespace)

    def cron_workflows(self) -> Mapping[str, str]:
        with _explaining("listing cron workflows"):
            crons = self._client.list(
                _CronWorkflow,
                namespace=self._namespace,
                labels={names.PART_OF: names.KEXBENCH, names.SCHEDULE: None},  # with any value
            )
            return dict(cron_content(dict(cron)) for cron in crons)

    def apply_cron(self, manifest: Mapping[str, Any]) -> None:
        # Server-side apply keeps what Argo writes into the same object.
        with _explaining(f"applying cron workflow {manifest['metadata']['name']}"):
            self._client.apply(_CronWorkflow(**self._owned(manifest)), field_manager=_FIELD_MANAGER, force=True)

    def delete_cron(self, name: str) -> None:
        with _explaining(f"deleting cron workflow {name}"), _unless(_GONE):
            self._client.delete(_CronWorkflow, name, namespace=self._namespace)

    def ready_nodes(self, selector: Mapping[str, str]) -> tuple[str, ...]:
        with _explaining("listing nodes"):
            nodes = [node.to_dict() for node in self._client.list(Node, labels=dict(selector))]
        return tuple(sorted(node["metadata"]["name"] for node in nodes if takes_pods(node)))

    def pods(self) -> tuple[PodView, ...]:
        with _explaining("listing pods"):
            # Ended pods are kept for a while, and a large run has thousands.
            pods = self._client.list(
                Pod,
                namespace=self._namespace,
                labels={names.PART_OF: names.KEXBENCH},
                fields={"status.phase": not_in(["Succeeded", "Failed"])},
            )
            return tuple(pod_view(pod.to_dict()) for pod in pods)

    def hold_lease(self, name: str, identity: str) -> bool:
        with _explaining(f"holding lease {name}"), _unless(_CONFLICT):
            return self._take(name, identity)
        return False  # another process was faster

    def release_lease(self, name: str, identity: str) -> None:
        with _explaining(f"releasing lease {name}"), _unless(_GONE, _CONFLICT):
            lease = self._client.get(Lease, name, namespace=self._lease_namespace)
            if lease.spec and lease.spec.holderIdentity == identity:
                lease.spec.holderIdentity = ""
                self._client.replace(lease)

    def _owned(self, manifest: Mapping[str, Any]) -> dict[str, Any]:
        account = self._accounts.of_jobs if self._accounts else ""
        owners = self._owners(account, self._namespace)
        return {**manifest, "metadata": {**manifest["metadata"], **({"ownerReferences": owners} if owners else {})}}

    def _owners(self, account: str, namespace: str) -> list[dict[str, Any]]:
        """The current account: a recreated owner has another uid, and Kubernetes does not accept the old one."""
        if not account:
            return []
        with _unless(_GONE):
            metadata = self._client.get(ServiceAccount, account, namespace=namespace).metadata
            assert metadata is not None
            assert metadata.uid is not None
            return [{"apiVersion": "v1", "kind": "ServiceAccount", "name": account, "uid": metadata.uid}]
        return []

    def _take(self, name: str, identity: str) -> bool:
        # Kubernetes requires microseconds in the times of a lease, but lightkube omits them for whole seconds.
        now = self._clock().replace(microsecond=1)
        try:
            lease = self._client.get(Lease, name, namespace=self._lease_namespace)
        except ApiError as error:
            if error.status.code != _GONE:
                raise
            account = self._accounts.of_lease if self._accounts else ""
            owners = [OwnerReference(**owner) for owner in self._owners(account, self._lease_namespace)]
            metadata = ObjectMeta(name=name, ownerReferences=owners)
            self._client.create(Lease(metadata=metadata, spec=_ours(identity, now)), namespace=self._lease_namespace)
            return True
        held = lease.spec or LeaseSpec()
        if held.holderIdentity not in (None, "", identity) and not _is_over(held, now):
            return False
        # With its resourceVersion, so that a concurrent replacement causes a conflict.
        lease.spec = _ours(identity, now)
        self._client.replace(lease)
        return True


def _ours(identity: str, now: datetime) -> LeaseSpec:
    return LeaseSpec(holderIdentity=identity, leaseDurationSeconds=LEASE_S, acquireTime=now, renewTime=now)


def _is_over(lease: LeaseSpec, now: datetime) -> bool:
    if lease.renewTime is None:
        return True
    return now > lease.renewTime + timedelta(seconds=lease.leaseDurationSeconds or LEASE_S)


@contextmanager
def _unless(*codes: int) -> Iterator[None]:
    """Continues after the context if Kubernetes answers with one of these codes."""
    try:
        yield
    except ApiError as error:
        if error.status.code not in codes:
            raise


@contextmanager
def _explaining(doing: str) -> Iterator[None]:
    """Turns every error of the client into a ClusterError."""
    try:
        yield
    except ApiError as error:
        code = error.status.code or 0
        raise ClusterError(_text(doing, error.status.message or str(error), _REMEDIES.get(code))) from error
    except httpx2.HTTPError as error:
        remedy = "check that the API server runs and that this process can reach it"
        raise ClusterError(_text(doing, str(error) or type(error).__name__, remedy)) from error
    except ConfigError as error:
        remedy = "run this in a pod with a ServiceAccount, or set KUBECONFIG to a kubeconfig"
        raise ClusterError(_text(doing, str(error), remedy)) from error


def _text(doing: str, reason: str, remedy: str | None) -> str:
    return f"{doing}: {reason}" + (f"\n  remedy: {remedy}" if remedy else "")
