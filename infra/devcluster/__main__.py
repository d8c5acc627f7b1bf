"""`python -m devcluster`: the verbs."""

import argparse
import json
import os
import signal
import sys
from pathlib import Path

from devcluster.binaries import build_binaries
from devcluster.cache import HERE, say
from devcluster.cluster import inside_network, prepared, require_root, running_cluster, running_pid
from devcluster.control_plane import kubectl_command
from devcluster.errors import DevclusterError
from devcluster.inner import Inside, run_inside
from devcluster.node import Orders, run_node
from devcluster.plan import State
from kexbench.settings import Settings

_READY = """\
The cluster is up: Kubernetes with Argo Workflows. In another terminal, as root, from infra/:

  {program} kubectl -- get nodes      or: export KUBECONFIG={kubeconfig}
  {program} run -- COMMAND            in the cluster's network, where services have their addresses

infra/devcluster/README.md says how to install kexbench in it.

Logs: {logs}. Ctrl-C ends it and removes everything."""


_OF_A_RUNNING_CLUSTER = (
    ("kubectl", "kubectl with these arguments", " on the cluster that is up"),
    ("run", "a command in the cluster's network", ", with KUBECONFIG set and kubectl, helm and kexbench on PATH"),
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="devcluster", description="A real Kubernetes on one machine, for tests.")
    parser.add_argument("--state", type=Path, default=Settings().home.absolute() / "devcluster", help="its folder")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    verbs.add_parser("binaries", help="compile Kubernetes, Argo, CoreDNS and Helm")
    verbs.add_parser("images", help="make the images")
    up = verbs.add_parser("up", help="start a cluster, until Ctrl-C")
    up.add_argument("--nodes", type=int, choices=(1, 2), default=2)
    up.add_argument("--shared-cpus", action="store_true", help="without the static CPU manager")
    for name, what, more in _OF_A_RUNNING_CLUSTER:
        verb = verbs.add_parser(
            name, help=what, usage=f"devcluster {name} -- WORD ...", description=f"Run {what}{more}."
        )
        verb.add_argument("words", nargs="+", metavar="WORD", help="after --, so that options are the command's")
    for name in ("_inside", "_node"):
        verbs.add_parser(name).add_argument("orders", type=Path)
    chosen = parser.parse_args()
    try:
        return _do(chosen, State(chosen.state.absolute()))
    except DevclusterError as error:
        say(f"devcluster: {error}")
        return 1
    except KeyboardInterrupt:
        return 130


def _do(chosen: argparse.Namespace, state: State) -> int:
    if chosen.verb == "binaries":
        print(build_binaries().programs)
    elif chosen.verb == "images":
        print(prepared()[1])
    elif chosen.verb == "up":
        _up(state, chosen.nodes, not chosen.shared_cpus)
    elif chosen.verb == "kubectl":
        running_pid(state)
        command = kubectl_command(build_binaries(), state, state.kubeconfig, *chosen.words)
        _replace([str(word) for word in command])
    elif chosen.verb == "run":
        require_root()
        _replace(inside_network(state, chosen.words))
    elif chosen.verb == "_inside":
        return _inside(state, chosen.orders)
    else:
        run_node(Orders.read(chosen.orders))
    return 0


def _up(state: State, node_count: int, static_cpus: bool) -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with running_cluster(state, node_count, static_cpus) as cluster:
        program = f"{os.path.relpath(sys.executable, HERE.parent)} -m devcluster"
        say(_READY.format(program=program, kubeconfig=cluster.kubeconfig, logs=state.logs))
        cluster.wait()


def _inside(state: State, orders: Path) -> int:
    told = json.loads(orders.read_text())
    return run_inside(
        Inside(
            state=state,
            name=told["name"],
            node_count=told["node_count"],
            static_cpus=told["static_cpus"],
            binaries=build_binaries(),
            store=Path(told["store"]),
            kwok=Path(told["kwok"]) if told["kwok"] else None,
            pod_ms=told["pod_ms"],
            listener=told["listener"],
        )
    )


def _replace(command: list[str]) -> None:
    os.execvp(command[0], command)  # noqa: S606 - no shell is meant


if __name__ == "__main__":
    sys.exit(main())
