"""Debian without installing it: a root file system for images, and programs unpacked into the cache."""

import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from devcluster.cache import CHECKOUT, made_once, say
from devcluster.errors import DevclusterError

SUITE = "bookworm"
# Unpacked rather than installed: the packages would start services, and push out those of Docker.
_NODE_PACKAGES = ("containerd", "containernetworking-plugins", "runc")
_NOT_IN_IMAGES = (
    *("usr/share/doc", "usr/share/info", "usr/share/lintian", "usr/share/locale", "usr/share/man"),
    *("var/cache", "var/lib/apt/lists", "var/log", "var/lib/dpkg/info", "debootstrap"),
)
USER = 65532


def node_programs() -> Path:
    """A folder with usr/bin/containerd, usr/sbin/runc and usr/lib/cni, of the Debian that runs here."""
    return made_once("node-programs", [" ".join(_NODE_PACKAGES), Path("/etc/os-release")], _unpack_node_programs)


def _unpack_node_programs(folder: Path) -> None:
    say(f"unpacking Debian's {', '.join(_NODE_PACKAGES)}")
    downloads = folder / "downloads"
    downloads.mkdir()
    _run(["apt-get", "-qq", "-o", "APT::Sandbox::User=root", "download", *_NODE_PACKAGES], downloads)
    for package in sorted(downloads.glob("*.deb")):
        _run(["dpkg-deb", "-x", str(package), str(folder)], folder)
    shutil.rmtree(downloads)


def listed_packages(*lists: str) -> tuple[str, ...]:
    """The packages of these lists, which are files of infra/; the Dockerfile reads the same."""
    return tuple(sorted({word for name in lists for word in (CHECKOUT / "infra" / name).read_text().split()}))


def debian_root(name: str, packages: Iterable[str]) -> Path:
    """A minimal Debian with these packages, trimmed, with the user that images run as."""
    wanted = sorted(packages)

    def make(folder: Path) -> None:
        say(f"making a Debian {SUITE} for {name}, with {', '.join(wanted)}")
        _debootstrap(folder, wanted)
        _trim(folder)
        _add_user(folder)
        _compile_python(folder)

    return made_once(f"debian-{name}", [SUITE, "recipe 1", os.uname().machine, *wanted], make)


def _debootstrap(folder: Path, packages: list[str]) -> None:
    if shutil.which("debootstrap") is None:
        raise DevclusterError("debootstrap is missing: make packages-cluster")
    include = f"--include={','.join(packages)}"
    _run(["nice", "debootstrap", "--variant=minbase", include, SUITE, str(folder)], folder.parent)


def _trim(folder: Path) -> None:
    for name in _NOT_IN_IMAGES:
        shutil.rmtree(folder / name, ignore_errors=True)
    for name in ("var/cache", "var/log"):
        (folder / name).mkdir()
    for name in ("etc/resolv.conf", "etc/hostname", "etc/machine-id"):
        (folder / name).unlink(missing_ok=True)
    for name in ("dev", "proc", "sys", "run", "tmp"):
        _empty(folder / name)
    for cache in folder.rglob("__pycache__"):
        shutil.rmtree(cache)


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def _add_user(folder: Path) -> None:
    for name, line in (
        ("etc/passwd", f"kexbench:x:{USER}:{USER}::/nonexistent:/usr/sbin/nologin\n"),
        ("etc/group", f"kexbench:x:{USER}:\n"),
    ):
        with (folder / name).open("a") as file:
            file.write(line)


def _compile_python(root: Path) -> None:
    """Compiled files that do not depend on times, which layers do not keep; a read-only root could not hold them."""
    library = next((root / "usr" / "lib").glob("python3.*")).name
    how = ["-m", "compileall", "-q", "-f", "--invalidation-mode", "unchecked-hash", f"/usr/lib/{library}"]
    _run(["chroot", str(root), "/usr/bin/python3", *how], root)


def _run(command: list[str], where: Path) -> None:
    done = subprocess.run(
        command, cwd=where, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False
    )
    if done.returncode != 0:
        last = "\n".join(done.stdout.splitlines()[-10:])
        raise DevclusterError(f"{' '.join(command)} failed, which needs root and a Debian mirror:\n{last}")
