"""containerd: its configuration, and a store of images that is filled once and given to every node."""

import hashlib
import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from devcluster.archive import Image, write_archive
from devcluster.cache import made_once, say
from devcluster.debian import node_programs
from devcluster.errors import DevclusterError
from devcluster.images import PAUSE

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
    """containerd's root folder with these images in it, unpacked; made once for the same images."""
    machine = os.uname().machine
    parts = [f"{image.name} {hashlib.sha256(image.config(machine)).hexdigest()}" for image in images]

    def make(folder: Path) -> None:
        say(f"unpacking {len(images)} images for the nodes")
        work = folder / "work"
        work.mkdir()
        socket = f"/run/kexbench-import-{os.getpid()}.sock"
        write_config(work / "config.toml", folder / "root", str(work / "state"), socket, work)
        with (work / "log").open("wb") as log:
            # Its mounts go with it.
            command = ["unshare", "-m", "containerd", "--config", str(work / "config.toml")]
            daemon = subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, "PATH": program_path()})
        try:
            _import(socket, images, machine, work / "log")
        finally:
            daemon.terminate()
            daemon.wait()
            Path(socket).unlink(missing_ok=True)
            Path(f"{socket}.ttrpc").unlink(missing_ok=True)
        shutil.rmtree(work)

    return made_once("images", parts, make) / "root"


def _import(socket: str, images: Sequence[Image], machine: str, log: Path) -> None:
    ctr = ["ctr", "--address", socket, "--namespace", "k8s.io"]
    environment = {**os.environ, "PATH": program_path()}
    deadline = time.monotonic() + _START_TIMEOUT_S
    while subprocess.run([*ctr, "version"], env=environment, capture_output=True, check=False).returncode != 0:
        if time.monotonic() > deadline:
            raise DevclusterError(f"containerd did not start:\n{log.read_text()[-2000:]}")
        time.sleep(0.1)
    with subprocess.Popen(
        [*ctr, "images", "import", "-"],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as importer:
        assert importer.stdin is not None
        assert importer.stderr is not None
        try:
            write_archive(importer.stdin, images, machine)
            importer.stdin.close()
        except BrokenPipeError:
            pass  # what it has to say follows
        said = importer.stderr.read().decode(errors="replace")
    if importer.returncode != 0:
        raise DevclusterError(f"containerd did not take the images:\n{said[-2000:]}")


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
