"""One node: containerd, kubelet and kube-proxy, in a mount and a network namespace of their own.

Runs as `python -m devcluster _node FILE` inside those namespaces; FILE holds its orders.
"""

import json
import socket
import subprocess
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from devcluster.containerd import SOCKET, program_path, write_config
from devcluster.plan import API_SERVICE, DNS_SERVICE, DOMAIN, POD_RANGE, POOL_LABEL
from devcluster.processes import Processes

VOLUMES = "/var/lib/kexbench-volumes"
VOLUME_COUNT = 3
"""As manifests/storage.yaml names them."""
_KUBELET = "/var/lib/kubelet"
_WATCH_S = 1.0


@dataclass(frozen=True)
class Orders:
    """What a node's process is told, as JSON."""

    name: str
    pool: str
    address: str
    pods: str
    taints: str
    reserved: str | None
    kept_cpu: int
    static_cpus: bool
    cgroup: str
    folder: str
    logs: str
    programs: str
    kubeconfig: str
    proxy_kubeconfig: str
    authority: str
    reached: str
    """A file that is there once services answer from the node."""

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)))

    @classmethod
    def read(cls, path: Path) -> "Orders":
        return cls(**json.loads(path.read_text()))


def run_node(orders: Orders) -> None:
    """Returns never; raises DevclusterError when one of the node's programs ends."""
    folder = Path(orders.folder)
    _mount_own_places(folder)
    if orders.static_cpus and orders.kept_cpu == 1:
        _keep_other_cpu()
    _write_network_config(folder / "cni", orders.pods)
    write_config(folder / "containerd.toml", folder / "containerd", "/run/containerd", SOCKET, folder / "cni")
    (folder / "kubelet.json").write_text(json.dumps(kubelet_config(orders)))
    (folder / "kube-proxy.json").write_text(json.dumps(_proxy_config(orders)))
    processes = Processes(Path(orders.logs))
    path = {"PATH": program_path()}
    processes.start(f"{orders.name}-containerd", ["containerd", "--config", folder / "containerd.toml"], path)
    processes.wait_until("containerd's socket", Path(SOCKET).exists, f"{orders.name}-containerd")
    programs = Path(orders.programs)
    kubelet: list[str | Path] = [programs / "kubelet", f"--config={folder / 'kubelet.json'}"]
    kubelet += [f"--kubeconfig={orders.kubeconfig}", f"--hostname-override={orders.name}"]
    kubelet += [f"--node-ip={orders.address}", f"--root-dir={_KUBELET}", f"--cert-dir={folder / 'pki'}"]
    kubelet += [f"--node-labels={POOL_LABEL}={orders.pool}", f"--register-with-taints={orders.taints}"]
    processes.start(f"{orders.name}-kubelet", kubelet, path)
    proxy: list[str | Path] = [programs / "kube-proxy", f"--config={folder / 'kube-proxy.json'}"]
    processes.start(f"{orders.name}-kube-proxy", proxy, path)
    processes.wait_until("services", _services_answer, f"{orders.name}-kube-proxy")
    Path(orders.reached).touch()
    while True:
        processes.check()
        time.sleep(_WATCH_S)


def _services_answer() -> bool:
    """The first pod would find no API otherwise: a node is ready before kube-proxy has written its rules."""
    with suppress(OSError), socket.create_connection((API_SERVICE, 443), _WATCH_S):
        return True
    return False


def _mount_own_places(folder: Path) -> None:
    """Pods' mounts are shared between containerd and kubelet, and seen by nobody else."""
    _mount("--make-rprivate", "/")
    _mount("--make-rshared", "/")
    for place in ("/run", "/var/log", "/var/lib"):
        _mount("-t", "tmpfs", "tmpfs", place)
    # The paths of the kubelet's sockets would become too long.
    (folder / "kubelet").mkdir()
    Path(_KUBELET).mkdir()
    _mount("--bind", str(folder / "kubelet"), _KUBELET)
    Path(VOLUMES).mkdir()
    for number in range(1, VOLUME_COUNT + 1):
        volume = folder / "volumes" / str(number)
        volume.mkdir(parents=True)
        volume.chmod(0o777)  # whatever user a pod runs as
    _mount("--bind", str(folder / "volumes"), VOLUMES)


def _keep_other_cpu() -> None:
    """Let CPU 1 be kept back of two, in whose place the kubelet would keep CPU 0, as the one of the lowest package."""
    for cpu, package in ((0, "1"), (1, "0")):
        shown = Path(f"/run/package-of-cpu-{cpu}")
        shown.write_text(f"{package}\n")
        _mount("--bind", str(shown), f"/sys/devices/system/cpu/cpu{cpu}/topology/physical_package_id")


def _mount(*words: str) -> None:
    subprocess.run(["mount", *words], check=True)


def _write_network_config(folder: Path, pods: str) -> None:
    """Each pod's link ends at the node and everything is routed there, so services on the same node work too."""
    folder.mkdir()
    address = {
        "type": "host-local",
        "ranges": [[{"subnet": pods}]],
        "routes": [{"dst": "0.0.0.0/0"}],
        "dataDir": "/run/cni",
    }
    document = {"cniVersion": "0.4.0", "name": "kexbench", "plugins": [{"type": "ptp", "ipam": address}]}
    (folder / "10-kexbench.conflist").write_text(json.dumps(document))


def kubelet_config(orders: Orders) -> dict[str, Any]:
    """KubeletConfiguration; what deviates from the defaults is for small machines and nested namespaces."""
    config: dict[str, Any] = {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "authentication": {"anonymous": {"enabled": False}, "x509": {"clientCAFile": orders.authority}},
        "authorization": {"mode": "Webhook"},
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": orders.cgroup,
        "clusterDNS": [DNS_SERVICE],
        "clusterDomain": DOMAIN,
        "containerRuntimeEndpoint": f"unix://{SOCKET}",
        "evictionHard": {"memory.available": "50Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
        "failCgroupV1": False,  # from 1.35 on the kubelet refuses such a machine unless it is told
        "failSwapOn": False,
        "healthzPort": 0,
        "imageGCHighThresholdPercent": 100,
        "nodeLeaseDurationSeconds": 20,  # told four times as often, well within SILENT_NODE_S
        "podLogsDir": f"{orders.folder}/pod-logs",
        "resolvConf": "",
        "syncFrequency": "10s",
        "volumePluginDir": f"{orders.folder}/volume-plugins",
    }
    if orders.static_cpus:
        config["cpuManagerPolicy"] = "static"
        if orders.reserved is None:
            config["kubeReserved"] = {"cpu": "500m"}
        else:
            config["reservedSystemCPUs"] = orders.reserved
    return config


def _proxy_config(orders: Orders) -> dict[str, Any]:
    no_limits = {"maxPerCore": 0, "min": 0, "tcpCloseWaitTimeout": "0s", "tcpEstablishedTimeout": "0s"}
    return {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "mode": "nftables",
        "hostnameOverride": orders.name,
        "clientConnection": {"kubeconfig": orders.proxy_kubeconfig},
        "clusterCIDR": POD_RANGE,
        "conntrack": no_limits,
    }
