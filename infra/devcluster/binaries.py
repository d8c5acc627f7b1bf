"""Compiles Kubernetes, etcd, Argo, CoreDNS and Helm from their published Go modules, once for each go.sum.

No binary is downloaded. Go checks every module against the go.sum that is committed beside the go.mod.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from devcluster.cache import HERE, made_once, say
from devcluster.errors import DevclusterError
from devcluster.plan import ARGO_LINE

ARGO_LINES = {"3.7": "github.com/argoproj/argo-workflows/v3", "4.0": "github.com/argoproj/argo-workflows/v4"}
KUBERNETES_COMMANDS = (
    *("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"),
    *("kubelet", "kube-proxy", "kubectl"),
)
_RECIPE = "1"  # raised when programs are built in another way
_NOT_COMPILED = ("community", "docs", "examples", "sdks", "ui")


@dataclass(frozen=True)
class Binaries:
    """Where the programs are."""

    kubernetes: Path
    argo: Path
    coredns: Path
    pause: Path
    tools: Path
    crds: Path

    @property
    def helm(self) -> Path:
        return self.tools / "helm"

    def argo_crds(self, line: str, strictness: str = "full") -> Path:
        """Resource definitions of Argo 3.7 or 4.0; `full` ones know every field, `minimal` ones none."""
        return self.crds / f"argo-{line}" / strictness


def build_binaries() -> Binaries:
    """Everything compiled; minutes the first time. Raises DevclusterError without a fitting Go, or if a build fails."""
    return Binaries(
        kubernetes=_compiled("kubernetes", _build_kubernetes),
        argo=_compiled("argo", _build_argo, HERE / "crds" / "go.sum"),
        coredns=_compiled("coredns", lambda module, to: _go_build(module, to, ".")),
        pause=_compiled("pause", lambda module, to: _go_build(module, to, ".")),
        tools=_compiled("tools", lambda module, to: _go_build(module, to, "helm.sh/helm/v4/cmd/helm")),
        crds=made_once("crds", [HERE / "crds" / "go.mod", HERE / "crds" / "go.sum"], _copy_crds),
    )


def build_kwok() -> Path:
    """KWOK's controller, which simulates nodes; compiled for simulations only. Raises as `build_binaries` does."""
    return _compiled("kwok", lambda module, to: _go_build(module, to, "sigs.k8s.io/kwok/cmd/kwok")) / "kwok"


def _compiled(name: str, build: Callable[[Path, Path], None], *also: Path) -> Path:
    module = HERE / name
    sources = sorted(path for path in module.rglob("*") if path.suffix in {".go", ".mod", ".sum"})

    def make(folder: Path) -> None:
        _check_go(module / "go.mod")
        say(f"compiling {name}, which takes minutes the first time")
        build(module, folder)

    return made_once(name, [_RECIPE, os.uname().machine, *sources, *also], make)


def _check_go(mod: Path) -> None:
    wanted = re.findall(r"^go (\d+)\.(\d+)", mod.read_text(), flags=re.MULTILINE)[0]
    path = shutil.which("go")
    if path is None:
        raise DevclusterError(f"go is not on PATH. Install Go {'.'.join(wanted)} or newer (https://go.dev/dl).")
    said = subprocess.run([path, "env", "GOVERSION"], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"go(\d+)\.(\d+)", said)
    if not found or tuple(map(int, found[0])) < tuple(map(int, wanted)):
        raise DevclusterError(
            f"{path} is {said.strip()}, and {mod.parent.name} needs Go {'.'.join(wanted)} or newer (https://go.dev/dl)."
        )


def _build_kubernetes(module: Path, folder: Path) -> None:
    version = re.findall(r"k8s\.io/kubernetes (v(\d+)\.(\d+)\.\d+)", (module / "go.mod").read_text())[0]
    stamps = dict(zip(("gitVersion", "gitMajor", "gitMinor"), version, strict=True))
    flags = ["-s", "-w"]
    for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version"):
        flags += [f"-X {package}.{name}={value}" for name, value in stamps.items()]
    _go_build(module, folder / "hyperkube", ".", tags="notest,grpcnotrace", ldflags=" ".join(flags))
    for command in KUBERNETES_COMMANDS:
        (folder / command).symlink_to("hyperkube")


def _build_argo(module: Path, folder: Path) -> None:
    """From a copy of Argo's module, because a symbolic link that it needs is not in module archives."""
    work = folder / "build"
    work.mkdir()
    for name in ("go.mod", "go.sum"):
        shutil.copyfile(module / name, work / name)
    upstream = _module_folder(ARGO_LINES[ARGO_LINE])
    shutil.copytree(
        upstream,
        work / "src",
        copy_function=shutil.copyfile,
        ignore=lambda at, _: _NOT_COMPILED if Path(at) == upstream else (),
    )
    linked = work / "src" / "workflow" / "executor" / "osspecific"
    shutil.copyfile(linked / "signal_darwin.go", linked / "signal_linux.go")
    commands = [f"{ARGO_LINES[ARGO_LINE]}/cmd/{name}" for name in ("argoexec", "workflow-controller")]
    version = upstream.name.partition("@")[2]
    _go_build(work, folder, *commands, ldflags=f"-s -w -X {ARGO_LINES[ARGO_LINE]}.version={version}")
    shutil.rmtree(work)


def _copy_crds(folder: Path) -> None:
    for line, path in ARGO_LINES.items():
        say(f"taking the resource definitions of Argo {line} from its module")
        definitions = _module_folder(path) / "manifests" / "base" / "crds"
        for strictness in ("full", "minimal"):
            shutil.copytree(
                definitions / strictness, folder / f"argo-{line}" / strictness, copy_function=shutil.copyfile
            )


def _module_folder(path: str) -> Path:
    """Where the module cache has this module, in the version that crds/go.mod names and go.sum proves."""
    answer = _go(HERE / "crds", "mod", "download", "-json", path)
    return Path(json.loads(answer)["Dir"])


def _go_build(module: Path, to: Path, *packages: str, tags: str = "", ldflags: str = "-s -w") -> None:
    # A single package may be written to a file, several only into a folder, which the slash says.
    target = f"{to}/" if to.is_dir() else str(to)
    _go(module, "build", "-mod=readonly", "-trimpath", f"-tags={tags}", f"-ldflags={ldflags}", "-o", target, *packages)


def _go(where: Path, *arguments: str) -> str:
    # A compiler that collects its garbage less often needs a fifth less time, and no more memory where it needs most.
    environment = {"GOGC": "400", **os.environ, "CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOWORK": "off"}
    command = ["nice", "go", *arguments]
    done = subprocess.run(command, cwd=where, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise DevclusterError(f"{' '.join(command[1:3])} in {where} failed:\n{_tail(done.stderr)}")
    return done.stdout


def _tail(text: str, lines: int = 15) -> str:
    return "\n".join(text.splitlines()[-lines:])
