"""A cluster from outside: prepares what it needs, starts it in namespaces of its own, and leaves nothing behind."""

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from devcluster.binaries import Binaries, build_binaries, build_kwok
from devcluster.cache import HERE
from devcluster.cgroups import kernel_settings_restored, pods_cgroups
from devcluster.containerd import image_store
from devcluster.errors import DevclusterError
from devcluster.images import kexbench_images, program_images
from devcluster.inner import READY
from devcluster.plan import State, nodes
from devcluster.relay import listen

_END_TIMEOUT_S = 30


@dataclass(frozen=True)
class Cluster:
    """One that is up."""

    state: State
    binaries: Binaries
    process: "subprocess.Popen[str]"

    @property
    def kubeconfig(self) -> Path:
        """Reaches the API from this machine; services and pods are reached by `inside` only."""
        return self.state.kubeconfig

    def inside(self, command: Sequence[str]) -> list[str]:
        """The command that runs this one in the cluster's network."""
        return inside_network(self.state, command)

    def wait(self) -> None:
        """Until it ends by itself, which it should not; raises DevclusterError then."""
        self.process.wait()
        raise DevclusterError("the cluster ended by itself; the lines above say why")


def prepared() -> tuple[Binaries, Path]:
    """The programs, and containerd's store with the images. Whatever is missing is made: programs are compiled while
    the images' Debian is unpacked, which keeps one core busy. Raises DevclusterError; needs root."""
    require_root()
    with ThreadPoolExecutor() as side_by_side:
        compiling = side_by_side.submit(build_binaries)
        images = kexbench_images()
        binaries = compiling.result()
    return binaries, image_store((*program_images(binaries), *images))


@contextmanager
def running_cluster(state: State, node_count: int = 2, static_cpus: bool = True) -> Iterator[Cluster]:
    """Up with all nodes ready, and entirely gone afterwards. Raises DevclusterError; needs root."""
    binaries, store = prepared()
    name = f"kexbench-{os.getpid()}"
    every = nodes(node_count, os.cpu_count() or 1)
    orders = {
        "name": name,
        "node_count": node_count,
        "static_cpus": static_cpus,
        "store": str(store),
        "kwok": None,
        "pod_ms": 0,
    }
    with (
        _owned(state),
        kernel_settings_restored(),
        pods_cgroups(name, every),
        _started(state, binaries, orders) as cluster,
    ):
        yield cluster


@contextmanager
def simulated_cluster(state: State, pod_ms: int = 0) -> Iterator[Cluster]:
    """A cluster without nodes: KWOK keeps all that somebody creates ready, and says of pods that they run, for so long,
    and end. Entirely gone afterwards. Raises DevclusterError; needs root."""
    require_root()
    orders = {
        "name": "",
        "node_count": 0,
        "static_cpus": False,
        "store": "",
        "kwok": str(build_kwok()),
        "pod_ms": pod_ms,
    }
    with _owned(state), _started(state, build_binaries(), orders) as cluster:
        yield cluster


@contextmanager
def _started(state: State, binaries: Binaries, orders: Mapping[str, Any]) -> Iterator[Cluster]:
    """What runs in namespaces of its own; it ends here, too."""
    with listen() as listener:
        path = state.folder / "orders.json"
        listening = listener.fileno()
        path.write_text(json.dumps({**orders, "listener": listening}))
        process = subprocess.Popen(
            [
                *("unshare", "--pid", "--fork", "--mount", "--net", "--mount-proc", "--kill-child"),
                *(sys.executable, "-m", "devcluster", "--state", str(state.folder), "_inside", str(path)),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            pass_fds=[listening],
            start_new_session=True,  # Ctrl-C is for this process, which then ends the cluster in order
            env={**os.environ, "PYTHONPATH": str(HERE.parent)},
        )
        try:
            assert process.stdout is not None
            if process.stdout.readline().strip() != READY:
                raise DevclusterError("the cluster did not come up; the lines above say why")
            state.pid.write_text(str(process.pid))
            yield Cluster(state, binaries, process)
        finally:
            _end(process)


def inside_network(state: State, command: Sequence[str]) -> list[str]:
    """The command that runs this one in a running cluster's network, with kubectl, helm and kexbench on its PATH."""
    binaries = build_binaries()
    path = f"{binaries.programs}:{os.environ['PATH']}:{Path(sys.executable).parent}"
    pid = running_pid(state)
    settings = ["env", f"KUBECONFIG={state.inner_kubeconfig}", f"PATH={path}"]
    return ["nsenter", f"--target={pid}", "--net", *settings, *command]


def require_root() -> None:
    """Raises DevclusterError for an ordinary user."""
    if os.geteuid() != 0:
        raise DevclusterError("the devcluster makes namespaces, mounts and control groups: run it as root, with sudo.")


def running_pid(state: State) -> int:
    """The first process of the cluster. Raises DevclusterError if none is up."""
    if not state.pid.exists():
        hint = "start one with `make devcluster`, or set KEXBENCH_HOME as where it was started."
        raise DevclusterError(f"no cluster is up in {state.folder}: {hint}")
    return int(state.pid.read_text())


@contextmanager
def _owned(state: State) -> Iterator[None]:
    """The state's folder, empty, for one cluster at a time, and removed at the end."""
    state.folder.parent.mkdir(parents=True, exist_ok=True)
    lock = state.folder.with_name(f".{state.folder.name}.lock")
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DevclusterError(f"a cluster is up in {state.folder} already; --state names another place.") from None
        try:
            shutil.rmtree(state.folder, ignore_errors=True)
            state.logs.mkdir(parents=True)
            yield
        finally:
            _keep_logs(state)
            shutil.rmtree(state.folder)
            lock.unlink()


def _keep_logs(state: State) -> None:
    """Where KEXBENCH_DEVCLUSTER_LOGS names a folder, the logs outlive the cluster."""
    wanted = os.environ.get("KEXBENCH_DEVCLUSTER_LOGS")
    if wanted:
        shutil.copytree(state.logs, wanted, dirs_exist_ok=True)


def _end(process: "subprocess.Popen[str]") -> None:
    """Closing its input ends the cluster; unshare returns when no process is left in its namespaces."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    try:
        process.wait(_END_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()  # and with it, by --kill-child, everything
        process.wait()
    process.stdout.close()
