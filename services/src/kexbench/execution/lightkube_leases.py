"""Implements the port of leases with those of Kubernetes."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

import httpx2
from lightkube import Client
from lightkube.core.exceptions import ApiError
from lightkube.models.coordination_v1 import LeaseSpec
from lightkube.models.meta_v1 import ObjectMeta, OwnerReference
from lightkube.resources.coordination_v1 import Lease

from kexbench.execution.leases import LEASE_S, LeaseView
from kexbench.execution.lightkube_errors import CONFLICT, GONE, explaining, unless

_TIMEOUT_S = 5.0
"""A renewal that takes longer than this is tried again while the lease is still ours."""


class LightkubeLeases:
    """Implements Leases, in one namespace."""

    def __init__(
        self,
        client: Client,
        namespace: str,
        clock: Callable[[], datetime] | None = None,
        owners: Callable[[], Sequence[OwnerReference]] = tuple,
    ) -> None:
        """A lease that is created belongs to `owners`: Kubernetes deletes it with them."""
        self._client = client
        self._namespace = namespace
        self._clock = clock or (lambda: datetime.now(UTC))
        self._owners = owners

    @classmethod
    def connect(cls, namespace: str) -> "LightkubeLeases":
        """In the cluster of this pod, or of KUBECONFIG. Raises ClusterError."""
        with explaining("finding the cluster"):
            return cls(Client(namespace=namespace, timeout=httpx2.Timeout(_TIMEOUT_S)), namespace)

    def view(self, name: str) -> LeaseView:
        with explaining(f"reading lease {name}"), unless(GONE):
            spec = self._client.get(Lease, name, namespace=self._namespace).spec or LeaseSpec()
            return LeaseView(spec.holderIdentity or "", str(spec.renewTime or ""))
        return LeaseView()

    def hold(self, name: str, identity: str, duration_s: int = LEASE_S) -> bool:
        with explaining(f"holding lease {name}"), unless(CONFLICT):
            return self._take(name, identity, duration_s)
        return False  # another process was faster

    def release(self, name: str, identity: str) -> None:
        with explaining(f"releasing lease {name}"), unless(GONE, CONFLICT):
            lease = self._client.get(Lease, name, namespace=self._namespace)
            if lease.spec and lease.spec.holderIdentity == identity:
                lease.spec.holderIdentity = ""
                self._client.replace(lease)

    def _take(self, name: str, identity: str, duration_s: int) -> bool:
        # Kubernetes requires microseconds in the times of a lease, but lightkube omits them for whole seconds.
        now = self._clock()
        now = now if now.microsecond else now.replace(microsecond=1)
        ours = LeaseSpec(holderIdentity=identity, leaseDurationSeconds=duration_s, acquireTime=now, renewTime=now)
        try:
            lease = self._client.get(Lease, name, namespace=self._namespace)
        except ApiError as error:
            if error.status.code != GONE:
                raise
            metadata = ObjectMeta(name=name, ownerReferences=list(self._owners()))
            self._client.create(Lease(metadata=metadata, spec=ours), namespace=self._namespace)
            return True
        held = lease.spec or LeaseSpec()
        if held.holderIdentity not in (None, "", identity) and not _is_over(held, now):
            return False
        # With its resourceVersion, so that a concurrent replacement causes a conflict.
        lease.spec = ours
        self._client.replace(lease)
        return True


def _is_over(lease: LeaseSpec, now: datetime) -> bool:
    if lease.renewTime is None:
        return True
    return now > lease.renewTime + timedelta(seconds=lease.leaseDurationSeconds or LEASE_S)
