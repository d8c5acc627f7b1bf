"""Control groups of version 1, in which the pods of each node are, and the kernel settings that kubelets change."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from devcluster.errors import DevclusterError
from devcluster.plan import Node

_HIERARCHIES = Path("/sys/fs/cgroup")
_KERNEL_SETTINGS = ("kernel/keys/root_maxbytes", "kernel/keys/root_maxkeys", "kernel/panic", "kernel/panic_on_oops")
_MEMORY_SETTINGS = ("vm/overcommit_memory", "vm/panic_on_oom")


def cgroup_of(cluster: str, node: Node) -> str:
    """As the kubelet is told it."""
    return f"/{cluster}/{node.name}"


@contextmanager
def pods_cgroups(cluster: str, nodes: tuple[Node, ...]) -> Iterator[None]:
    """Groups of the nodes in every hierarchy; removed at the end, when no process of the cluster is left."""
    hierarchies = [path for path in _HIERARCHIES.iterdir() if (path / "tasks").exists() and not path.is_symlink()]
    if not hierarchies:
        raise DevclusterError(f"{_HIERARCHIES} has no control groups of version 1, which the devcluster needs so far.")
    try:
        for hierarchy in hierarchies:
            for node in nodes:
                _make(hierarchy, Path(cgroup_of(cluster, node)).relative_to("/"))
        yield
    finally:
        for hierarchy in _HIERARCHIES.iterdir():  # the runtime makes groups in that of version 2 too
            _remove(hierarchy / cluster)


def _make(hierarchy: Path, inside: Path) -> None:
    for group in [*reversed(inside.parents), inside]:
        path = hierarchy / group
        path.mkdir(exist_ok=True)
        # A group of cpuset takes no process before these are filled, and they start empty.
        for name in ("cpuset.cpus", "cpuset.mems"):
            if (path / name).exists() and not (path / name).read_text().strip():
                (path / name).write_text((path.parent / name).read_text())


def _remove(group: Path) -> None:
    if not group.is_dir():
        return
    for child in group.iterdir():
        if child.is_dir():
            _remove(child)
    # The kernel lets go of a group a moment after its last process.
    for _ in range(50):
        try:
            group.rmdir()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise DevclusterError(f"{group} still has processes: {(group / 'cgroup.procs').read_text().split()}")


@contextmanager
def kernel_settings_restored() -> Iterator[None]:
    """A kubelet writes settings of the whole machine, so they are put back."""
    paths = [Path("/proc/sys") / name for name in (*_KERNEL_SETTINGS, *_MEMORY_SETTINGS)]
    before = {path: path.read_text() for path in paths if path.exists()}
    try:
        yield
    finally:
        for path, value in before.items():
            with suppress(OSError):  # a container of CI may forbid what its kubelet could not do either
                path.write_text(value)
