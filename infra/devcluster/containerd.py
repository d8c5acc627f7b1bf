"""containerd: its configuration, and a store of images that is filled once and given to every node."""

import hashlib
import os
import shutil
import subprocess
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from devcluster.archive import Image, write_archive
from devcluster.cache import made_once, say
from devcluster.debian import node_programs
from devcluster.errors import DevclusterError
from devcluster.images import PAUSE
from devcluster.layers import Layer

SOCKET = "/run/containerd/containerd.sock"
_START_TIMEOUT_S = 60
# Inside a process namespace the runtime may not lower the score by which the kernel chooses whom to kill.
_CONFIG = """\
version = 2
root = "{root}"
state = "{state}"
disabled_plugins = [
  "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs",
]
[grpc]
  address = "{socket}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{pause}"
  disable_apparmor = true
  disable_tcp_service = true
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{programs}/usr/lib/cni"
    conf_dir = "{cni}"
"""


def write_config(path: Path, root: Path, state: str, socket: str, cni: Path) -> None:
    path.write_text(
        _CONFIG.format(root=root, state=state, socket=socket, cni=cni, programs=node_programs(), pause=PAUSE)
    )


def program_path() -> str:
    """PATH with the programs of nodes, which are not installed."""
    programs = node_programs()
    return f"{programs}/usr/bin:{programs}/usr/sbin:{os.environ['PATH']}:/usr/sbin:/sbin"


def image_store(images: Sequence[Image]) -> Path:
    """containerd's root folder with these images in it, unpacked; made once for the same images.

    What is below the sources comes from a store that is made first, so that a change of sources unpacks those only.
    """
    lower = [Image(f"{each.name}-lower", each.layers[:-1] or each.layers, (), each.user) for each in images]
    present = {layer for each in lower for layer in each.layers}
    base = _store("images-lower", lower, None, ())
    return _store("images", images, base, present)


def _store(name: str, images: Sequence[Image], base: Path | None, present: Collection[Layer]) -> Path:
    machine = os.uname().machine
    parts = [f"{image.name} {hashlib.sha256(image.config(machine)).hexdigest()}" for image in images]

    def make(folder: Path) -> None:
        say(f"unpacking {len(images)} images for the nodes" + (", their sources only" if base else ""))
        if base:
            clone_store(base, folder / "root")
        with _daemon(folder / "root", folder / "work") as socket:
            _import(socket, images, machine, present)
        shutil.rmtree(folder / "work")

    return made_once(name, parts, make) / "root"


@contextmanager
def _daemon(root: Path, work: Path) -> Iterator[str]:
    """A containerd that only imports; its mounts go with it."""
    work.mkdir()
    socket = f"/run/kexbench-import-{os.getpid()}.sock"
    write_config(work / "config.toml", root, str(work / "state"), socket, work)
    command = ["unshare", "--mount", "containerd", "--config", str(work / "config.toml")]
    with (work / "log").open("wb") as log:
        daemon = subprocess.Popen(command, stdout=log, stderr=log, env=_environment())
    try:
        deadline = time.monotonic() + _START_TIMEOUT_S
        version = [*_ctr(socket), "version"]
        while subprocess.run(version, env=_environment(), capture_output=True, check=False).returncode != 0:
            if time.monotonic() > deadline or daemon.poll() is not None:
                raise DevclusterError(f"containerd did not start:\n{(work / 'log').read_text()[-2000:]}")
            time.sleep(0.1)
        yield socket
    finally:
        daemon.terminate()
        daemon.wait()
        Path(socket).unlink(missing_ok=True)
        Path(f"{socket}.ttrpc").unlink(missing_ok=True)


def _import(socket: str, images: Sequence[Image], machine: str, present: Collection[Layer]) -> None:
    with subprocess.Popen(
        [*_ctr(socket), "images", "import", "-"],
        env=_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as importer:
        assert importer.stdin is not None
        assert importer.stderr is not None
        with suppress(BrokenPipeError):  # what it has to say follows
            write_archive(importer.stdin, images, machine, present)
            importer.stdin.close()
        said = importer.stderr.read().decode(errors="replace")
    if importer.returncode != 0:
        raise DevclusterError(f"containerd did not take the images:\n{said[-2000:]}")


def _ctr(socket: str) -> list[str]:
    return ["ctr", "--address", socket, "--namespace", "k8s.io"]


def _environment() -> dict[str, str]:
    return {**os.environ, "PATH": program_path()}


def clone_store(store: Path, target: Path) -> None:
    """A node's own copy. Unpacked files are never written to, so they are shared by hard links; databases are not."""
    target.parent.mkdir(parents=True, exist_ok=True)
    linked = subprocess.run(["cp", "-al", str(store), str(target)], capture_output=True, check=False)
    if linked.returncode != 0:  # another file system
        shutil.rmtree(target, ignore_errors=True)
        subprocess.run(["cp", "-a", str(store), str(target)], check=True)
    for database in target.glob("*/*.db"):
        original = store / database.relative_to(target)
        database.unlink()
        shutil.copy2(original, database)
