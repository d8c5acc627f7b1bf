"""The images of kexbench, of Argo's executor and of a pod's sandbox, made here from what is on this machine.

Lowest layers change least: Debian, compilers, Python packages, chDB; a change of kexbench's sources makes one small
layer anew. What is in an image is said once: infra/images/*.txt, infra/bootstrap/packages-{run,kits}.txt and uv.lock.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from devcluster.archive import Image
from devcluster.binaries import Binaries
from devcluster.cache import CHECKOUT, made_once, say
from devcluster.debian import USER, debian_root, listed_packages
from devcluster.errors import DevclusterError
from devcluster.layers import Layer, read_layer, write_layer

REGISTRY = "local.test"
PAUSE = f"{REGISTRY}/pause:dev"
ARGOEXEC = f"{REGISTRY}/argoexec:dev"
HOME = "opt/kexbench"
_PACKAGES = f"{HOME}/packages"
_SOURCES = f"{HOME}/services/src"
_ENVIRONMENT = {
    "KEXBENCH_CACHE": "/var/lib/kexbench/cache",
    "KEXBENCH_HOME": "/var/lib/kexbench/home",
    "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONPATH": f"/{_SOURCES}:/{_PACKAGES}",
    "PYTHONUNBUFFERED": "1",
}
_PROGRAMS = {"PATH": "/bin"}
_NOT_SOURCES = shutil.ignore_patterns("__pycache__", "build", "*.actual")


def kexbench_image(name: str) -> str:
    """Of runner, builder and service."""
    return f"{REGISTRY}/kexbench/{name}:dev"


def program_images(binaries: Binaries) -> tuple[Image, ...]:
    """The images of a pod's sandbox and of Argo's executor."""
    return tuple(
        Image(name, (_program_layer(binaries.programs / program),), (program,), USER, _PROGRAMS)
        for name, program in ((PAUSE, "pause"), (ARGOEXEC, "argoexec"))
    )


def kexbench_images() -> tuple[Image, ...]:
    """kexbench's images, made from the checkout as it is. Needs root, for owners of files."""
    runner = debian_root("runner", listed_packages("images/packages-runner.txt"))
    builder = debian_root("builder", _builder_packages())
    packages = _python_packages("packages", runner, "--extra", "traces")
    local = _python_packages("packages-local", runner, "--extra", "local", "--extra", "traces")
    base = _layer("runner", runner)
    common = (base, _layer("packages", packages, prefix=_PACKAGES))
    compilers = (base, _layer("builder", builder, without=runner), common[1])
    database = _layer("packages-local", local, without=packages, prefix=_PACKAGES)
    return (
        _kexbench("runner", (*common, _sources_layer("runner")), ("kexbench", "--help")),
        _kexbench("builder", (*compilers, _sources_layer("builder")), ("kexbench", "--help")),
        _kexbench("service", (*common, database, _sources_layer("service")), ("kexbench", "serve")),
    )


def _kexbench(name: str, layers: tuple[Layer, ...], command: tuple[str, ...]) -> Image:
    return Image(kexbench_image(name), layers, command, USER, _ENVIRONMENT, "/tmp")  # noqa: S108 - in the image


def _builder_packages() -> tuple[str, ...]:
    lists = ("images/packages-runner.txt", "images/packages-builder.txt")
    return listed_packages(*lists, "bootstrap/packages-run.txt", "bootstrap/packages-kits.txt")


def _python_packages(name: str, root: Path, *extra: str) -> Path:
    """What uv.lock says, for the Python of the images, in a folder."""
    services = CHECKOUT / "services"

    def make(folder: Path) -> None:
        say(f"installing {name} of uv.lock for the images")
        uv = _output([str(CHECKOUT / "infra" / "bootstrap" / "uv.sh")]).strip()
        locked = folder / "locked.txt"
        wanted = ["--locked", "--no-dev", "--no-emit-project", *extra]
        locked.write_text(_output([uv, "export", "--quiet", "--project", str(services), *wanted]))
        version = next((root / "usr" / "lib").glob("python3.*")).name.removeprefix("python")
        target = ["--target", str(folder), "--python-version", version, "--link-mode", "copy"]
        _output([uv, "pip", "install", "--quiet", "--system-certs", "--require-hashes", *target, "-r", str(locked)])
        locked.unlink()
        shutil.rmtree(folder / "bin", ignore_errors=True)
        (folder / ".lock").unlink(missing_ok=True)
        _compile(folder, _PACKAGES)

    return made_once(name, [services / "uv.lock", root.name, *extra], make)


def _sources_layer(image: str) -> Layer:
    """The checkout's own files, laid out as in the checkout, so that settings find them where they are used to."""
    wanted = {"services/src": _NOT_SOURCES}
    if image != "runner":
        wanted |= {"workers/handshake": _NOT_SOURCES, "bench-specs": _NOT_SOURCES}
    if image == "service":
        wanted |= {"frontend/dist": shutil.ignore_patterns()}
    missing = [name for name in wanted if not (CHECKOUT / name).is_dir()]
    if missing:
        raise DevclusterError(f"{', '.join(missing)} is not in the checkout: make frontend")

    def make(folder: Path) -> None:
        tree = folder / "tree"
        for name, ignored in wanted.items():
            shutil.copytree(CHECKOUT / name, tree / HOME / name, ignore=ignored)
        command = tree / "usr" / "local" / "bin" / "kexbench"
        command.parent.mkdir(parents=True)
        shutil.copy(CHECKOUT / "infra" / "images" / "kexbench", command)
        _compile(tree / _SOURCES, _SOURCES)
        _made_readable(tree)
        write_layer(folder / "layer.tar", tree)
        shutil.rmtree(tree)

    files = sorted(_source_files(wanted))
    parts: list[str | Path] = [image, CHECKOUT / "infra" / "images" / "kexbench"]
    for path in files:
        parts += [str(path.relative_to(CHECKOUT)), path]
    return read_layer(made_once(f"layer-sources-{image}", parts, make) / "layer.tar")


def _source_files(wanted: Iterable[str]) -> Iterable[Path]:
    for name in wanted:
        for path in (CHECKOUT / name).rglob("*"):
            skipped = {"__pycache__", "build"} & set(path.relative_to(CHECKOUT).parts)
            if path.is_file() and not skipped and path.suffix != ".actual":
                yield path


def _made_readable(tree: Path) -> None:
    """Whatever the umask of the person was, the images' user may read it."""
    for path in tree.rglob("*"):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | (0o755 if path.is_dir() else 0o444))
            os.chown(path, 0, 0)


def _compile(folder: Path, inside: str) -> None:
    """Compile for where the folder will be; by another Python than the images' it does no good, and no harm."""
    how = ["-q", "-f", "--invalidation-mode", "unchecked-hash", "-s", str(folder), "-p", f"/{inside}"]
    # Some packages carry templates that are no valid Python; those stay as they are.
    subprocess.run([sys.executable, "-m", "compileall", *how, folder], stdout=subprocess.DEVNULL, check=False)


def _layer(name: str, tree: Path, without: Path | None = None, prefix: str = "") -> Layer:
    def make(folder: Path) -> None:
        say(f"packing the layer {name}")
        write_layer(folder / "layer.tar", tree, without, prefix)

    return read_layer(
        made_once(f"layer-{name}", [tree.name, without.name if without else "", prefix], make) / "layer.tar"
    )


def _program_layer(program: Path) -> Layer:
    def make(folder: Path) -> None:
        tree = folder / "tree"
        (tree / "tmp").mkdir(parents=True)
        (tree / "tmp").chmod(0o1777)
        (tree / "bin").mkdir()
        shutil.copy(program, tree / "bin" / program.name)
        write_layer(folder / "layer.tar", tree)
        shutil.rmtree(tree)

    return read_layer(made_once(f"layer-{program.name}", ["bin", program.parent.name], make) / "layer.tar")


def _output(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise DevclusterError(f"{' '.join(command)} failed:\n{done.stderr.strip()[-2000:]}")
    return done.stdout
