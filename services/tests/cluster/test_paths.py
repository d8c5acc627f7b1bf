"""What pods may do to emulate a path: nothing by default, and enough with what the chart's jobs.paths gives them."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from devcluster.cluster import Cluster
from kexbench.execution.argo import pods as argo_pods
from kexbench.planning.job_pods import JobPods
from tests.cluster.kexbench import Kexbench, a_spec
from tests.cluster.kubectl import Kubectl
from tests.cluster.pods import POD_TIMEOUT_S, pod
from tests.execution.argo.cases import AMD, SETTINGS

pytestmark = pytest.mark.cluster

PROFILE = "kexbench-paths.json"
NEW_USER_AND_NETWORK, NEW_NETWORK = 0x50000000, 0x40000000
PROBE = "from runpy import run_module; run_module('kexbench.runner.doctor.path_probe', run_name='__main__')"
DEVICE = "tun"


def test_by_default_a_case_with_a_path_is_unsupported_and_its_reason_names_the_step_and_the_remedy(
    kexbench: Kexbench, tmp_path: Path
) -> None:
    spec = tmp_path / "spec.yaml"
    usual = a_spec("a-path-by-default", pools="pool-a")
    spec.write_text(usual.replace("group: [X25519]", "group: [X25519]\n  path: [region]"))
    run_id = str(kexbench.done(kexbench.command("submit", str(spec), "--json"))["run_id"])
    kexbench.wait_for(run_id, "finished")
    outcomes = [cell["outcome"] for cell in kexbench.get(f"/runs/{run_id}?pool=pool-a")["cells"]]
    assert [outcome["kind"] for outcome in outcomes] == ["unsupported"] * 2
    for outcome in outcomes:
        assert "making a network namespace" in outcome["reason"]
        assert "jobs.paths" in outcome["reason"]


def test_a_pod_with_the_profile_and_the_device_makes_a_path_without_a_capability(
    devcluster: Cluster, kubectl: Kubectl, namespace: str
) -> None:
    """A device plugin gives a pod a device of the node; here a volume of a namespace without a standard does."""
    name = f"{namespace}-paths"
    kubectl("create", "namespace", name)
    kubelet = devcluster.state.node("node-a") / "kubelet"
    (kubelet / "seccomp").mkdir(exist_ok=True)
    (kubelet / DEVICE).unlink(missing_ok=True)
    os.mknod(kubelet / DEVICE, 0o020666, os.makedev(10, 200))
    (kubelet / DEVICE).chmod(0o666)
    default = _default_profile(kubectl, namespace)
    (kubelet / "seccomp" / PROFILE).write_text(json.dumps(with_namespaces(default)))
    try:
        printed = _printed_by(kubectl, _measuring_pod(name))
    finally:
        kubectl("delete", "namespace", name, "--wait=false")
    assert json.loads(printed)["refused"] is None


def with_namespaces(profile: dict[str, Any]) -> dict[str, Any]:
    """The runtime's profile with what docs/operate/paths-on-a-cluster.md adds."""
    allowed = [
        {
            "names": ["unshare"],
            "action": "SCMP_ACT_ALLOW",
            "args": [{"index": 0, "value": flags, "op": "SCMP_CMP_EQ"}],
        }
        for flags in (NEW_USER_AND_NETWORK, NEW_NETWORK)
    ]
    return {**profile, "syscalls": [*profile["syscalls"], *allowed]}


def _default_profile(kubectl: Kubectl, namespace: str) -> dict[str, Any]:
    """What the runtime made of RuntimeDefault for a restricted container that runs on node-a."""
    at = ("--namespace", namespace, "pod/waits")
    kubectl("create", "-f", "-", given=pod("waits", "pool-a", "import signal; signal.pause()"))
    try:
        kubectl("wait", *at, "--for=condition=Ready", f"--timeout={POD_TIMEOUT_S}s")
        status = json.loads(kubectl("get", *at, "--output=json"))["status"]
        container = status["containerStatuses"][0]["containerID"].removeprefix("containerd://")
        bundle = Path("run/containerd/io.containerd.runtime.v2.task/k8s.io") / container / "config.json"
        spec: dict[str, Any] = json.loads((_root_of("node-a") / bundle).read_text())
        profile: dict[str, Any] = spec["linux"]["seccomp"]
        return profile
    finally:
        kubectl("delete", *at, "--now")


def _root_of(node: str) -> Path:
    """The file system that the node's kubelet sees."""
    (kubelet,) = (
        process.pid
        for process in psutil.process_iter(["cmdline"])
        if f"--hostname-override={node}" in (process.info["cmdline"] or []) and "kubelet" in process.info["cmdline"][0]
    )
    return Path(f"/proc/{kubelet}/root")


def _measuring_pod(namespace: str) -> dict[str, Any]:
    """Confined as the container that measures is with jobs.paths."""
    site = JobPods.model_validate({"paths": {"seccompProfile": PROFILE, "device": "squat.ai/tun"}})
    confined: Any = argo_pods.measuring_container({}, AMD, replace(SETTINGS, site=site))["security_context"]
    manifest = pod("emulates", "pool-a", PROBE)
    manifest["metadata"]["namespace"] = namespace
    (own,) = manifest["spec"]["containers"]
    own["securityContext"] = confined.model_dump(mode="json", by_alias=True, exclude_none=True)
    own["volumeMounts"] = [{"name": DEVICE, "mountPath": "/dev/net/tun"}]
    host = {"path": f"/var/lib/kubelet/{DEVICE}", "type": "CharDevice"}
    manifest["spec"]["volumes"] = [{"name": DEVICE, "hostPath": host}]
    return manifest


def _printed_by(kubectl: Kubectl, manifest: dict[str, Any]) -> str:
    kubectl("create", "-f", "-", given=manifest)
    at = ("--namespace", manifest["metadata"]["namespace"], f"pod/{manifest['metadata']['name']}")
    kubectl("wait", *at, "--for=jsonpath={.status.phase}=Succeeded", f"--timeout={POD_TIMEOUT_S}s")
    return kubectl("logs", *at)
