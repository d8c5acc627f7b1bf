"""A simulated cluster with nodes, and the figures that are read when all workflows have ended."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil
from httpx2 import HTTPError, Timeout
from lightkube import Client, KubeConfig
from lightkube.core.exceptions import ApiError
from lightkube.generic_resource import create_namespaced_resource
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import ConfigMap, Event, Node, ServiceAccount

from bench.machine import BenchError
from bench.scale_dispatcher import SETTINGS
from devcluster.cluster import Cluster, simulated_cluster
from devcluster.errors import DevclusterError
from devcluster.plan import State
from kexbench.execution.argo.lightkube_cluster import LightkubeCluster

FAILURES = (BenchError, DevclusterError, ApiError, HTTPError, subprocess.CalledProcessError)
"""What may end a simulation."""
PROGRAMS = ("workflow-controller", "kube-apiserver", "etcd", "kube-scheduler")
"""Programs whose memory is reported."""
MIB = 1 << 20
ETCD_TAKES = 3 * MIB // 2
"""Default size limit of an object in etcd."""
LEASES = "kexbench"
_ARGO_CONFIG, _POD_RATE = "workflow-controller-configmap", "resourceRateLimit"
_Workflow = create_namespaced_resource("argoproj.io", "v1alpha1", "Workflow", "workflows")
_READY_TIMEOUT_S = 240
_PEAK = re.compile(r"^VmHWM:\s+(\d+) kB$", re.MULTILINE)
_METRICS = "https://127.0.0.1:10259/metrics"
_FETCH = """\
import ssl, sys, urllib.request
context = ssl._create_unverified_context()
sys.stdout.buffer.write(urllib.request.urlopen(sys.argv[1], context=context).read())
"""
_SCHEDULING = "scheduler_pod_scheduling_sli_duration_seconds"


class Simulation:
    """A running simulated cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        config = KubeConfig.from_file(cluster.kubeconfig)
        self._client = Client(config=config, namespace=SETTINGS.namespace, timeout=Timeout(_READY_TIMEOUT_S))
        self.dispatchers = LightkubeCluster.connect(SETTINGS.namespace, LEASES, cluster.kubeconfig)

    def close(self) -> None:
        self.dispatchers.close()
        self._client.close()

    def fill(self, nodes: Sequence[Node]) -> None:
        """Create nodes and the jobs' service account. Returns when all nodes accept pods. Raises BenchError."""
        # Without Argo's limit of pods per second, which would dominate the result.
        self._client.patch(ConfigMap, _ARGO_CONFIG, {"data": {_POD_RATE: None}}, namespace="argo")
        self._client.create(ServiceAccount(metadata=ObjectMeta(name=SETTINGS.job_service_account)))
        for node in nodes:
            self._client.create(node)
        deadline = time.monotonic() + _READY_TIMEOUT_S
        while sum(map(is_free, self._client.list(Node))) < len(nodes):
            if time.monotonic() > deadline:
                raise BenchError(f"{len(nodes)} simulated nodes were not ready within {_READY_TIMEOUT_S} s")
            time.sleep(1)

    def workflows(self) -> list[Mapping[str, Any]]:
        return [dict(workflow) for workflow in self._client.list(_Workflow)]

    def bound_at(self) -> list[datetime]:
        """When the scheduler bound each pod to its node, from its events."""
        scheduled = self._client.list(Event, fields={"reason": "Scheduled"})
        return [event.eventTime for event in scheduled if event.eventTime]

    def scheduler_s(self, share: float) -> float:
        """Seconds within which this share of pods was bound after the scheduler first saw them. The value is a bucket
        bound of the scheduler's histogram."""
        command = self._cluster.inside([sys.executable, "-c", _FETCH, _METRICS])
        return quantile(subprocess.run(command, capture_output=True, text=True, check=True).stdout, _SCHEDULING, share)

    def peak_bytes(self) -> dict[str, int]:
        """The peak memory of each of PROGRAMS."""
        running = psutil.Process(self._cluster.process.pid).children(recursive=True)
        statuses = {process.name(): Path(f"/proc/{process.pid}/status").read_text() for process in running}
        return {name: peak_of(statuses[name]) for name in PROGRAMS}


@contextmanager
def simulation(pod_ms: int = 0) -> Iterator[Simulation]:
    """A simulated cluster whose pods run for so long. It is stopped on exit. Raises DevclusterError."""
    with TemporaryDirectory() as folder, simulated_cluster(State(Path(folder) / "state"), pod_ms) as cluster:
        running = Simulation(cluster)
        try:
            yield running
        finally:
            running.close()


def is_free(node: Node) -> bool:
    """Whether a node has only its pool's taint. A node that is not ready has other taints."""
    taints = (node.spec.taints if node.spec else None) or []
    return not any(taint.key.startswith("node.kubernetes.io/") for taint in taints)


def stored_bytes(document: Mapping[str, Any]) -> int:
    """The size of a custom resource in etcd, which stores its JSON."""
    return len(json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode())


def peak_of(status: str) -> int:
    """Peak memory of a process in bytes, from its status in /proc. Raises BenchError if it is missing."""
    match = _PEAK.search(status)
    if match is None:
        raise BenchError("the process has no memory of its own")
    return int(match[1]) * 1024


def quantile(metrics: str, name: str, share: float) -> float:
    """The lowest bound of a Prometheus histogram with at least this share of all values below it. Infinite above the
    last bound. Raises BenchError if there are no values."""
    counts: dict[float, float] = {}
    for bound, count in re.findall(rf'^{name}_bucket{{[^}}]*le="([^"]+)"}} (\S+)$', metrics, re.MULTILINE):
        counts[float(bound)] = counts.get(float(bound), 0.0) + float(count)
    if not counts or counts[max(counts)] == 0:
        raise BenchError(f"{name} has no values")
    return min(bound for bound, count in counts.items() if count >= share * counts[max(counts)])


def ended_at(workflows: Iterable[Mapping[str, Any]]) -> datetime:
    """When the last workflow ended."""
    return max(datetime.fromisoformat(workflow["status"]["finishedAt"]) for workflow in workflows)
