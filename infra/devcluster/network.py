"""The cluster's network: one bridge, a veth for each node, routes, and no way out."""

import subprocess
from collections.abc import Sequence

from devcluster.plan import HOST, SERVICE_RANGE, Node

_BRIDGE = "kexbench0"


def make_network(nodes: Sequence[Node]) -> None:
    """In this process's network namespace, which must be a fresh one; /run must be this cluster's own."""
    _ip("link", "set", "lo", "up")
    _ip("link", "add", _BRIDGE, "type", "bridge")
    _ip("address", "add", f"{HOST}/24", "dev", _BRIDGE)
    _ip("link", "set", _BRIDGE, "up")
    for node in nodes:
        _connect(node, [other for other in nodes if other != node])
    if nodes:
        # Whatever runs here reaches services the way pods do: the first node's kube-proxy translates the address.
        _ip("route", "add", SERVICE_RANGE, "via", nodes[0].address)


def namespace_path(node: Node) -> str:
    return f"/run/netns/{node.name}"


def _connect(node: Node, others: Sequence[Node]) -> None:
    _ip("netns", "add", node.name)
    _ip("link", "add", node.name, "type", "veth", "peer", "name", "eth0", "netns", node.name)
    _ip("link", "set", node.name, "master", _BRIDGE, "up")
    inside = ("-n", node.name)
    _ip(*inside, "link", "set", "lo", "up")
    _ip(*inside, "address", "add", f"{node.address}/24", "dev", "eth0")
    _ip(*inside, "link", "set", "eth0", "up")
    # What is for a service needs a route before kube-proxy translates it.
    _ip(*inside, "route", "add", SERVICE_RANGE, "via", HOST)
    for other in others:
        _ip(*inside, "route", "add", other.pods, "via", other.address)
    _ip(*inside, "route", "add", "unreachable", "default")
    enter = ["nsenter", f"--net={namespace_path(node)}"]
    subprocess.run([*enter, "sysctl", "-q", "-w", "net.ipv4.ip_forward=1"], check=True)
    _ip("route", "add", node.pods, "via", node.address)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)
