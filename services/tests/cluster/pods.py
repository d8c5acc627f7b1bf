"""Pods and workflows as the tests want them: restricted, of the runner's image, without a registry."""

from typing import Any

from devcluster.images import kexbench_image
from devcluster.plan import POOL_LABEL
from tests.cluster.kubectl import Kubectl

NAMESPACE = "test-devcluster"
POD_TIMEOUT_S = 600
"""Nothing is slow here by itself, but the machine may be busy."""
WHOLE_CPU = {"cpu": "1", "memory": "64Mi"}
POD_SECURITY = {"runAsNonRoot": True, "runAsUser": 65532, "seccompProfile": {"type": "RuntimeDefault"}}
TOLERATIONS = [{"key": POOL_LABEL, "operator": "Exists", "effect": "NoSchedule"}]


def container(*command: str) -> dict[str, Any]:
    """Guaranteed, with one whole CPU."""
    return {
        "name": "main",
        "image": kexbench_image("runner"),
        "imagePullPolicy": "Never",
        "command": list(command),
        "resources": {"requests": WHOLE_CPU, "limits": WHOLE_CPU},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
    }


def pod(name: str, pool: str, script: str) -> dict[str, Any]:
    """Runs a line of Python on a node of the pool, once."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "nodeSelector": {POOL_LABEL: pool},
            "tolerations": TOLERATIONS,
            "restartPolicy": "Never",
            "automountServiceAccountToken": False,
            "securityContext": POD_SECURITY,
            "containers": [container("python3", "-c", script)],
        },
    }


def printed_by(kubectl: Kubectl, name: str, pool: str, script: str) -> str:
    """What the line of Python printed in a pod that succeeded."""
    kubectl("create", "-f", "-", given=pod(name, pool, script))
    at = ("--namespace", NAMESPACE)
    try:
        kubectl(
            *("wait", *at, f"pod/{name}", "--for=jsonpath={.status.phase}=Succeeded", f"--timeout={POD_TIMEOUT_S}s")
        )
        return kubectl("logs", *at, name)
    finally:
        kubectl("delete", *at, "pod", name, "--now")


def workflow(name: str) -> dict[str, Any]:
    """Two pods one after the other, the first in pool-a and the second in pool-b."""
    templates: list[dict[str, Any]] = [
        {
            "name": pool,
            "nodeSelector": {POOL_LABEL: pool},
            "tolerations": TOLERATIONS,
            "container": container("python3", "-c", "import os; print(sorted(os.sched_getaffinity(0)))"),
        }
        for pool in ("pool-a", "pool-b")
    ]
    tasks = [
        {"name": "first", "template": "pool-a"},
        {"name": "second", "template": "pool-b", "dependencies": ["first"]},
    ]
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "entrypoint": "both",
            "serviceAccountName": "job",
            "securityContext": POD_SECURITY,
            "templates": [*templates, {"name": "both", "dag": {"tasks": tasks}}],
        },
    }
