"""The cluster of the tests is what it says it is, and nothing of it stays."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from devcluster.cluster import Cluster
from devcluster.plan import POOL_LABEL, State
from tests.cluster.kubectl import Kubectl, KubectlError
from tests.cluster.pods import POD_TIMEOUT_S, printed_by, workflow

pytestmark = pytest.mark.cluster

CPUS = "import os; print(len(os.sched_getaffinity(0)))"


def test_both_nodes_are_ready_each_in_its_pool(kubectl: Kubectl) -> None:
    nodes = json.loads(kubectl("get", "nodes", "-o", "json"))["items"]
    ready = {
        node["metadata"]["labels"][POOL_LABEL]: condition["status"]
        for node in nodes
        for condition in node["status"]["conditions"]
        if condition["type"] == "Ready"
    }
    assert ready == {"pool-a": "True", "pool-b": "True"}


def test_only_pool_b_is_tainted(kubectl: Kubectl) -> None:
    nodes = json.loads(kubectl("get", "nodes", "-o", "json"))["items"]
    tainted = {
        (node["metadata"]["labels"][POOL_LABEL], taint["key"], taint["effect"])
        for node in nodes
        for taint in node["spec"].get("taints", [])
    }
    assert tainted == {("pool-b", POOL_LABEL, "NoSchedule")}


def test_a_workflow_with_a_pod_in_each_pool_succeeds(kubectl: Kubectl, namespace: str) -> None:
    kubectl("create", "-f", "-", given=workflow("across"))
    at = ("--namespace", namespace, "workflow/across")
    kubectl("wait", *at, "--for=condition=Completed", f"--timeout={POD_TIMEOUT_S}s")
    status = json.loads(kubectl("get", *at, "-o", "json"))["status"]
    assert status["phase"] == "Succeeded", [node.get("message") for node in status["nodes"].values()]
    hosts = {node["displayName"]: node["hostNodeName"] for node in status["nodes"].values() if node["type"] == "Pod"}
    assert hosts == {"first": "node-a", "second": "node-b"}


def test_a_strict_dry_run_takes_a_workflow_and_refuses_one_with_an_unknown_field(
    kubectl: Kubectl, namespace: str
) -> None:
    strictly = ("create", "--dry-run=server", "--validate=strict", "-f", "-")
    right = workflow("right")
    kubectl(*strictly, given=right)
    wrong = {**right, "spec": {**right["spec"], "entrypiont": "both"}}
    with pytest.raises(KubectlError, match="entrypiont"):
        kubectl(*strictly, given=wrong)


def test_a_pod_that_is_not_restricted_is_refused_where_that_is_enforced(kubectl: Kubectl, namespace: str) -> None:
    loose = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "loose", "namespace": namespace},
        "spec": {"containers": [{"name": "main", "image": "any"}]},
    }
    with pytest.raises(KubectlError, match="PodSecurity"):
        kubectl("create", "-f", "-", given=loose)


@pytest.mark.parametrize("pool", ["pool-a", "pool-b"])
def test_a_guaranteed_pod_with_one_cpu_may_run_on_that_one_only(kubectl: Kubectl, namespace: str, pool: str) -> None:
    assert printed_by(kubectl, f"one-cpu-{pool}", pool, CPUS).strip() == "1"


def test_a_pod_reaches_a_service_by_its_name(kubectl: Kubectl, namespace: str) -> None:
    script = "import socket; print(socket.create_connection(('kubernetes.default.svc', 443), 30).getpeername()[0])"
    assert printed_by(kubectl, "by-name", "pool-b", script).strip() == "10.96.0.1"


def test_a_pod_has_no_way_out(kubectl: Kubectl, namespace: str) -> None:
    script = "import socket; print(socket.socket().connect_ex(('192.0.2.1', 443)))"  # an address for documentation
    assert os.strerror(int(printed_by(kubectl, "no-way-out", "pool-a", script))) == "No route to host"


def test_a_command_run_inside_reaches_the_api_and_services(devcluster: Cluster) -> None:
    inside = devcluster.inside(["kubectl", "get", "--raw=/readyz", "--server=https://10.96.0.1"])
    assert subprocess.run(inside, capture_output=True, text=True, check=True).stdout == "ok"


def test_nothing_of_a_cluster_stays(tmp_path: Path) -> None:
    state = State(tmp_path / "short")
    command = [sys.executable, "-m", "devcluster", "--state", str(state.folder), "up", "--nodes", "1"]
    folder = {"PYTHONPATH": str(Path(__file__).parents[3] / "infra")}
    with subprocess.Popen(command, env={**os.environ, **folder}, stderr=subprocess.PIPE, text=True) as up:
        assert up.stderr is not None
        said = []
        for line in up.stderr:
            said.append(line)
            if line.startswith("The cluster is up"):
                break
        else:
            pytest.fail("".join(said))
        running = psutil.Process(up.pid).children(recursive=True)
        spaces = set().union(*(_namespaces(each.pid) for each in running)) - _namespaces(os.getpid())
        up.send_signal(signal.SIGTERM)
        up.stderr.read()
    assert up.returncode == 130
    assert len(running) > 5
    assert len(spaces) > 2
    assert [each for each in running if each.is_running()] == []
    assert not spaces & set().union(*(_namespaces(pid) for pid in psutil.pids()))
    assert str(tmp_path) not in Path("/proc/self/mountinfo").read_text()
    assert list(Path("/sys/fs/cgroup").glob(f"*/kexbench-{up.pid}")) == []
    assert list(tmp_path.iterdir()) == []


def _namespaces(pid: int) -> set[str]:
    found = set()
    for name in ("net", "mnt", "pid"):
        try:
            found.add(str(Path(f"/proc/{pid}/ns/{name}").readlink()))
        except OSError:  # it ended meanwhile
            return set()
    return found
