"""The inside of a running cluster: the first process of its namespaces, and what it starts.

Ends when its standard input does, whatever happened to the process that held the other end; and everything that runs
in these namespaces ends with it.
"""

import os
import select
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from devcluster.binaries import Binaries
from devcluster.cache import say
from devcluster.certificates import Authority
from devcluster.cgroups import cgroup_of
from devcluster.containerd import clone_store
from devcluster.control_plane import ADMIN, ControlPlane
from devcluster.errors import DevclusterError
from devcluster.network import make_network, namespace_path
from devcluster.node import Orders
from devcluster.plan import HOST, SILENT_NODE_S, SILENT_SIMULATED_NODE_S, Node, State, nodes
from devcluster.processes import Processes
from devcluster.relay import relay

READY = "ready"
_WATCH_S = 1.0


@dataclass(frozen=True)
class Inside:
    """What the outer process hands over."""

    state: State
    name: str
    node_count: int
    static_cpus: bool
    binaries: Binaries
    store: Path
    """Of images, which every node gets a copy of."""
    kwok: Path | None
    """What simulates nodes; None where they are real."""
    pod_ms: int
    """How long simulated pods run."""
    listener: int


def run_inside(inside: Inside) -> int:
    """As process 1: collect what ends, and end with the process that does the work."""
    worker = os.fork()
    if worker == 0:
        os._exit(_work(inside))
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    while True:
        ended, status = os.wait()
        if ended == worker:
            return os.waitstatus_to_exitcode(status)


def _work(inside: Inside) -> int:
    try:
        processes = _start(inside)
        print(READY, flush=True)
        while not select.select([sys.stdin], [], [], _WATCH_S)[0]:
            processes.check()
    except DevclusterError as error:
        say(f"devcluster: {error}")
        return 1
    except subprocess.CalledProcessError as error:
        say(f"devcluster: {error}")
        return 1
    return 0


def _start(inside: Inside) -> Processes:
    every = nodes(inside.node_count, os.cpu_count() or 1)
    control_plane = _start_control_plane(inside, every)
    if inside.kwok:
        say("Argo Workflows, and KWOK in the place of nodes")
        control_plane.start_addons("minimal")  # as Argo's releases install them
        control_plane.start_kwok(inside.kwok, inside.pod_ms)
        return control_plane.processes
    for node in every:
        say(f"{node.name}: containerd, kubelet and kube-proxy, pool {node.pool}")
        _start_node(inside, node, control_plane)
    say("CoreDNS and Argo Workflows")
    control_plane.start_addons()
    control_plane.start_names()
    say("waiting for the nodes")
    control_plane.wait_for_nodes(every)
    return control_plane.processes


def _start_control_plane(inside: Inside, every: tuple[Node, ...]) -> ControlPlane:
    state = inside.state
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
    say("network: one bridge, and no way out")
    make_network(every)
    listener = socket.socket(fileno=inside.listener)
    authority = Authority(state.folder / "certificates")
    user, groups = ADMIN
    authority.kubeconfig(state.inner_kubeconfig, f"https://{HOST}", user, groups)
    authority.kubeconfig(state.kubeconfig, f"https://127.0.0.1:{listener.getsockname()[1]}", user, groups)
    control_plane = ControlPlane(inside.binaries, state, Processes(state.logs), authority)
    say("etcd and the API server")
    control_plane.start_api()
    relay(listener)
    say("controllers and the scheduler")
    control_plane.start_controllers(SILENT_SIMULATED_NODE_S if inside.kwok else SILENT_NODE_S)
    return control_plane


def _start_node(inside: Inside, node: Node, control_plane: ControlPlane) -> None:
    folder = inside.state.node(node.name)
    clone_store(inside.store, folder / "containerd")
    orders = Orders(
        name=node.name,
        pool=node.pool,
        address=node.address,
        pods=node.pods,
        taints=node.taints,
        reserved=node.cpus.reserved,
        kept_cpu=node.cpus.kept,
        static_cpus=inside.static_cpus,
        cgroup=cgroup_of(inside.name, node),
        folder=str(folder),
        logs=str(inside.state.logs),
        programs=str(inside.binaries.programs),
        kubeconfig=str(control_plane.kubeconfig(node.name, f"system:node:{node.name}", "system:nodes")),
        proxy_kubeconfig=str(control_plane.kubeconfig(f"{node.name}-proxy", "system:kube-proxy")),
        authority=str(control_plane.authority.certificate),
        reached=str(inside.state.reached(node.name)),
    )
    path = folder / "orders.json"
    orders.write(path)
    enter = ["nsenter", f"--net={namespace_path(node)}", "unshare", "--mount"]
    control_plane.processes.start(node.name, [*enter, sys.executable, "-m", "devcluster", "_node", path])
