"""One real cluster for all tests marked `cluster`: brought up once, gone with the session."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from devcluster.cluster import Cluster, running_cluster
from devcluster.control_plane import kubectl_command
from devcluster.plan import State
from tests.cluster.kexbench import Kexbench, installed
from tests.cluster.kubectl import Kubectl, KubectlError
from tests.cluster.pods import NAMESPACE


@pytest.fixture(scope="session")
def devcluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Two nodes, one in pool-a and one, tainted, in pool-b."""
    if os.geteuid() != 0:
        pytest.fail("tests of the cluster make namespaces and control groups: run them as root, `make test-cluster`.")
    with running_cluster(State(tmp_path_factory.mktemp("devcluster") / "state")) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def cluster_config(devcluster: Cluster) -> Path:
    """A kubeconfig with every right, that works in this process."""
    return devcluster.kubeconfig


@pytest.fixture(scope="session")
def kubectl(devcluster: Cluster) -> Kubectl:
    """`kubectl("get", "nodes")` is what it prints; `given` goes to its standard input as JSON."""

    def run(*words: str, given: object = None) -> str:
        done = subprocess.run(
            kubectl_command(devcluster.binaries, devcluster.state, devcluster.kubeconfig, *words),
            input=json.dumps(given),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise KubectlError(f"kubectl {' '.join(words)}: {done.stderr}")
        return done.stdout

    return run


@pytest.fixture(scope="session")
def namespace(kubectl: Kubectl) -> str:
    """A namespace for pods under the restricted standard, whose service account may do what Argo needs only."""
    enforced = {"pod-security.kubernetes.io/enforce": "restricted"}
    role = {"apiGroups": ["argoproj.io"], "resources": ["workflowtaskresults"], "verbs": ["create", "patch"]}
    account = {"kind": "ServiceAccount", "name": "job", "namespace": NAMESPACE}
    group = "rbac.authorization.k8s.io"
    here = {"name": "job", "namespace": NAMESPACE}
    items: list[dict[str, Any]] = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE, "labels": enforced}},
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": here},
        {"apiVersion": f"{group}/v1", "kind": "Role", "metadata": here, "rules": [role]},
        {
            "apiVersion": f"{group}/v1",
            "kind": "RoleBinding",
            "metadata": here,
            "roleRef": {"apiGroup": group, "kind": "Role", "name": "job"},
            "subjects": [account],
        },
    ]
    kubectl("apply", "-f", "-", given={"apiVersion": "v1", "kind": "List", "items": items})
    return NAMESPACE


@pytest.fixture(scope="session")
def kexbench(devcluster: Cluster, kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory) -> Kexbench:
    return installed(devcluster, kubectl, tmp_path_factory.mktemp("kexbench"))
