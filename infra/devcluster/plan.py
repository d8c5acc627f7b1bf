"""What one cluster consists of: addresses, nodes, and the CPUs that each node may hand out. Decides, does nothing."""

from dataclasses import dataclass
from pathlib import Path

HOST = "10.99.0.1"
"""Where etcd, the API server, CoreDNS and whatever `run` starts are."""
POD_RANGE = "10.244.0.0/16"
SERVICE_RANGE = "10.96.0.0/16"
API_SERVICE = "10.96.0.1"
DNS_SERVICE = "10.96.0.10"
DOMAIN = "cluster.local"
POOL_LABEL = "kexbench.dev/pool"
TAINTED_POOL = "pool-b"
SILENT_NODE_S = 30
"""A node that is silent for so long is not ready, and so much later its pods are given up: minutes elsewhere."""
SILENT_SIMULATED_NODE_S = 900
"""Simulated nodes never die, and whoever renews the leases of a thousand shares the CPUs with everything else."""
ARGO_LINE = "3.7"
"""Of the controller that runs, and of the resource definitions."""
NAMESPACES = ("argo", "kexbench", "kexbench-jobs")
_NAMES = ("node-a", "node-b")
_POOLS = ("pool-a", TAINTED_POOL)


@dataclass(frozen=True)
class CpuShare:
    """What the static CPU manager of a node keeps from exclusive use: these CPUs, or (None) one, counted as a half."""

    reserved: str | None
    kept: int
    """Which CPU that one is; 0 unless it has to be another."""


@dataclass(frozen=True)
class Node:
    """One node: a kubelet with a containerd, in namespaces of its own."""

    name: str
    pool: str
    address: str
    pods: str
    cpus: CpuShare

    @property
    def taints(self) -> str:
        return f"{POOL_LABEL}={self.pool}:NoSchedule" if self.pool == TAINTED_POOL else ""


@dataclass(frozen=True)
class State:
    """The folder of a running cluster."""

    folder: Path

    @property
    def kubeconfig(self) -> Path:
        """For processes of this machine."""
        return self.folder / "kubeconfig"

    @property
    def inner_kubeconfig(self) -> Path:
        """For processes in the cluster's network namespace."""
        return self.folder / "inner.kubeconfig"

    @property
    def pid(self) -> Path:
        """Holds the process that is in the cluster's network namespace, once the cluster is ready."""
        return self.folder / "pid"

    @property
    def logs(self) -> Path:
        return self.folder / "log"

    def node(self, name: str) -> Path:
        return self.folder / "nodes" / name

    def reached(self, name: str) -> Path:
        """A file that is there once services answer from this node."""
        return self.node(name) / "reached"


def nodes(count: int, cpus: int) -> tuple[Node, ...]:
    """One or two nodes that share this machine's CPUs."""
    return tuple(
        Node(_NAMES[n], _POOLS[n], f"10.99.0.{11 + n}", f"10.244.{1 + n}.0/24", cpu_share(n, count, cpus))
        for n in range(count)
    )


def cpu_share(index: int, count: int, cpus: int) -> CpuShare:
    """Which CPUs node `index` of `count` keeps back, on a machine with so many.

    With more than two, a node reserves those of the other. With two CPUs, it reserves half of one: the kubelet then
    keeps a whole one from exclusive use, but counts 1.5 as allocatable, so that a pod with one exclusive CPU has room
    for the containers that Argo adds to it.
    """
    if cpus <= 2 or count == 1:
        return CpuShare(None, 1 - index if count == cpus == 2 else 0)
    each = cpus // count
    mine = range(index * each, (index + 1) * each)
    return CpuShare(",".join(str(cpu) for cpu in range(cpus) if cpu not in mine), 0)
