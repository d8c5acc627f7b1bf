"""Compiles Kubernetes, etcd, Argo, CoreDNS and Helm from their published Go modules, once for each go.sum.

No binary is downloaded. Go checks every module against the go.sum that is committed beside the go.mod. All programs but
KWOK are of one module, so a library that several of them use has one version and is downloaded and compiled once.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from devcluster.cache import HERE, made_once, say
from devcluster.errors import DevclusterError
from devcluster.plan import ARGO_LINE

ARGO_LINES = {"3.7": "github.com/argoproj/argo-workflows/v3", "4.0": "github.com/argoproj/argo-workflows/v4"}
KUBERNETES_COMMANDS = (
    *("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"),
    *("kubelet", "kube-proxy", "kubectl"),
)
_RECIPE = "2"  # raised when programs are built in another way
_ARGO = ARGO_LINES[ARGO_LINE]
_ARGO_UNUSED = ("community", "docs", "examples", "sdks", "ui")
_ARGO_ADDED = """package executor

func (g gjsonLabels) Lookup(label string) (string, bool) { return g.Get(label), g.Has(label) }
"""
"""What Kubernetes' libraries ask of labels since the release that Argo was written for."""
_OWN = ("./hyperkube", "./coredns", "./pause")
_PACKAGES = (*_OWN, f"{_ARGO}/cmd/argoexec", f"{_ARGO}/cmd/workflow-controller", "helm.sh/helm/v4/cmd/helm")


@dataclass(frozen=True)
class Binaries:
    """Where the programs are."""

    programs: Path
    crds: Path

    def argo_crds(self, line: str, strictness: str = "full") -> Path:
        """Resource definitions of Argo 3.7 or 4.0; `full` ones know every field, `minimal` ones none."""
        return self.crds / f"argo-{line}" / strictness


def build_binaries() -> Binaries:
    """Everything compiled; minutes the first time. Raises DevclusterError without a fitting Go, or if a build fails."""
    return Binaries(
        _compiled("programs", _build_programs),
        made_once("crds", [HERE / "crds" / "go.mod", HERE / "crds" / "go.sum"], _copy_crds),
    )


def build_kwok() -> Path:
    """KWOK's controller, which simulates nodes; compiled for simulations only. Raises as `build_binaries` does."""
    return _compiled("kwok", lambda module, to: _go_build(module, to, ("sigs.k8s.io/kwok/cmd/kwok",))) / "kwok"


def _compiled(name: str, build: Callable[[Path, Path], None]) -> Path:
    module = HERE / name
    sources = sorted(path for path in module.rglob("*") if path.suffix in {".go", ".mod", ".sum"})

    def make(folder: Path) -> None:
        _check_go(module / "go.mod")
        say(f"compiling {name}, which takes minutes the first time")
        build(module, folder)

    return made_once(name, [_RECIPE, os.uname().machine, *sources], make)


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


def _build_programs(module: Path, folder: Path) -> None:
    work = folder / "build"
    _lay_out(module, work)
    _go_build(work, folder, _PACKAGES, _stamps((module / "go.mod").read_text()))
    shutil.rmtree(work)
    for command in KUBERNETES_COMMANDS:
        (folder / command).symlink_to("hyperkube")


def _lay_out(module: Path, work: Path) -> None:
    """A copy of the module, with a copy of Argo's in it. Module archives drop a symbolic link that Argo needs, and Argo
    stays behind on Kubernetes' libraries: compiled with those of its own release, it takes as long as Kubernetes."""
    shutil.copytree(module, work)
    upstream, argo = _module_folder(_ARGO), work / "argo"
    shutil.copytree(
        upstream,
        argo,
        copy_function=shutil.copyfile,
        ignore=lambda at, _: _ARGO_UNUSED if Path(at) == upstream else (),
    )
    executor = argo / "workflow" / "executor"
    shutil.copyfile(executor / "osspecific" / "signal_darwin.go", executor / "osspecific" / "signal_linux.go")
    (executor / "labels_lookup.go").write_text(_ARGO_ADDED)


def _stamps(modules: str) -> dict[str, str]:
    """The variables that hold the releases of Kubernetes and Argo."""
    release, major, minor = re.findall(r"k8s\.io/kubernetes (v(\d+)\.(\d+)\.\d+)", modules)[0]
    stamps = {f"{_ARGO}.version": re.findall(rf"{_ARGO} (v\S+)", modules)[0]}
    for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version"):
        stamps |= {f"{package}.gitVersion": release, f"{package}.gitMajor": major, f"{package}.gitMinor": minor}
    return stamps


def _go_build(
    module: Path, folder: Path, packages: tuple[str, ...], stamps: Mapping[str, str] = MappingProxyType({})
) -> None:
    ldflags = ["-s", "-w", *(f"-X {name}={value}" for name, value in stamps.items())]
    # Without what only debuggers read, a fifth of the compiler's time is saved. Argo uses the methods of the last tag.
    flags = ["-mod=readonly", "-trimpath", "-gcflags=all=-dwarf=false", f"-ldflags={' '.join(ldflags)}"]
    flags += ["-tags=notest,grpcnotrace,kubernetes_protomessage_one_more_release"]
    _go(module, "build", *flags, "-o", f"{folder}/", *packages)


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
