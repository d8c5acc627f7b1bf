"""Things that go wrong on a cluster, done to the one of the tests."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from tenacity import Retrying, retry_if_result, stop_after_delay, wait_fixed

from devcluster.cluster import Cluster
from tests.cluster.kexbench import JOBS
from tests.cluster.kubectl import Kubectl

CONTROLLER = "workflow-controller"
BUDGET = ("poddisruptionbudget/kexbench-jobs", "--namespace", JOBS)
MEMORY_GROUPS = Path("/sys/fs/cgroup/memory")
_OF_ARGO = ("var-run-argo", "tmp-dir-argo", "argo-token")


@contextmanager
def without_kubelet(cluster: Cluster, node: str) -> Iterator[None]:
    """The node's kubelet does nothing; its pods run on, since nobody ends them."""
    (kubelet,) = _processes(cluster, "kubelet", f"--hostname-override={node}")
    os.kill(kubelet, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(kubelet, signal.SIGCONT)


@contextmanager
def drained(kubectl: Kubectl, node: str) -> Iterator[None]:
    """Every pod of the node has been evicted, and the node takes none. The disruption budget of jobs, which would let
    that wait for their end, allows it meanwhile."""
    least = kubectl("get", *BUDGET, "--output=jsonpath={.spec.minAvailable}")
    try:
        _set_budget(kubectl, 0)
        kubectl("drain", node, "--ignore-daemonsets", "--delete-emptydir-data", "--force", "--timeout=180s")
        yield
    finally:
        kubectl("uncordon", node)
        _set_budget(kubectl, int(least))


def _set_budget(kubectl: Kubectl, least: int) -> None:
    kubectl("patch", *BUDGET, "--type=merge", f"--patch={json.dumps({'spec': {'minAvailable': least}})}")
    kubectl("wait", *BUDGET, f"--for=jsonpath={{.status.desiredHealthy}}={least}", "--timeout=60s")


def cut_off_power(cluster: Cluster) -> None:
    """The container that measures is gone at once, with all its processes. While the kubelet does nothing, that is how
    a pod ends with its machine. One job is measured at the time."""
    os.kill(_first_of_the_container_that_measures(cluster), signal.SIGKILL)


def run_out_of_memory(cluster: Cluster) -> None:
    """The kernel ends the container that measures, since its memory has reached its limit: all of it, as with control
    groups of version 2. One job is measured at the time."""
    first = _first_of_the_container_that_measures(cluster)
    Path(f"/proc/{first}/oom_score_adj").write_text("1000")
    groups = [line.split(":") for line in Path(f"/proc/{first}/cgroup").read_text().splitlines()]
    (group,) = (path for _, controllers, path in groups if controllers == "memory")
    joined = MEMORY_GROUPS / group.lstrip("/") / "cgroup.procs"
    hog = f"open({str(joined)!r}, 'w').write('0'); b'x' * (8 << 30)"
    ended = subprocess.run([sys.executable, "-c", hog], check=False)
    assert ended.returncode == -signal.SIGKILL, "the limit was not reached"


def _first_of_the_container_that_measures(cluster: Cluster) -> int:
    """With it the kernel ends every other process of the container."""
    (argoexec,) = _processes(cluster, "argoexec", "kexbench.agent", "measure")
    return argoexec


def kill_argo(cluster: Cluster) -> None:
    """Argo's controller ends at once; returns when there is another."""
    (controller,) = _processes(cluster, CONTROLLER)
    os.kill(controller, signal.SIGKILL)
    again = Retrying(
        retry=retry_if_result(lambda found: found in ([], [controller])),
        wait=wait_fixed(0.2),
        stop=stop_after_delay(60),
    )
    again(_processes, cluster, CONTROLLER)


def duplicate(kubectl: Kubectl, pod: dict[str, Any], name: str) -> None:
    """Another pod for the same try at the same job, as Argo has started them: what ours is given and runs, without
    Argo's own containers, and with a share of a CPU, so that both run at the same time."""
    spec = pod["spec"]
    kept = [volume for volume in spec["volumes"] if volume["name"] not in _OF_ARGO]
    labels = {key: value for key, value in pod["metadata"]["labels"].items() if key.startswith("kexbench.dev/")}
    copy = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": JOBS, "labels": labels},
        "spec": {
            "nodeSelector": spec["nodeSelector"],
            "tolerations": spec["tolerations"],
            "securityContext": spec["securityContext"],
            "serviceAccountName": spec["serviceAccountName"],
            "automountServiceAccountToken": False,
            "restartPolicy": "Never",
            "volumes": kept,
            "initContainers": [_plain(one) for one in spec["initContainers"] if one["name"] == "fetch"],
            "containers": [_plain(one) for one in spec["containers"] if one["name"] == "main"],
        },
    }
    kubectl("create", "-f", "-", given=copy)


def first_results_of(cluster: Cluster, pod: dict[str, Any]) -> dict[str, Any]:
    """The first invocation that a pod that measures has written to its disk, once there is one."""
    kubelet = cluster.state.node(pod["spec"]["nodeName"]) / "kubelet"
    work = kubelet / "pods" / pod["metadata"]["uid"] / "volumes" / "kubernetes.io~empty-dir" / "work"
    whole = Retrying(
        retry=retry_if_result(lambda text: "\n" not in text), wait=wait_fixed(0.2), stop=stop_after_delay(300)
    )
    found: dict[str, Any] = json.loads(whole(_text_of, work / "results.ndjson").partition("\n")[0])
    return found


def _text_of(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def _plain(container: dict[str, Any]) -> dict[str, Any]:
    """Argo puts its own program before a container's command."""
    words = [*container.get("command", []), *container.get("args", [])]
    command = words[words.index("--") + 1 :] if "--" in words else words
    mounts = [mount for mount in container["volumeMounts"] if mount["name"] not in _OF_ARGO]
    share = {"requests": {"cpu": "50m", "memory": "256Mi"}, "limits": {"memory": "1Gi"}}
    taken = {key: container[key] for key in ("name", "image", "imagePullPolicy", "env", "securityContext")}
    return {**taken, "command": command, "volumeMounts": mounts, "resources": share}


def _processes(cluster: Cluster, program: str, *argument: str) -> list[int]:
    found = []
    for process in psutil.Process(cluster.process.pid).children(recursive=True):
        try:
            words = process.cmdline()
        except psutil.NoSuchProcess:
            continue
        if words and Path(words[0]).name == program and set(argument) <= set(words):
            found.append(process.pid)
    return found
