"""The target of a kit: this machine, or a foreign architecture, whose programs run here in an emulator.

A kit for a foreign architecture is linked by a cross compiler and tested in an emulator. It is measured only on a
machine of that architecture.
"""

import platform
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kexbench.domain.libraries import PACKAGES, Library
from kexbench.kits.errors import StepFailed


@dataclass(frozen=True)
class Architecture:
    """Debian's names of a processor architecture, and the path of its dynamic loader."""

    debian: str
    triplet: str
    loader: Path


_USUAL: tuple[Library, ...] = ("openssl", "gnutls")
ARCHITECTURES = {
    "x86_64": Architecture("amd64", "x86_64-linux-gnu", Path("/lib64/ld-linux-x86-64.so.2")),
    "aarch64": Architecture("arm64", "aarch64-linux-gnu", Path("/lib/ld-linux-aarch64.so.1")),
    "riscv64": Architecture("riscv64", "riscv64-linux-gnu", Path("/lib/ld-linux-riscv64-lp64d.so.1")),
    "ppc64le": Architecture("ppc64el", "powerpc64le-linux-gnu", Path("/lib64/ld64.so.2")),
    "s390x": Architecture("s390x", "s390x-linux-gnu", Path("/lib/ld64.so.1")),
}


@dataclass(frozen=True)
class Target:
    """The machine that a kit runs on, and the tools that build for it.

    `machine` is the kernel's name of the architecture. `starter` is the command prefix that starts its programs.
    `libraries` is the folder of its C library on this machine; None: the loader's default folders.
    """

    machine: str
    compiler: str = "cc"
    starter: tuple[str, ...] = ()
    libraries: Path | None = None

    @property
    def architecture(self) -> Architecture:
        return ARCHITECTURES[self.machine]

    @property
    def is_foreign(self) -> bool:
        return self.libraries is not None

    @property
    def loader(self) -> Path:
        """The dynamic loader of the C library."""
        loader = self.architecture.loader
        return self.libraries / loader.name if self.libraries else loader

    @property
    def cross_prefix(self) -> str:
        """The prefix of the names of its tools; empty for this machine."""
        return f"{self.architecture.triplet}-" if self.is_foreign else ""

    def command(self, arguments: Sequence[str]) -> list[str]:
        """The command that starts a program of the target on this machine."""
        return [*self.starter, *arguments]


def target_for(machine: str | None = None) -> Target:
    """The target of this name; None: this machine. Raises StepFailed if it is unknown or its tools are missing."""
    here = platform.machine()
    name = machine or here
    if name not in ARCHITECTURES:
        raise StepFailed("resolve", f"kits can't be made for {name} yet", f"supported are {', '.join(ARCHITECTURES)}")
    return Target(name) if name == here else _foreign(name)


def check_tools(target: Target) -> None:
    """Raises StepFailed if this machine lacks what compiles a worker. The remedy names the headers of the usual
    libraries too, so that one installation suffices."""
    missing = [tool for tool in (target.compiler, "make") if shutil.which(tool) is None]
    if missing:
        libraries = [PACKAGES[name] for name in _USUAL]
        raise StepFailed(
            "resolve",
            f"this machine can't compile: {' and '.join(missing)} can't be found",
            f"apt-get install gcc make libc6-dev {' '.join(each.debian for each in libraries)} "
            f"(elsewhere: gcc make glibc-devel {' '.join(each.fedora for each in libraries)})",
        )


def this_architecture() -> Architecture:
    """Raises StepFailed on a machine without support for kits."""
    return target_for().architecture


def _foreign(machine: str) -> Target:
    """A foreign target, with the paths of Debian's packages of cross tools."""
    architecture = ARCHITECTURES[machine]
    emulator = f"qemu-{machine}-static"
    target = Target(
        machine,
        compiler=f"{architecture.triplet}-gcc",
        starter=(emulator,),
        libraries=Path(f"/usr/{architecture.triplet}/lib"),
    )
    packages = {
        target.compiler: f"gcc-{architecture.triplet.replace('_', '-')}",
        str(target.loader): f"libc6-dev-{architecture.debian}-cross",
        emulator: "qemu-user-static",
    }
    missing = [tool for tool in packages if shutil.which(tool) is None and not Path(tool).is_file()]
    if missing:
        raise StepFailed(
            "resolve",
            f"this machine can't make kits for {machine}: {', '.join(missing)} is missing",
            f"apt-get install {' '.join(packages[tool] for tool in missing)}",
        )
    return target
